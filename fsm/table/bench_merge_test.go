package table

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// BenchmarkMergeOfSmallGroups merges 3.6 million offsets, 4 to a group of its
// own, in full chunks, and tells the longest Apply of a chunk, in processor
// time of the applying thread. Nothing that an import brings is finer.
func BenchmarkMergeOfSmallGroups(b *testing.B) {
	defer ownThread()()
	const groups, queues = 900_000, 4
	const perChunk = offset.MaxCommits / queues
	for b.Loop() {
		before := heap()
		t, index := New(testCluster), uint64(1)
		apply := func(i *offset.Import) time.Duration {
			index++
			i.Chunks = groups / perChunk
			begun := cpuTime()
			t.Begin(index, int64(index))
			res := t.Act(&offset.Act{ID: offset.ActID{7}, Base: 1, Cluster: testCluster, Import: i}, 0, nil)
			t.Publish()
			if res.Code != offset.CodeOK {
				b.Fatalf("%+v", res)
			}
			return cpuTime() - begun
		}
		apply(&offset.Import{})
		var worst, all time.Duration
		for c := range groups / perChunk {
			i := &offset.Import{Step: offset.ImportChunk, Chunk: uint32(c)}
			for g := c * perChunk; g < (c+1)*perChunk; g++ {
				for q := range queues {
					mq := offset.MessageQueue{Topic: fmt.Sprintf("t%d", g%997), QueueID: int32(q)}
					i.Targets = append(i.Targets, offset.Target{Key: offset.Key{Group: fmt.Sprintf("g%d", g), MessageQueue: mq}, Offset: int64(g + q)})
				}
			}
			took := apply(i)
			worst, all = max(worst, took), all+took
		}
		b.ReportMetric(float64(worst.Microseconds())/1000, "worst-chunk-cpu-ms")
		b.ReportMetric(float64(all.Nanoseconds())/(groups*queues), "cpu-ns/queue")
		b.ReportMetric(float64(heap()-before)/(groups*queues), "heap-bytes/queue")
		runtime.KeepAlive(t)
	}
}
