package processes

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestFaultsOfProcesses goes through all that can befall the processes of one
// cluster, under load, and reckons at the end of each.
func TestFaultsOfProcesses(t *testing.T) {
	c := local.Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	for _, f := range []struct {
		name  string
		times int
		do    func(t *testing.T, c *local.Cluster, l *load.Load)
	}{
		{"kill -9 of the leader", effort.Of(2, 20), killLeader},
		{"the leader stands still with writes queued", effort.Of(1, 20), pauseLeader},
		{"a follower stands still", 1, pauseFollower},
		{"restart one by one", effort.Of(1, 10), restartEach},
		{"kill -9 of all at once", effort.Of(1, 10), killAll},
	} {
		for range f.times {
			l.LongestGap()
			began := time.Now()
			f.do(t, c, l)
			t.Logf("%s: %v, longest gap %v", f.name, time.Since(began).Round(time.Millisecond), l.LongestGap().Round(time.Millisecond))
			if t.Failed() {
				return
			}
		}
	}
	l.Check(c.Nodes())
}

func killLeader(_ *testing.T, c *local.Cluster, l *load.Load) {
	leader := c.Leader()
	c.Sh("kill", leader)
	l.More(5)
	c.Sh("start", leader)
	c.Sh("ready")
	l.More(2)
}

// pauseLeader stops the leader while a commit is under way to it alone. Until
// it goes on the others acknowledge newer ones; the old one, if it arrives at
// all, must lower nothing.
func pauseLeader(t *testing.T, c *local.Cluster, l *load.Load) {
	k := offset.Key{Group: "paused", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b"}}
	leader := c.Leader()
	old, other := c.Nodes(leader)[0], c.Nodes(c.Others(leader)[0])[0]
	states, meta, err := old.Fetch(ask.Within(t, ask.Patience), ask.Default, k)
	if err != nil {
		t.Fatal(err)
	}
	base := max(ask.Value(states[0]), 0)
	commit := func(n *ask.Node, value int64, d time.Duration) error {
		topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: value, Epoch: states[0].Epoch}})
		_, _, err := n.Commit(ask.Within(t, d), &offset.Commits{Cluster: meta.Cluster, Topics: topics})
		return err
	}
	c.Sh("pause", leader)
	queued := make(chan error, 1)
	go func() { queued <- commit(old, base+1, 10*time.Second) }() // awaited below
	l.More(5)
	ask.Until(t, "the others acknowledge", func() bool { return commit(other, base+2, 2*time.Second) == nil })
	c.Sh("resume", leader)
	for range 20 {
		states, _, err := old.Fetch(ask.Within(t, time.Second), ask.Default, k)
		if err == nil && ask.Value(states[0]) < base+2 {
			t.Errorf("the leader that stood still reads %d after %d was acknowledged", ask.Value(states[0]), base+2)
		}
	}
	t.Logf("the commit queued at the old leader: %v", <-queued)
	other.MustRead(t, ask.Default, k, base+2)
	l.More(2)
}

func pauseFollower(_ *testing.T, c *local.Cluster, l *load.Load) {
	follower := c.Others(c.Leader())[0]
	c.Sh("pause", follower)
	l.More(10)
	c.Sh("resume", follower)
	l.More(2)
}

func restartEach(_ *testing.T, c *local.Cluster, l *load.Load) {
	for _, n := range c.Names() {
		c.Sh("restart", n)
		c.Sh("ready")
		l.More(2)
	}
}

func killAll(_ *testing.T, c *local.Cluster, l *load.Load) {
	for _, n := range c.Names() {
		c.Sh("kill", n)
	}
	for _, n := range c.Names() {
		c.Sh("start", n)
	}
	c.Sh("ready")
	l.More(2)
}
