//go:build tidemark_mutants

package store

import (
	"testing"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

func init() { plantNoSync = func() { planted.Plant(planted.NoSync) } }

// TestNoSync: with that mistake nothing is synced, so that what is to fail does.
func TestNoSync(t *testing.T) {
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
