package table

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// manyBrokers has one key of a group on each of n brokers.
func manyBrokers(n int) *Table {
	t := New(testCluster)
	for at, index := 0, uint64(1); at < n; index++ {
		c := offset.Commits{Cluster: testCluster}
		for range min(2500, n-at) {
			c.Topics = append(c.Topics, offset.TopicCommits{Group: "g", Topic: "t", Broker: fmt.Sprintf("b%08x", uint32(at)*2654435761), Queues: []offset.QueueCommit{{Offset: 1}}})
			at++
		}
		t.Begin(index, 1)
		t.Commit(&c, nil)
		t.Publish()
	}
	return t
}

// BenchmarkBrokers replaces a group on as many brokers as it may have by nothing, and
// walks it. Each of both must cost what the brokers do, not their square.
func BenchmarkBrokers(b *testing.B) {
	for _, n := range []int{offset.MaxBrokers, 16 * offset.MaxBrokers} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var walk, swap time.Duration
			for b.Loop() {
				b.StopTimer()
				t := manyBrokers(n)
				b.StartTimer()
				begun := time.Now()
				if err := t.Root().Topics(func(*TopicState) error { return nil }); err != nil {
					b.Fatal(err)
				}
				walk += time.Since(begun)
				begun = time.Now()
				t.Begin(t.index+1, 1)
				t.replaceGroup(newSpace(t.gen), "g")
				t.Publish()
				swap += time.Since(begun)
			}
			b.ReportMetric(float64(walk.Microseconds())/1000/float64(b.N), "walk-ms")
			b.ReportMetric(float64(swap.Microseconds())/1000/float64(b.N), "swap-ms")
		})
	}
}
