package fsm

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// topicOf names the i-th topic of a filled table: 40-byte names, 50 topics to
// a group, 16 queues to a topic.
func topicOf(i int) (group, topic, broker string) {
	return fmt.Sprintf("com.example.shop.orders.group-%010d", i/50),
		fmt.Sprintf("com.example.shop.orders.topic-%010d", i%2000), fmt.Sprintf("broker-%d", i%4)
}

// filled returns a table of n queues, made by commits of whole topics in random
// order.
func filled(n int) *table.Table {
	t := table.New(testCluster)
	r := rand.New(rand.NewPCG(3, 3))
	var out []offset.Verdict
	index := uint64(0)
	order := r.Perm((n + 15) / 16)
	for i, topic := range order {
		c := &offset.Commits{Cluster: testCluster, Topics: make([]offset.TopicCommits, 1)}
		tc := &c.Topics[0]
		tc.Group, tc.Topic, tc.Broker = topicOf(topic)
		for q := range min(16, n) {
			tc.Queues = append(tc.Queues, offset.QueueCommit{QueueID: int32(q), Offset: r.Int64N(1e10)})
		}
		n -= len(tc.Queues)
		index++
		t.Begin(index, 1_700_000_000_000+int64(index))
		out = t.Commit(c, out[:0])
		if i%1000 == 0 {
			t.Publish()
		}
	}
	t.Publish()
	return t
}

// tenMillion is built once for all benchmarks that need it.
var tenMillion = sync.OnceValue(func() *table.Table { return filled(10_000_000) })

// BenchmarkApplyFullEntry is decode and apply of a full entry of commits that
// raise existing keys, answers included, and the publishing of the root.
func BenchmarkApplyFullEntry(b *testing.B) {
	for _, queues := range []int{100_000, 10_000_000} {
		if queues > 1_000_000 && testing.Short() {
			continue
		}
		b.Run(fmt.Sprintf("%d-queues", queues), func(b *testing.B) {
			f := New(Config{Cluster: testCluster})
			if queues == 10_000_000 {
				f.table.Store(tenMillion())
			} else {
				f.table.Store(filled(queues))
			}
			benchApply(b, f, queues)
		})
	}
}

func benchApply(b *testing.B, f *FSM, queues int) {
	r := rand.New(rand.NewPCG(4, 4))
	index, offsets, bytes := f.Index(), 0, 0
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		data, n := fullEntry(r, queues, int64(index))
		index++
		l := &raft.Log{Index: index, Data: data}
		b.StartTimer()
		a := f.Apply(l).(*Answers)
		if a.Err != nil {
			b.Fatal(a.Err)
		}
		offsets += n
		bytes += len(data)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(offsets), "ns/offset")
	b.ReportMetric(float64(bytes)/float64(offsets), "bytes/offset")
}

// fullEntry fills 128 KiB with requests of six topics with 16 queues each.
func fullEntry(r *rand.Rand, queues int, offsetBase int64) (data []byte, offsets int) {
	b := entry.NewBuilder(testCluster, 1)
	for b.Len() < 128<<10 {
		c := &offset.Commits{Cluster: testCluster}
		for range 6 {
			var tc offset.TopicCommits
			tc.Group, tc.Topic, tc.Broker = topicOf(r.IntN(queues / 16))
			at := int64(1e10) + offsetBase*1000 + r.Int64N(1000)
			for q := range int32(16) {
				tc.Queues = append(tc.Queues, offset.QueueCommit{QueueID: q, Offset: at + r.Int64N(1000)})
			}
			c.Topics = append(c.Topics, tc)
		}
		if err := b.Add(&entry.Request{Principal: "app", From: fmt.Sprintf("10.0.0.1:%d", 4000+r.IntN(50)), Commits: c}); err != nil {
			panic(err)
		}
		offsets += c.Count()
	}
	return b.Seal(1_700_000_000_000), offsets
}

// BenchmarkSnapshot10M takes, writes and restores a snapshot of ten million queues.
func BenchmarkSnapshot10M(b *testing.B) {
	if testing.Short() {
		b.Skip("builds ten million queues")
	}
	f := New(Config{Cluster: testCluster})
	f.table.Store(tenMillion())
	b.Run("take", func(b *testing.B) {
		for b.Loop() {
			s, err := f.Snapshot()
			if err != nil {
				b.Fatal(err)
			}
			s.Release()
		}
	})
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			n := counter{}
			if err := WriteSnapshot(&n, f.Root()); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(n.bytes)/1e7, "bytes/queue")
		}
	})
	b.Run("restore", func(b *testing.B) { benchRestore(b, f) })
}

// benchRestore reads from a file, beside the state that is there.
func benchRestore(b *testing.B, f *FSM) {
	file, err := os.CreateTemp(b.TempDir(), "snapshot")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	if err := WriteSnapshot(file, f.Root()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			b.Fatal(err)
		}
		before := heapBytes()
		began := time.Now()
		t, err := ReadSnapshot(file, testCluster)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s")
		b.StopTimer()
		b.ReportMetric(float64(heapBytes()-before)/1e7, "heap-bytes/queue")
		runtime.KeepAlive(t)
		b.StartTimer()
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// counter is an io.Writer that counts.
type counter struct{ bytes int64 }

func (c *counter) Write(b []byte) (int, error) { c.bytes += int64(len(b)); return len(b), nil }
