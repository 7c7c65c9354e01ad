package node

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestRequestsOfManyNamesAreCut: a request travels in as many entries as its
// names need, in its order; one that is atomic in one.
func TestRequestsOfManyNamesAreCut(t *testing.T) {
	c := &offset.Commits{Cluster: offset.ClusterID{7}}
	for i := range 2*entry.MaxRuns + 1 {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: fmt.Sprint("g", i), Topic: "t"})
	}
	sizes := func(c *offset.Commits) (out []int, names []string) {
		for _, p := range parts(c) {
			if p.Cluster != c.Cluster || p.Atomic != c.Atomic {
				t.Fatalf("a part for cluster %v, atomic %v", p.Cluster, p.Atomic)
			}
			out = append(out, len(p.Topics))
			for i := range p.Topics {
				names = append(names, p.Topics[i].Group)
			}
		}
		return out, names
	}
	got, names := sizes(c)
	if !slices.Equal(got, []int{entry.MaxRuns, entry.MaxRuns, 1}) {
		t.Fatalf("parts of %v names", got)
	}
	for i, name := range names {
		if name != c.Topics[i].Group {
			t.Fatalf("name %d is %q", i, name)
		}
	}
	c.Atomic = true
	if got, _ := sizes(c); !slices.Equal(got, []int{len(c.Topics)}) {
		t.Fatalf("atomic: parts of %v names", got)
	}
}
