package ask

import (
	"context"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Patience is how long a condition may take before the test fails.
const Patience = 30 * time.Second

// The levels of reading, for short.
var (
	Default = offset.ReadAt{}
	Local   = offset.ReadAt{Level: offset.Local}
)

// AtLeast reads once a node has applied index.
func AtLeast(index uint64) offset.ReadAt { return offset.ReadAt{Level: offset.AtLeast, Index: index} }

// Until waits for a condition, and fails the test if it does not come true.
func Until(tb testing.TB, what string, ok func() bool) {
	tb.Helper()
	for end := time.Now().Add(Patience); !ok(); {
		if time.Now().After(end) {
			tb.Fatalf("not within %v: %s", Patience, what)
		}
		time.Sleep(5 * time.Millisecond) // between two looks at the condition
	}
}

// Within is a context that ends after d, or with the test.
func Within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// Same waits until all nodes have applied the same entries, demands that their
// digests are equal then, and returns that index.
func Same(tb testing.TB, nodes []*Node) uint64 {
	tb.Helper()
	var index uint64
	Until(tb, "all nodes are at one index, with one digest", func() bool {
		var first offset.Status
		for i, n := range nodes {
			s, err := n.Status(Within(tb, time.Second))
			switch {
			case err != nil || s.DigestIndex == 0:
				return false
			case i == 0:
				first = s
			case s.DigestIndex != first.DigestIndex:
				return false
			case s.Digest != first.Digest:
				tb.Fatalf("at index %d the digest of %s is %s, and that of %s is %s", s.DigestIndex, nodes[0].Name, first.Digest, n.Name, s.Digest)
			}
		}
		index = first.DigestIndex
		return true
	})
	return index
}

// MustRead fails the test unless a node reads a key as value at that level;
// -1 means no offset.
func (n *Node) MustRead(tb testing.TB, at offset.ReadAt, k offset.Key, value int64) {
	tb.Helper()
	s, _, err := n.Fetch(Within(tb, Patience), at, k)
	if err != nil {
		tb.Fatalf("%s reads %s (%v): %v", n.Name, k, at.Level, err)
	}
	if got := Value(s[0]); got != value {
		tb.Fatalf("%s reads %s (%v) as %d, want %d", n.Name, k, at.Level, got, value)
	}
}

// Value is the offset of a state, -1 if it has none.
func Value(s offset.KeyState) int64 {
	if !s.Exists {
		return -1
	}
	return s.Position.Offset
}
