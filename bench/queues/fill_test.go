package main

import (
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// The queues are as many as promised: no key occurs twice, names have 40 bytes
// but for a few.
func TestTopicsDiffer(t *testing.T) {
	seen := map[offset.Key]bool{}
	for i := range 5000 {
		for _, c := range topic(i, 7) {
			if seen[c.Key] {
				t.Fatalf("%s occurs twice", c.Key)
			}
			seen[c.Key] = true
			if n := len(c.Key.Group); n != 40 {
				t.Fatalf("%q has %d bytes", c.Key.Group, n)
			}
		}
	}
	if len(seen) != 5000*perTopic {
		t.Errorf("%d keys of 5000 topics", len(seen))
	}
}
