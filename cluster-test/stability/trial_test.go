package stability

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// presets are the timers that a trial is made with: those by default, and in
// whole runs also the others, for which nothing but figures is wanted.
func presets() []string { return effort.Of([]string{"lan"}, []string{"lan", "slow-disk"}) }

// timers is the option that gives the nodes a preset.
func timers(preset string) local.Option { return local.Env("TIDEMARK_TIMERS", preset) }

// bear has consumers commit for d while a disturbance goes on: disturb begins
// it, and what that returns ends it and tells what it came to. No call of it
// waits for the cluster.
func bear(t *testing.T, c *local.Cluster, preset string, d time.Duration, disturb func() (end func() string)) {
	t.Helper()
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	before := settled(t, c)
	end := disturb()
	l.LongestGap()
	acknowledged, began := l.Acknowledged(), time.Now()
	for time.Since(began) < d {
		l.More(1)
	}
	took := time.Since(began)
	acknowledged, gap := l.Acknowledged()-acknowledged, l.LongestGap()
	met := end()
	after := settled(t, c)
	t.Logf("%s, %v of %s: terms %d to %d; %.0f offsets acknowledged a second, longest gap %v; log writes: %s", preset,
		took.Round(time.Second), met, before, after, float64(acknowledged)/took.Seconds(), gap.Round(time.Millisecond), writes(t, c))
	if after != before && preset == "lan" && effort.Soak() {
		t.Errorf("%d elections, and none is promised on a machine that has nothing else to do", after-before)
	}
	l.Check(c.Nodes())
}

// settled waits until all nodes serve in one term under one leader, and returns
// that term.
func settled(t *testing.T, c *local.Cluster) (term uint64) {
	t.Helper()
	ask.Until(t, "all nodes serve in one term, under one leader", func() bool {
		leaders := 0
		for i, n := range c.Nodes() {
			s, err := n.Status(ask.Within(t, 2*time.Second))
			if i == 0 {
				term = s.Term
			}
			if err != nil || s.NotReady != "" || s.Term != term {
				return false
			}
			if s.State == "leader" {
				leaders++
			}
		}
		return leaders == 1
	})
	return term
}

// writes tells how long the writes of log, term and vote have taken since the
// nodes' start, on average and at worst, on the node where that is most.
func writes(t *testing.T, c *local.Cluster) string {
	t.Helper()
	var mean, longest time.Duration
	for _, n := range c.Nodes() {
		s, err := n.Status(ask.Within(t, ask.Patience))
		if err != nil {
			t.Fatal(err)
		}
		v := s.Vitals
		mean, longest = max(mean, v.DiskTime/time.Duration(max(v.DiskWrites, 1))), max(longest, v.DiskLongest)
	}
	return fmt.Sprintf("%v on average, %v at worst", mean.Round(10*time.Microsecond), longest.Round(time.Millisecond))
}
