package links

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
)

// shortLog makes members cut their logs at every snapshot.
func shortLog(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 }

// TestRestartsAndSnapshots ends each member, cleanly and not, while the others
// take snapshots and cut their logs, so that a member that comes back has to
// install one; and in the end all at once.
func TestRestartsAndSnapshots(t *testing.T) {
	c := served.Start(t, 3, shortLog)
	l := load.Start(t, c.Dial, load.Shape{})
	ends := []func(*incluster.Member){(*incluster.Member).Kill, func(m *incluster.Member) { m.Stop() }}
	for i := range effort.Of(4, 40) {
		m := c.Members[i%3]
		l.More(5)
		ends[i%2](m)
		l.More(10)
		var cut uint64
		for _, other := range c.Followers(m) {
			index, _, _, err := other.Node().Snapshot(ask.Within(t, ask.Patience), incluster.Operator)
			if err != nil {
				t.Fatalf("snapshot on %s: %v", other.Name, err)
			}
			cut = max(cut, index)
		}
		l.More(5)
		m.Start()
		c.WaitReady(m)
		if at := m.Status().SnapshotIndex; at < cut-20 {
			t.Logf("%s has a snapshot at %d, the others had cut their logs at %d", m.Name, at, cut)
		}
	}
	for _, m := range c.Members {
		m.Kill()
	}
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	l.More(5)
	reckon(c, l)
}

// TestMemberFarBehindInstallsASnapshot: what it missed is in no log any more.
func TestMemberFarBehindInstallsASnapshot(t *testing.T) {
	c := served.Start(t, 3, shortLog)
	l := load.Start(t, c.Dial, load.Shape{})
	leader := c.Leader()
	away := c.Followers(leader)[0]
	rest := []*incluster.Member{leader, c.Followers(leader)[1]}
	isolate(c.Net, away.Name, rest[0].Name, rest[1].Name)
	before := away.Status().CommitIndex
	l.More(40)
	index := ^uint64(0)
	for _, m := range rest { // whoever leads when the links are whole again
		at, _, _, err := m.Node().Snapshot(ask.Within(t, ask.Patience), incluster.Operator)
		if err != nil {
			t.Fatal(err)
		}
		index = min(index, at)
	}
	if index <= before {
		t.Fatalf("the snapshots are at %d, and the member that is away has %d", index, before)
	}
	l.More(5)
	c.Net.HealAll()
	ask.Until(t, away.Name+" has installed the snapshot", func() bool { return away.Status().SnapshotIndex >= index })
	reckon(c, l)
}

// TestFoundingWithCrashes founds a cluster while its members crash and links
// break, and consumers wait for it. Whatever happens on the way, there is one
// cluster in the end, and no consumer was told anything else.
func TestFoundingWithCrashes(t *testing.T) {
	for range effort.Of(2, 30) {
		seed := seed(t)
		r := rand.New(rand.NewPCG(seed, 0))
		c := served.New(t, 3)
		for _, i := range r.Perm(3) {
			c.Members[i].Start()
			if r.IntN(2) == 0 {
				time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond) // a pause of its own, for another order of things
			}
		}
		l := load.Start(t, c.Dial, load.Shape{Consumers: 3, Seed: seed})
		for range 2 + r.IntN(4) {
			time.Sleep(time.Duration(r.IntN(40)) * time.Millisecond) // as above
			m := c.Members[r.IntN(3)]
			m.Kill()
			if r.IntN(3) == 0 {
				c.Net.Cut(m.Name, c.Members[r.IntN(3)].Name)
			}
			m.Start()
		}
		c.Net.HealAll()
		c.WaitReady(c.Members...)
		l.More(3)
		id := c.Members[0].Status().Meta.Cluster
		for _, m := range c.Members {
			if got := m.Status(); got.Meta.Cluster != id || len(got.Members) != 3 {
				t.Errorf("%s is in cluster %s with %d members, and %s in %s", m.Name, got.Meta.Cluster, len(got.Members), c.Members[0].Name, id)
			}
		}
		reckon(c, l)
	}
}

