package consumer

import (
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// leaderKilled kills the leader again and again while consumers of every
// kind are under load: no message is skipped, nothing acknowledged is lost, and
// all offsets are at the end.
func leaderKilled(t *testing.T, s *scene) {
	p := s.process(t, t.TempDir())
	all := make(map[fleet.Kind]*consumer)
	sent := make(map[fleet.Kind]*fleet.Record)
	for _, k := range s.kinds() {
		topic := s.topic("leader", k)
		all[k] = p.start(t, k, topic, topic, 0)
		sent[k] = s.sender.Produce("to-"+topic, topic, fleet.Load{Rate: 50, Bytes: 100})
	}
	for range effort.Of(2, 10) {
		progress(t, all)
		leader := s.cluster.Leader()
		s.cluster.Sh("kill", leader)
		progress(t, all)
		s.cluster.Sh("start", leader)
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
		s.awaitStored(t, c.topic, ends(sent[k]))
		for q, next := range c.persisted() {
			if at := s.stored(t, c.topic)[q]; at < next {
				t.Errorf("%s: queue %d is at %d, though %d was acknowledged", k, q, at, next)
			}
		}
	}
}

// progress waits until every consumer has got further messages.
func progress(t *testing.T, all map[fleet.Kind]*consumer) {
	t.Helper()
	for k, c := range all {
		had := c.consumed().Len()
		until(t, func() bool { return c.consumed().Len() >= had+50 }, func() string {
			return string(k) + " does not go on; it said: " + c.p.Said()
		})
	}
}
