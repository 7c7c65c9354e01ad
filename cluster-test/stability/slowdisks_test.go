//go:build linux

package stability

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/disks"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// TestSlowDisks shows what the presets make of disks whose every sync takes so
// long: what is acknowledged, and how soon again after a kill of the leader,
// for which a vote has to be synced too.
func TestSlowDisks(t *testing.T) {
	syncs := effort.Of([]time.Duration{20}, []time.Duration{5, 20, 50, 100, 200})
	for _, preset := range presets() {
		for _, ms := range syncs {
			sync := ms * time.Millisecond
			t.Run(fmt.Sprintf("%s/%v", preset, sync), func(t *testing.T) {
				c := disks.Start(t, 3, timers(preset))
				bear(t, c.Cluster, preset, effort.Of(2*time.Second, 20*time.Second), func() func() string {
					be(c, disk.Behaviour{SyncMin: sync, SyncMax: sync})
					return func() string { return fmt.Sprintf("syncs of %v", sync) }
				})
				l := load.Start(t, c.Client, load.Shape{Consumers: 4})
				var gaps []time.Duration
				for range effort.Of(1, 5) {
					gaps = append(gaps, killOnSlowDisks(c, l).Round(10*time.Millisecond))
				}
				t.Logf("kills of the leader; without any acknowledgement for %v", gaps)
				be(c, disk.Behaviour{})
				l.Check(c.Nodes())
			})
		}
	}
}

// killOnSlowDisks kills the leader and starts it again, and returns the longest
// time without any acknowledgement until every queue has had one.
func killOnSlowDisks(c *disks.Cluster, l *load.Load) time.Duration {
	c.TB.Helper()
	l.More(1)
	leader := c.Leader()
	l.LongestGap()
	c.Sh("kill", leader)
	l.More(1)
	gap := l.LongestGap()
	c.Sh("start", leader)
	c.Sh("ready")
	return gap
}
