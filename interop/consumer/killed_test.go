package consumer

import (
	"maps"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// consumerKilled kills consumers of every kind as kill -9 does, under load,
// and starts them again: nothing is skipped, and nothing comes again that was
// persisted, which is all but what the last persist interval brought.
func consumerKilled(t *testing.T, s *scene) {
	dir := t.TempDir()
	sent := make(map[fleet.Kind]*fleet.Record)
	for _, k := range s.kinds() {
		topic := s.topic("killed", k)
		sent[k] = s.sender.Produce("to-"+topic, topic, fleet.Load{Rate: 50, Bytes: 100})
	}
	all := make(map[fleet.Kind]*consumer)
	for i := range effort.Of(2, 10) {
		p := s.process(t, dir)
		before := make(map[fleet.Kind]mark)
		for _, k := range s.kinds() {
			if c := all[k]; c != nil {
				before[k] = mark{c.persisted(), c.consumed().Len()}
			}
			topic := s.topic("killed", k)
			all[k] = p.start(t, k, topic, topic, 0)
		}
		progress(t, all)
		for k, m := range before {
			m.check(t, all[k])
		}
		if i < effort.Of(1, 9) {
			p.Kill()
		}
	}
	for _, c := range all {
		s.sender.Stop("to-" + c.topic)
	}
	for k, c := range all {
		tally := fleet.Await(patience, sent[k], c.consumed())
		t.Logf("%-12s %v", k, tally)
		if tally.Skipped != 0 || tally.Sent == 0 {
			t.Errorf("%s: %v", k, tally)
		}
	}
}

// mark is how far a consumer was when it was killed.
type mark struct {
	persisted map[int]int64
	lines     int
}

// check looks at what came after the restart: nothing below what was persisted.
func (m mark) check(t *testing.T, c *consumer) {
	t.Helper()
	again := 0
	highest := make(map[int]int64)
	for i, msg := range c.consumed().All() {
		q := queueOf(msg)
		if i < m.lines {
			highest[q] = max(highest[q], msg.Offset)
			continue
		}
		if msg.Offset < m.persisted[q] {
			t.Errorf("%s: %d of queue %d came again, though %d was persisted", c.name, msg.Offset, q, m.persisted[q])
		}
		if msg.Offset <= highest[q] {
			again++
		}
	}
	t.Logf("%-14s killed at %v, persisted %v; %d came again", c.name, highest, m.persisted, again)
}

// shutDown stops consumers as an application does: what they consumed is
// persisted, at once.
func shutDown(t *testing.T, s *scene) {
	p := s.process(t, t.TempDir())
	for _, k := range []fleet.Kind{fleet.Push, fleet.Orderly} { // a lite pull consumer commits what the poll before gave
		topic := s.topic("shutdown", k)
		s.send(t, topic, 0, 25)
		c := p.start(t, k, topic, topic, 0)
		until(t, func() bool { return c.consumed().Len() >= 25*queues }, c.p.Said)
		until(t, func() bool { return len(s.stored(t, c.topic)) == queues }, c.p.Said)
		s.send(t, topic, 25, 30)
		until(t, func() bool { return c.consumed().Len() >= 30*queues }, c.p.Said)
		c.stop()
		if got := s.stored(t, c.topic); !maps.Equal(got, each(30)) {
			t.Errorf("%s: after the shutdown the cluster has %v, want 30 of each queue", k, got)
		}
	}
}
