package table

import (
	"runtime"
	"testing"
)

// TestBytesAreTheHeaps builds tables of very different shapes, and compares what
// their roots say that they take with what the heap has grown by.
func TestBytesAreTheHeaps(t *testing.T) {
	for _, s := range []shape{
		{"1topic", 20_000, 1, 16, false},
		{"10topics", 4_000, 10, 16, true},
		{"onegroup", 1, 30_000, 16, false},
		{"onetopic", 20_000, 1, 16, true},
		{"small", 40_000, 1, 4, false},
		{"single", 40_000, 1, 1, false},
		{"wide", 500, 10, 100, true},
	} {
		was := heap()
		tab := New(testCluster)
		s.fill(tab)
		got, want := tab.Root().Bytes(), heap()-was
		runtime.KeepAlive(tab)
		t.Logf("%s: %d queues, %.1f bytes each on the heap, %.1f by the formula", s.name, tab.Root().Queues(),
			float64(want)/float64(tab.Root().Queues()), float64(got)/float64(tab.Root().Queues()))
		if off := float64(got)/float64(want) - 1; off > 0.2 || off < -0.2 {
			t.Errorf("%s: the heap has grown by %d, and the root says %d", s.name, want, got)
		}
	}
}
