package tidemarktest

import (
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Subject is an OffsetStore under TestOffsetStore: where it persists to, empty
// at first, and how stores over that are opened.
type Subject struct {
	// Open opens a further store of the one group over the same place, as
	// another process, or the next start of this one, would. It has no persist
	// loop, and is closed by the test.
	Open func() client.Store
	// Reset moves a queue as an operator does. Nil: there is no such thing, and
	// a store takes every value (as a LocalFileStore does), read before or not.
	Reset func(mq offset.MessageQueue, next int64)
	// Keeps: PersistAll leaves the queues that it is not given in memory.
	Keeps bool
}

// TestOffsetStore checks an OffsetStore, one subtest for each rule; start gives
// each a Subject of its own.
func TestOffsetStore(t *testing.T, start func(t *testing.T) Subject) {}
