//go:build linux

package disks

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestSlowDisks: commits go on while a follower's syncs take 50 to 300 ms, while
// the leader's do, and while those of all disks stall together; nobody ends. The
// timers are those for such disks: a vote needs a sync on two of them, for which
// 300 ms are too short.
func TestSlowDisks(t *testing.T) {
	c := Start(t, 3, local.Env("TIDEMARK_TIMERS", "slow-disk"))
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	slow := disk.Behaviour{SyncMin: 50 * time.Millisecond, SyncMax: 300 * time.Millisecond}
	stalls := disk.Behaviour{StallFor: 200 * time.Millisecond, StallEvery: 2 * time.Second}
	for _, f := range []struct {
		name  string
		b     disk.Behaviour
		nodes func() []string
	}{
		{"a follower's disk is slow", slow, func() []string { return c.Others(c.Leader())[:1] }},
		{"the leader's disk is slow", slow, func() []string { return []string{c.Leader()} }},
		{"all disks are slow", slow, c.Names},
		{"the syncs of all disks stall", stalls, c.Names},
	} {
		l.LongestGap()
		before, acknowledged := c.met(), l.Acknowledged()
		for _, n := range f.nodes() {
			c.Disks[n].Be(f.b)
		}
		slowed := func() bool { now := c.met(); return now.Slow+now.Stalled > before.Slow+before.Stalled }
		end := time.Now().Add(effort.Of(1500*time.Millisecond, time.Minute))
		latest := end.Add(2 * stalls.StallEvery) // a short run may lie between two stalls
		for time.Now().Before(end) || !slowed() && time.Now().Before(latest) {
			l.More(1)
		}
		if !slowed() {
			t.Errorf("%s: no sync took longer", f.name)
		}
		if gap := l.LongestGap(); gap > resume {
			t.Errorf("%s: nothing was acknowledged for %v", f.name, gap)
		} else {
			t.Logf("%s: %d offsets acknowledged, longest gap %v", f.name, l.Acknowledged()-acknowledged, gap.Round(time.Millisecond))
		}
		for _, n := range c.Names() {
			c.Disks[n].Be(disk.Behaviour{})
			if code, ended := c.code(n); ended {
				t.Fatalf("%s: %s ended with %d", f.name, n, code)
			}
		}
	}
	l.Check(c.Nodes())
}

// met adds up what all disks' callers have met.
func (c *Cluster) met() (sum disk.Met) {
	for _, d := range c.Disks {
		m := d.Met()
		sum.Slow += m.Slow
		sum.Stalled += m.Stalled
	}
	return sum
}

// TestALongPauseKillsNobody: a leader that stands still for longer than a write
// may hang loses the lead, and is the process that it was when it goes on.
func TestALongPauseKillsNobody(t *testing.T) {
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	leader := c.Leader()
	c.Sh("pause", leader)
	began := time.Now()
	for still := effort.Of(12*time.Second, time.Minute); time.Since(began) < still; {
		l.More(1)
	}
	gap := l.LongestGap()
	c.Sh("resume", leader)
	c.Serves()
	l.More(3)
	if gap > resume {
		t.Errorf("nothing was acknowledged for %v", gap)
	}
	for _, n := range c.Names() {
		if code, ended := c.code(n); ended {
			t.Errorf("%s ended with %d", n, code)
		}
	}
	t.Logf("%s stood still for %v, longest gap %v", leader, time.Since(began).Round(time.Second), gap.Round(time.Millisecond))
	l.Check(c.Nodes())
	ask.Same(t, c.Nodes())
}
