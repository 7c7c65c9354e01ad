package table

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// shape says how a large table is made: groups, topics of each, queues of each.
// All names have 40 bytes.
type shape struct {
	name                   string
	groups, topics, queues int
	shared                 bool // topics are shared by groups
}

func (s shape) group(g int) string { return fmt.Sprintf("group-%034d", g) }

func (s shape) topic(g, t int) string {
	if s.shared {
		return fmt.Sprintf("topic-%034d", (g*7+t*131)%(s.groups*s.topics/10+1)*s.topics+t)
	}
	return fmt.Sprintf("topic-%034d", g*s.topics+t)
}

var shapes = map[string]shape{
	"1topic":   {"1topic", 625_000, 1, 16, false},
	"10topics": {"10topics", 62_500, 10, 16, true},
	"onegroup": {"onegroup", 1, 625_000, 16, false},
	"onetopic": {"onetopic", 625_000, 1, 16, true},
}

func (s shape) key(g, t int, q int32) offset.Key {
	topic := s.topic(g, t)
	if s.name == "onetopic" {
		topic = fmt.Sprintf("topic-%034d", 0)
	}
	return offset.Key{Group: s.group(g), MessageQueue: offset.MessageQueue{Topic: topic, Broker: "broker-a", QueueID: q}}
}

// fill commits every key of the shape, in entries of 640 topics.
func (s shape) fill(t *Table) uint64 {
	index := uint64(0)
	var c offset.Commits
	var out []offset.Verdict
	send := func() {
		if len(c.Topics) == 0 {
			return
		}
		index++
		t.Begin(index, int64(index))
		out = t.Commit(&c, out[:0])
		t.Publish()
		c.Topics = c.Topics[:0]
	}
	c.Cluster = testCluster
	for g := range s.groups {
		for tp := range s.topics {
			c.Topics = append(c.Topics, s.commits(g, tp, 100, 0))
			if len(c.Topics) == 640 {
				send()
			}
		}
	}
	send()
	return index
}

func (s shape) commits(g, t int, off int64, epoch uint64) offset.TopicCommits {
	k := s.key(g, t, 0)
	tc := offset.TopicCommits{Group: k.Group, Topic: k.Topic, Broker: k.Broker, Queues: make([]offset.QueueCommit, s.queues)}
	for q := range tc.Queues {
		tc.Queues[q] = offset.QueueCommit{QueueID: int32(q), Offset: off, Epoch: epoch}
	}
	return tc
}

// ownThread keeps the benchmark on its thread, so that cpuTime is its own.
func ownThread() func() {
	runtime.LockOSThread()
	return runtime.UnlockOSThread
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkBuild tells the heap that a queue takes at 10 million, after they
// were committed in order.
func BenchmarkBuild(b *testing.B) {
	for _, name := range []string{"1topic", "10topics", "onegroup", "onetopic"} {
		s := shapes[name]
		b.Run(name, func(b *testing.B) {
			defer ownThread()()
			for b.Loop() {
				was := heap()
				begun := cpuTime()
				t := New(testCluster)
				s.fill(t)
				took := cpuTime() - begun
				n := t.Root().Queues()
				b.ReportMetric(float64(heap()-was)/float64(n), "bytes/queue")
				b.ReportMetric(float64(took.Nanoseconds())/float64(n), "cpu-ns/queue")
				runtime.KeepAlive(t)
			}
		})
	}
}

// BenchmarkCommit commits 10,000 offsets of existing keys in one entry and
// publishes, on a table of 10 million queues; with a root held all the while, too.
func BenchmarkCommit(b *testing.B) {
	s := shapes["10topics"]
	t := New(testCluster)
	index := s.fill(t)
	for _, c := range []struct {
		name   string
		queues int
		near   bool // the topics of a request are of the same groups
		held   bool
	}{{"16-a-topic", 16, true, false}, {"16-a-topic-far", 16, false, false}, {"1-a-topic-far", 1, false, false}, {"16-a-topic-held", 16, true, true}} {
		b.Run(c.name, func(b *testing.B) {
			defer ownThread()()
			r := rand.New(rand.NewPCG(1, 1))
			reqs := make([]offset.Commits, 50)
			for i := range reqs {
				reqs[i].Cluster = testCluster
				for j := range 10_000 / c.queues {
					g, tp := r.IntN(s.groups), r.IntN(s.topics)
					if c.near {
						g, tp = (i*63+j/s.topics)%s.groups, j%s.topics
					}
					tc := s.commits(g, tp, 0, 0)
					tc.Queues = tc.Queues[:c.queues]
					reqs[i].Topics = append(reqs[i].Topics, tc)
				}
			}
			var root *Root
			out := make([]offset.Verdict, 0, 10_000)
			runtime.GC()
			b.ReportAllocs()
			b.ResetTimer()
			worst, total := time.Duration(0), time.Duration(0)
			for i := 0; b.Loop(); i++ {
				req := &reqs[i%len(reqs)]
				for j := range req.Topics {
					for k := range req.Topics[j].Queues {
						req.Topics[j].Queues[k].Offset = int64(index) + 1000
					}
				}
				if c.held && i%100 == 0 {
					root = t.Root()
				}
				index++
				begun := cpuTime()
				t.Begin(index, int64(index))
				out = t.Commit(req, out[:0])
				t.Publish()
				took := cpuTime() - begun
				worst, total = max(worst, took), total+took
				if out[0].Code != offset.CodeOK {
					b.Fatal(out[0])
				}
			}
			runtime.KeepAlive(root)
			b.ReportMetric(float64(total.Nanoseconds())/float64(b.N)/float64(len(out)), "cpu-ns/offset")
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-cpu-ms")
		})
	}
}
