package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// namesAnEntry is entry.MaxRuns, which this package can't import.
const namesAnEntry = 2500

// BenchmarkCreate commits one queue each of names that are new, as many as one
// entry may hold, in no order, beside 10 million queues: the longest entry of
// commits there is.
func BenchmarkCreate(b *testing.B) {
	for _, c := range []struct {
		name   string
		shape  string
		topics string
		broker string
	}{
		{"groups-on-known-topics", "10topics", "known", "broker-a"},
		{"groups-with-topics-of-their-own", "10topics", "new", "broker-a"},
		{"groups-on-one-topic", "onetopic", "one", "broker-a"},
		{"topics-of-known-groups", "10topics", "of-known", "broker-a"},
		{"brokers-of-known-groups", "10topics", "of-known", "broker-b"},
	} {
		b.Run(c.name, func(b *testing.B) {
			defer ownThread()()
			s := shapes[c.shape]
			t := New(testCluster)
			index := s.fill(t)
			r := rand.New(rand.NewPCG(1, 3))
			request := func() *offset.Commits {
				req := &offset.Commits{Cluster: testCluster}
				for range namesAnEntry {
					tc := s.commits(r.IntN(s.groups), r.IntN(s.topics), 1, 0)
					tc.Queues, tc.Broker = tc.Queues[:1], c.broker
					own := fmt.Sprintf("-%033d", r.Uint64())
					switch c.topics {
					case "known", "one":
						tc.Group = "group" + own
					case "new":
						tc.Group, tc.Topic = "group"+own, "topic"+own
					case "of-known":
						tc.Topic = "topic" + own
					}
					req.Topics = append(req.Topics, tc)
				}
				return req
			}
			out := make([]offset.Verdict, 0, namesAnEntry)
			worst, total := time.Duration(0), time.Duration(0)
			var was, is runtime.MemStats
			allocs := uint64(0)
			for b.Loop() {
				req := request()
				index++
				runtime.ReadMemStats(&was)
				begun := cpuTime()
				t.Begin(index, int64(index))
				out = t.Commit(req, out[:0])
				t.Publish()
				took := cpuTime() - begun
				runtime.ReadMemStats(&is)
				allocs += is.Mallocs - was.Mallocs
				worst, total = max(worst, took), total+took
				if out[0].Code != offset.CodeOK {
					b.Fatal(out[0])
				}
			}
			b.ReportMetric(float64(total.Microseconds())/float64(b.N)/1000, "cpu-ms")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-cpu-ms")
			b.ReportMetric(float64(allocs)/float64(b.N)/namesAnEntry, "allocs/name")
		})
	}
}
