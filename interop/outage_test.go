package interop

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// TestClusterAway kills the leader again and again, then stops all nodes, and
// has the broker start again meanwhile, while messages are produced and
// consumed: no consumer stops, nothing that was acknowledged is lost, and soon
// after their return the broker's table and the cluster are equal.
func TestClusterAway(t *testing.T) {
	apart(t)
	const queues = 64
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	b := s.Broker(map[string]string{
		"tidemarkWithoutCluster": "start",
		"tidemarkLostLog":        "keep", // no messages stand behind what the committers commit
	})
	b.CreateTopic("load", 4)
	b.CreateTopic("commits", queues)
	for _, g := range []string{"before", "meanwhile"} {
		b.CreateGroup(g)
	}
	groups := muster(s, b, "load", []squad{{fleet.Java5, effort.Of(
		[]fleet.Kind{fleet.Push, fleet.POP},
		[]fleet.Kind{fleet.Push, fleet.Orderly, fleet.POP, fleet.Lite, fleet.Pull})}})
	sender := fleet.Start(t, fleet.Java5, s.Names.Addr)
	sent := sender.Produce("producer", "load", fleet.Load{Rate: 200, Bytes: 100})
	raw := commit(t, b, "before", "commits", queues, 4)
	goOn(t, groups, "at the start")
	for i := range effort.Of(2, 5) {
		leader := s.Cluster.Leader()
		s.Cluster.Sh("kill", leader)
		s.Cluster.Leader()
		goOn(t, groups, fmt.Sprintf("after kill %d of the leader", i+1))
		s.Cluster.Sh("start", leader)
	}

	for _, n := range s.Cluster.Names() {
		s.Cluster.Sh("stop", n)
	}
	away := time.Now()
	goOn(t, groups, "without the cluster")
	raw.halt()
	b.Stop()
	b.Start()
	goOn(t, groups, "after a clean restart of the broker without the cluster")
	late := commit(t, b, "meanwhile", "commits", queues, 4)
	for time.Since(away) < effort.Of(5*time.Second, time.Minute) {
		goOn(t, groups, "without the cluster for "+time.Since(away).Round(time.Second).String())
		time.Sleep(time.Second) // the length of the outage is what is wanted
	}
	if n := late.total(); n != 0 {
		t.Errorf("%d commits were acknowledged without the cluster", n)
	}
	sender.Stop("producer")
	for _, g := range groups {
		tally := fleet.Await(javaparts.Patience, sent, g.record)
		t.Logf("%-12s %v", g.name, tally)
		if tally.Skipped > 0 || tally.Sent == 0 {
			t.Errorf("%s: %v", g.name, tally)
		}
		g.fleet.Stop(g.name)
	}

	s.Cluster.Sh("up", "3")
	ask.Until(t, "commits are acknowledged again", func() bool { return late.total() > 0 })
	late.halt()
	s.Diff(b, effort.Of("30s", "5s")).Want(t, 0, "", "")
	for _, c := range []*committer{raw, late} {
		behind, lost := c.lost(t, b)
		t.Logf("%s: %v; %d queues behind, %d lost", c.group, c, behind, lost)
		if behind > 0 || c.total() == 0 {
			t.Errorf("%s: %d queues are behind what was acknowledged, by %d commits", c.group, behind, lost)
		}
	}
}

// goOn waits until each group has consumed something new.
func goOn(t *testing.T, groups []group, when string) {
	t.Helper()
	for _, g := range groups {
		n := g.record.Len()
		ask.Until(t, "group "+g.name+" goes on "+when, func() bool { return g.record.Len() > n })
	}
}
