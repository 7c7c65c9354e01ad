//go:build linux

package disks

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestPowerCuts: what was acknowledged survives a power cut of one node, and of
// all at once, in which what was not synced is lost wholly or in parts.
func TestPowerCuts(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{Seed: seed})
	l.More(5)
	for i := range effort.Of(2, 20) {
		reached := r
		if i%2 == 0 {
			reached = nil
		}
		one := c.Names()[r.IntN(3)]
		c.Off(one)
		l.More(2)
		c.On(reached, one)
		c.Serves()
		l.More(2)
		c.Off(c.Names()...)
		c.On(reached, c.Names()...)
		c.Serves()
		l.More(2)
	}
	l.Check(c.Nodes())
}

// TestAPowerCutTellsWhoDoesNotSync: without syncs an acknowledged commit is gone
// after it, or the nodes don't start; so the test above finds that.
func TestAPowerCutTellsWhoDoesNotSync(t *testing.T) {
	c := Start(t, 3, local.Planted(planted.NoSync))
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	n := c.Nodes(c.Leader())[0]
	states, meta, err := n.Fetch(ask.Within(t, ask.Patience), ask.Default, k)
	if err != nil {
		t.Fatal(err)
	}
	topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: 7, Epoch: states[0].Epoch}})
	if _, _, err := n.Commit(ask.Within(t, ask.Patience), &offset.Commits{Cluster: meta.Cluster, Topics: topics}); err != nil {
		t.Fatal(err)
	}
	c.Off(c.Names()...)
	c.On(nil, c.Names()...)
	ask.Until(t, "the commit is missing, or the nodes have ended", func() bool {
		ended := 0
		for _, n := range c.Nodes() {
			states, _, err := n.Fetch(ask.Within(t, time.Second), ask.Default, k)
			if err == nil {
				if got := ask.Value(states[0]); got == 7 {
					t.Fatal("what was never synced is there after a power cut")
				}
				return true
			}
			if code, ok := c.code(n.Name); ok && code == 71 {
				ended++
			}
		}
		return ended >= 2
	})
}
