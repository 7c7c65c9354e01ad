package upgrades

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// orders are all ways to go through three nodes.
var orders = [][]string{
	{"n1", "n2", "n3"}, {"n1", "n3", "n2"}, {"n2", "n1", "n3"},
	{"n2", "n3", "n1"}, {"n3", "n1", "n2"}, {"n3", "n2", "n1"},
}

// TestRollingUpgrade goes up, back and up again, in every order (one of them,
// drawn, where SOAK is not set), and raises the level at last: refused as long
// as a member can't read it; then used, and no way back.
func TestRollingUpgrade(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	draw := rand.New(rand.NewPCG(seed, 0))
	ways := make([][3][]string, 0, len(orders))
	for _, up := range orders {
		ways = append(ways, [3][]string{up, orders[draw.IntN(len(orders))], orders[draw.IntN(len(orders))]})
	}
	draw.Shuffle(len(ways), func(i, j int) { ways[i], ways[j] = ways[j], ways[i] })
	for _, way := range ways[:effort.Of(1, len(ways))] {
		t.Run(fmt.Sprint(way), func(t *testing.T) {
			r := begin(t)
			r.roll(way[0], r.next)
			r.roll(way[1], r.present)
			r.refused("n1", "n2", "n3")
			for i, n := range way[2] {
				r.refused(way[2][i:]...)
				r.roll([]string{n}, r.next)
			}
			r.raised()
			r.load.Check(r.Nodes())
			for _, n := range way[0] {
				r.noWayBack(n)
			}
		})
	}
}

// roller is a cluster under load, and the two builds of its daemon.
type roller struct {
	*local.Cluster
	t             *testing.T
	load          *load.Load
	present, next string // folders of programs
}

func begin(t *testing.T) *roller {
	next := local.Binaries(t, "nextformat")
	c := local.Start(t, 3)
	r := &roller{Cluster: c, t: t, present: c.Bin, next: next}
	r.load = load.Start(t, c.Client, load.Shape{})
	r.load.More(2)
	return r
}

// roll starts nodes anew, one after another, each once the one before is ready.
func (r *roller) roll(order []string, programs string) {
	r.t.Helper()
	for _, n := range order {
		r.Sh("stop", n)
		r.Bin = programs
		r.Sh("start", n)
		r.Sh("ready")
		r.load.More(2)
	}
}

// refused tries to raise the level while these members can't read it.
func (r *roller) refused(members ...string) {
	r.t.Helper()
	got := r.Tidemark("cluster", "raise-level", "2", "--execute")
	if got.Code != 4 || !strings.Contains(got.Err, "reads levels up to 1") {
		r.t.Errorf("raising the level while %v are of level 1 ended with %d: %s", members, got.Code, got.Err)
	}
	r.load.More(1)
}

// raised raises the level, and has the members compare states of it, through a
// snapshot and a restart as well.
func (r *roller) raised() {
	r.t.Helper()
	raise(r.t, r.Cluster)
	r.load.More(2)
	leader := r.Leader()
	for _, n := range r.Names() {
		r.TidemarkAt(r.t.Context(), r.API(n), "cluster", "snapshot").Want(r.t, 0, "", "")
	}
	r.Sh("kill", leader)
	r.load.More(2)
	r.Sh("start", leader)
	r.Sh("ready")
	r.load.More(2)
}

// raise raises the level, once all members have announced what they read.
func raise(t *testing.T, c *local.Cluster) {
	t.Helper()
	var got local.Result
	ask.Until(t, "all members have announced that they read level 2", func() bool {
		got = c.Tidemark("cluster", "raise-level", "2", "--execute")
		return got.Code != 4
	})
	got.Want(t, 0, "", "")
}

// noWayBack starts a node with the build of before, which says why it will not,
// and leaves the folder as it was.
func (r *roller) noWayBack(n string) {
	r.t.Helper()
	r.Sh("stop", n)
	r.Bin = r.present
	r.Try(n)
	ask.Until(r.t, n+" says that it is too old for the state", func() bool {
		return strings.Contains(r.Log(n), "is of level 2; this build reads up to 1, run a newer one; nothing was changed")
	})
	r.Bin = r.next
	r.Sh("restart", n)
	r.Sh("ready")
}
