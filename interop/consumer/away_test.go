package consumer

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/interop/fleet"
)

// clusterAway stops all three nodes while consumers are under load: they go
// on, and a consumer that joins meanwhile begins nothing that it cannot read.
// Once the nodes are back, nothing is lost and nothing was skipped.
func clusterAway(t *testing.T, s *scene) {
	p := s.process(t, t.TempDir())
	all := make(map[fleet.Kind]*consumer)
	sent := make(map[fleet.Kind]*fleet.Record)
	for _, k := range s.kinds() {
		topic := s.topic("away", k)
		sent[k] = s.sender.Produce("to-"+topic, topic, fleet.Load{Rate: 50, Bytes: 100})
		all[k] = p.start(t, k, topic, topic, 0)
	}
	progress(t, all)
	for _, n := range s.cluster.Names() {
		s.cluster.Sh("kill", n)
	}
	gone := time.Now()
	for i := 0; i == 0 || time.Since(gone) < effort.Of(5*time.Second, time.Minute); i++ {
		progress(t, all)
	}
	topic := s.topic("late", fleet.Push)
	s.send(t, topic, 0, 10)
	late := p.start(t, fleet.Push, topic, topic, 0)
	progress(t, all)
	if n := late.consumed().Len(); n != 0 {
		t.Errorf("%d messages of a group came whose offsets could not be read", n)
	}
	for _, n := range s.cluster.Names() {
		s.cluster.Sh("start", n)
	}
	late.await(0, 0, 10)
	for _, c := range all {
		s.sender.Stop("to-" + c.topic)
	}
	for k, c := range all {
		tally := fleet.Await(patience, sent[k], c.consumed())
		t.Logf("%-12s %v", k, tally)
		if tally.Skipped != 0 || tally.Again != 0 || tally.Sent == 0 {
			t.Errorf("%s: %v", k, tally)
		}
		s.awaitStored(t, c.topic, ends(sent[k]))
	}
}
