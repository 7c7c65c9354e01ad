package verify

import (
	"testing"

	"github.com/hashicorp/raft"
)

// TestBuriedEntriesAreNotCompared: what a member was sent a snapshot over may never
// have been committed.
func TestBuriedEntriesAreNotCompared(t *testing.T) {
	for _, c := range []struct {
		name   string
		log    []uint64
		newest uint64
		first  uint64 // 0: nothing is shown
		n      int
	}{
		{"nothing", nil, 7, 0, 0},
		{"no snapshot", []uint64{1, 2, 3}, 0, 1, 3},
		{"a snapshot of what the log has", []uint64{1, 2, 3}, 3, 1, 3},
		{"a snapshot beyond the log", []uint64{1, 2, 3}, 4, 0, 0},
		{"a gap", []uint64{1, 2, 7, 8}, 6, 7, 2},
		{"two gaps", []uint64{1, 4, 7}, 6, 7, 1},
		{"a gap, and another snapshot", []uint64{1, 7}, 9, 0, 0},
	} {
		var list []raft.Log
		for _, i := range c.log {
			list = append(list, raft.Log{Index: i})
		}
		got := unburied(list, c.newest)
		if len(got) != c.n || c.n > 0 && got[0].Index != c.first {
			t.Errorf("%s: %v, want %d from %d", c.name, got, c.n, c.first)
		}
	}
}
