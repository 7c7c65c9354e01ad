package table

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// BenchmarkFloors moves floors in one entry, which is published, while as many
// scopes as may have one do: of scopes that have none, or of those of long ago.
func BenchmarkFloors(b *testing.B) {
	for _, n := range []int{1, 3600} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d,again=%v", n, again), func(b *testing.B) {
				t, names := New(testCluster), 2*offset.MaxFloors
				if again {
					names = offset.MaxFloors
				}
				scopes := make([]scope, names)
				for i := range scopes {
					scopes[i] = scope{false, fmt.Sprintf("the-name-of-a-group-of-40-bytes-%08d", i)}
				}
				at := 0
				move := func(n int) {
					t.Begin(t.index+1, 1)
					for range n {
						t.raiseFloor(scopes[at%names])
						at++
					}
					t.Publish()
				}
				move(offset.MaxFloors)
				for b.Loop() {
					move(n)
				}
			})
		}
	}
}
