package node_test

import (
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// The largest entry stays known after smaller ones, and taking a snapshot is
// measured apart from writing it.
func TestLargestEntryAndSnapshotAreMeasured(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Leader()
	m.Fill("g", 5000, 1<<40)
	bytes, entries := metric(m, "proposed_bytes_total"), metric(m, "proposed_entries_total")
	largest := metric(m, "proposed_largest_bytes")
	if largest < bytes/entries || largest < 1000 || largest > bytes {
		t.Errorf("the largest of %v entries with %v bytes has %v", entries, bytes, largest)
	}
	m.MustCommit(incluster.Key("g", 1), 1<<41)
	if got := metric(m, "proposed_largest_bytes"); got != largest {
		t.Errorf("after a small entry the largest has %v bytes instead of %v", got, largest)
	}
	if got := metric(m, "snapshot_take_longest_seconds"); got != 0 {
		t.Errorf("before any snapshot, taking one took %v s", got)
	}
	tail := metric(m, "log_tail_bytes")
	if tail < bytes || tail > metric(m, "log_bytes") {
		t.Errorf("%v bytes of log are behind no snapshot, and %v were proposed", tail, bytes)
	}
	if _, _, _, err := m.Node().Snapshot(t.Context(), incluster.Operator); err != nil {
		t.Fatal(err)
	}
	if got := metric(m, "log_tail_bytes"); got > tail/10 { // the member may have announced itself meanwhile
		t.Errorf("%v bytes of log are behind a snapshot of all, and %v were before", got, tail)
	}
	if got := metric(m, "snapshot_take_longest_seconds"); got <= 0 || got > 0.5 {
		t.Errorf("taking a snapshot took %v s", got)
	}
}
