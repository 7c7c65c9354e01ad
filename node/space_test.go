package node_test

import (
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNeededSpace: a member tells what its disk may have to take until the next
// snapshot is written, and that is no less than it does take.
func TestNeededSpace(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Leader()
	m.Fill("g", 5000, 1<<40)
	var v offset.Vitals
	c.Until("the space is looked at", func() bool {
		v = m.Status().Vitals
		return v.DiskNeeded > 0
	})
	if limit := uint64(256 << 20); v.DiskNeeded < limit || v.DiskNeeded > limit+limit/2 {
		t.Errorf("%d bytes may be needed; the next snapshot is due after %d bytes of log", v.DiskNeeded, limit)
	}
	_, bytes, _, err := m.Node().Snapshot(t.Context(), incluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	if estimate := 40 * m.Status().Queues; bytes > estimate {
		t.Errorf("a snapshot of %d queues has %d bytes, and %d were to be expected", m.Status().Queues, bytes, estimate)
	}
	if low, free := metric(m, "disk_low"), metric(m, "disk_free_bytes"); low != 0 && free > metric(m, "disk_needed_bytes") || free <= store.DefaultMinFree {
		t.Errorf("low space is told as %v, with %v bytes free", low, free)
	}
}

// TestLowSpaceIsToldOnce: what goes up and down about the mark is low until an
// eighth more is free.
func TestLowSpaceIsToldOnce(t *testing.T) {
	const needed = 800
	low := false
	for _, step := range []struct {
		free uint64
		want bool
	}{{801, false}, {800, false}, {799, true}, {800, true}, {899, true}, {900, false}, {800, false}, {0, true}} {
		if low = node.IsLow(step.free, needed, low); low != step.want {
			t.Errorf("with %d of %d bytes free, low is %v", step.free, needed, low)
		}
	}
}
