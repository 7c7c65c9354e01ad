//go:build linux

package stability

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/disks"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestStalledSyncs: the syncs of all disks stall together, for one window of
// 200 ms every 2 s. Snapshots are taken meanwhile.
func TestStalledSyncs(t *testing.T) {
	for _, preset := range presets() {
		t.Run(preset, func(t *testing.T) {
			c := disks.Start(t, 3, timers(preset), local.Env("TIDEMARK_SNAPSHOT_LOG_BYTES", "8MiB"), local.Env("TIDEMARK_SNAPSHOT_TRAIL_BYTES", "8MiB"))
			bear(t, c.Cluster, preset, effort.Of(5*time.Second, 5*time.Minute), func() func() string {
				be(c, disk.Behaviour{StallFor: 200 * time.Millisecond, StallEvery: 2 * time.Second})
				return func() string {
					be(c, disk.Behaviour{})
					n := stalled(c)
					if n == 0 {
						t.Error("no sync has stalled")
					}
					return fmt.Sprintf("%d stalled syncs", n)
				}
			})
		})
	}
}

// be has all disks behave like b.
func be(c *disks.Cluster, b disk.Behaviour) {
	for _, d := range c.Disks {
		d.Be(b)
	}
}

// stalled counts the syncs that met a window. A leader's that does keeps the
// others' from it, which have nothing to sync before.
func stalled(c *disks.Cluster) (sum int) {
	for _, d := range c.Disks {
		sum += d.Met().Stalled
	}
	return sum
}
