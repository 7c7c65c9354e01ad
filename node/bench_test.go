package node_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// BenchmarkInFlight chooses Config.InFlight: three members in one process over
// TCP, with real disks. One operation is one request.
func BenchmarkInFlight(b *testing.B) {
	for _, load := range []struct{ callers, queues int }{{1, 1}, {256, 1}, {16, 1000}, {64, 1000}} {
		for _, window := range []int{1, 2, 3, 4, 8} {
			b.Run(fmt.Sprintf("callers=%d/queues=%d/inflight=%d", load.callers, load.queues, window), func(b *testing.B) {
				c := incluster.StartTCP(b, 3, func(m *incluster.Member) {
					m.Config.InFlight = window
					m.Config.Logger = nil
				})
				commitMany(b, c.Leader(), load.callers, load.queues)
			})
		}
	}
}

// commitMany shares b.N requests among callers.
func commitMany(b *testing.B, m *incluster.Member, callers, queues int) {
	cluster := m.Status().Meta.Cluster
	work := make(chan struct{}, callers)
	var group sync.WaitGroup
	before, term := metric(m, "proposed_entries_total"), m.Status().Term
	b.ResetTimer()
	for i := range callers {
		group.Go(func() {
			t := offset.TopicCommits{Group: fmt.Sprintf("group-%d", i), Topic: "orders", Broker: "broker-a", Queues: make([]offset.QueueCommit, queues)}
			for n := int64(1); ; n++ {
				if _, ok := <-work; !ok {
					return
				}
				for q := range t.Queues {
					t.Queues[q] = offset.QueueCommit{QueueID: int32(q), Offset: n * 7}
				}
				_, _, err := m.Node().Commit(context.Background(), incluster.Operator, &offset.Commits{Cluster: cluster, Topics: []offset.TopicCommits{t}})
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	group.Wait()
	b.StopTimer()
	took := b.Elapsed().Seconds()
	b.ReportMetric(float64(b.N*queues)/took, "offsets/s")
	b.ReportMetric((metric(m, "proposed_entries_total")-before)/took, "entries/s")
	b.ReportMetric(float64(m.Status().Term-term), "elections")
}

// BenchmarkLinearizableRead has callers share confirmations on the leader.
func BenchmarkLinearizableRead(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			c := incluster.StartTCP(b, 3, func(m *incluster.Member) { m.Config.Logger = nil })
			m := c.Leader()
			m.MustCommit(incluster.Key("g", 1), 1)
			work := make(chan struct{}, callers)
			var group sync.WaitGroup
			b.ResetTimer()
			for range callers {
				group.Go(func() {
					for range work {
						if _, _, err := m.Fetch(context.Background(), incluster.Key("g", 1), linearizable); err != nil {
							b.Error(err)
						}
					}
				})
			}
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			group.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reads/s")
		})
	}
}
