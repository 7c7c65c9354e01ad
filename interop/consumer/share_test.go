package consumer

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// twoShare has a second consumer of each group join and leave, again and
// again, under load: the queues go to and fro, and nothing is skipped.
func twoShare(t *testing.T, s *scene) {
	dir := t.TempDir()
	p, other := s.process(t, dir), s.process(t, dir)
	for _, k := range s.kinds() {
		if k == fleet.LiteAssign {
			continue // it shares with nobody
		}
		t.Run(string(k), func(t *testing.T) {
			t.Parallel()
			topic := s.topic("share", k)
			sent := s.sender.Produce("to-"+topic, topic, fleet.Load{Rate: 50, Bytes: 100})
			first := p.start(t, k, topic, topic+"-1", 0)
			records := []*fleet.Record{first.consumed()}
			for range effort.Of(2, 10) {
				second := other.start(t, k, topic, topic+"-2", 0)
				records = append(records[:1], second.consumed())
				for _, c := range []*consumer{first, second} {
					had := c.consumed().Len()
					until(t, func() bool { return c.consumed().Len() >= had+20 }, c.p.Said)
				}
				second.stop()
				had := first.consumed().Len()
				until(t, func() bool { return len(first.queuesSince(had)) == queues }, p.Said)
			}
			s.sender.Stop("to-" + topic)
			tally := fleet.Await(patience, sent, records...)
			t.Logf("%-12s %v", k, tally)
			if tally.Skipped != 0 || tally.Sent == 0 {
				t.Errorf("%s: %v", k, tally)
			}
			s.awaitStored(t, topic, ends(sent))
		})
	}
}

// queuesSince are the queues that messages came from after the first had lines.
func (c *consumer) queuesSince(had int) map[int]bool {
	all := make(map[int]bool)
	for _, m := range c.consumed().All()[had:] {
		all[queueOf(m)] = true
	}
	return all
}