// TestWipedMemberUnderLoad: a member that lost its disk is told the way in,
// and takes it, while consumers go on.
func TestWipedMemberUnderLoad(t *testing.T) {
	c := served.Start(t, 3)
	l := load.Start(t, c.Dial, load.Shape{})
	l.More(5)
	leader := c.Leader()
	wiped := c.Followers(leader)[0]
	old := wiped.ID()
	wiped.Kill()
	wiped.Wipe()
	wiped.Start()
	err := wiped.Wait()
	if err == nil || node.ExitCode(err) == 0 || !strings.Contains(err.Error(), "cluster remove") || !strings.Contains(err.Error(), "cluster add") {
		t.Fatalf("the wiped member's Run returned %v, want the two commands that bring it in", err)
	}
	wiped.Stop() // its edge
	l.More(5)

	cl := c.Client()
	ctx := ask.Within(t, ask.Patience)
	if _, err := cl.RemoveMember(ctx, old); err != nil {
		t.Fatalf("removing %s: %v", old, err)
	}
	wiped.Config.InitialCluster = nil
	wiped.Start()
	ask.Until(t, "the wiped member has an id", func() bool { return wiped.ID() != "" })
	if wiped.ID() == old {
		t.Fatal("the wiped member has its old id")
	}
	if _, err := cl.AddMember(ctx, wiped.ID(), wiped.Config.AdvertisePeer); err != nil {
		t.Fatalf("adding %s: %v", wiped.ID(), err)
	}
	c.WaitReady(wiped)
	ask.Until(t, "the new member is a voter", func() bool {
		_, err := cl.PromoteMember(ask.Within(t, 5*time.Second), wiped.ID())
		return err == nil
	})
	l.More(10)
	reckon(c, l)
}

// TestFaultsAtRandom draws faults of links and members, one after the other
// and several at once. TIDEMARK_SEED repeats a run, as far as faults go.
func TestFaultsAtRandom(t *testing.T) {
	seed := seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	c := served.Start(t, 3, shortLog)
	l := load.Start(t, c.Dial, load.Shape{Seed: seed})
	for end := time.Now().Add(effort.Of(6*time.Second, 10*time.Minute)); time.Now().Before(end) && !t.Failed(); {
		for range 1 + r.IntN(2) {
			disturb(c, r)
		}
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond) // how long the fault lasts
		c.Net.HealAll()
		for _, m := range c.Members {
			if !m.Running() {
				m.Start()
			}
		}
		l.More(3)
	}
	reckon(c, l)
}

// disturb does one thing to a cluster.
func disturb(c *served.Cluster, r *rand.Rand) {
	m := c.Members[r.IntN(3)]
	a, b := c.Members[(r.IntN(3))], c.Members[r.IntN(3)]
	switch r.IntN(8) {
	case 0:
		faults[r.IntN(len(faults))].do(c.Net, c.Members[0].Name, c.Members[1].Name, c.Members[2].Name)
	case 1:
		c.Net.Cut(a.Name, b.Name)
	case 2:
		slow(c.Net, time.Duration(r.IntN(60))*time.Millisecond, a.Name, b.Name)
	case 3:
		c.Net.Reset(a.Name, b.Name)
	case 4:
		if m.Running() {
			m.Kill()
		}
	case 5:
		if m.Running() {
			m.Stop()
		}
	case 6:
		if m.Running() {
			_, _, _, _ = m.Node().Snapshot(ask.Within(c.TB, time.Second), incluster.Operator) // it may have ended meanwhile
		}
	case 7:
		if m.Running() {
			_, _, _ = m.Node().Transfer(ask.Within(c.TB, time.Second), incluster.Operator, "") // refused under some faults
		}
	}
}

// seed draws a seed, or takes that of TIDEMARK_SEED, and logs it.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if v := os.Getenv("TIDEMARK_SEED"); v != "" {
		n, err := strconv.ParseUint(v, 10, 64)
		if err != nil {
			t.Fatalf("TIDEMARK_SEED: %v", err)
		}
		s = n
	}
	t.Logf("seed %d", s)
	return s
}
