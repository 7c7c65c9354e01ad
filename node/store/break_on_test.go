//go:build tidemark_break

package store

import "testing"

func init() { breakSync = func(u *Unsafe) { u.NoSync = true } }

// TestBrokenSync: the build that must fail its demonstration does not sync.
func TestBrokenSync(t *testing.T) {
	counts := syncsBeforeAnswers(t, "append-unsynced")
	if len(counts) != 20 {
		t.Fatalf("traced %d appends", len(counts))
	}
	for i, n := range counts[1:] { // the first follows the making of the file
		if n != 0 {
			t.Errorf("append %d was answered after %d syncs", i+2, n)
		}
	}
}
