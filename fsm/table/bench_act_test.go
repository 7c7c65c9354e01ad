package table

import (
	"runtime"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// drive applies an act to its end, an entry a step, and returns the longest
// entry, publishing included, and how many there were.
func drive(b *testing.B, t *Table, index *uint64, a *offset.Act) (worst time.Duration, steps int) {
	b.Helper()
	*index++
	a.ID = offset.ActID{byte(*index), byte(*index >> 8), byte(*index >> 16), byte(*index >> 24), 1}
	a.Base, a.Cluster = *index, testCluster
	for step := uint32(0); ; {
		*index++
		begun := cpuTime()
		t.Begin(*index, int64(*index))
		res := t.Act(a, step, nil)
		t.Publish()
		worst = max(worst, cpuTime()-begun)
		steps++
		if res.Code != offset.CodeOK {
			b.Fatalf("%+v", res)
		}
		if res.Done || a.Import != nil {
			return worst, steps
		}
		step = res.Next
	}
}

// BenchmarkActs tells the longest Apply of each kind of act on a table of 10
// million queues, in processor time of the applying thread.
func BenchmarkActs(b *testing.B) {
	group := func(s shape, to string) *offset.Act {
		return &offset.Act{Clone: &offset.Clone{From: s.group(0), To: to}}
	}
	remove := func(sc offset.Scope) *offset.Act { return &offset.Act{Remove: &offset.Remove{Scope: sc}} }
	for _, c := range []struct {
		name, shape string
		act         func(s shape) *offset.Act
	}{
		{"reset-10000", "10topics", func(s shape) *offset.Act {
			a := &offset.Act{Reset: &offset.Reset{}}
			for i := range offset.MaxCommits {
				a.Reset.Targets = append(a.Reset.Targets, offset.Target{Key: s.key((i*6)%s.groups, i%10, int32(i%16)), Offset: 5})
			}
			return a
		}},
		{"remove-group-10M", "onegroup", func(s shape) *offset.Act { return remove(offset.Scope{Group: s.group(0)}) }},
		{"remove-topic-10M", "onetopic", func(s shape) *offset.Act { return remove(offset.Scope{Topic: s.key(0, 0, 0).Topic}) }},
		{"clone-10M", "onegroup", func(s shape) *offset.Act { return group(s, "copy") }},
		{"expire-10000", "10topics", func(s shape) *offset.Act {
			a := &offset.Act{Expire: &offset.Expire{}}
			for i := range offset.MaxCommits {
				a.Expire.Groups = append(a.Expire.Groups, offset.Idle{Group: s.group(i * 6), Seen: 1 << 40})
			}
			return a
		}},
		{"claim", "10topics", func(s shape) *offset.Act {
			return &offset.Act{Take: &offset.Take{ByBroker: true, Name: "b", Holder: "h"}}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			defer ownThread()()
			s := shapes[c.shape]
			t := New(testCluster)
			index := s.fill(t)
			runtime.GC()
			var worst time.Duration
			steps := 0
			b.ResetTimer()
			for b.Loop() {
				worst, steps = drive(b, t, &index, c.act(s))
			}
			b.ReportMetric(float64(worst.Microseconds())/1000, "worst-cpu-ms")
			b.ReportMetric(float64(steps), "entries")
		})
	}
}

// BenchmarkReplace stages a replace of 10 million queues beside as many, and
// swaps it in: of all, and of one group.
func BenchmarkReplace(b *testing.B) {
	for _, name := range []string{"10topics", "onegroup"} {
		b.Run(name, func(b *testing.B) {
			defer ownThread()()
			s := shapes[name]
			t := New(testCluster)
			index := s.fill(t)
			for b.Loop() {
				replace(b, t, s, &index)
			}
		})
	}
}

func replace(b *testing.B, t *Table, s shape, index *uint64) {
	const perChunk = 160
	total := s.groups * s.topics
	chunks := uint32((total + perChunk - 1) / perChunk)
	id := offset.ActID{byte(*index), byte(*index >> 8), 3}
	apply := func(i *offset.Import) (time.Duration, offset.ActResult) {
		base := *index
		*index++
		begun := cpuTime()
		t.Begin(*index, int64(*index))
		res := t.Act(&offset.Act{ID: id, Base: base, Cluster: testCluster, Import: i}, 0, nil)
		t.Publish()
		return cpuTime() - begun, res
	}
	begin := &offset.Import{Mode: offset.ImportReplace, Chunks: chunks}
	if s.groups == 1 {
		begin.Group = s.group(0)
	}
	apply(begin)
	var worst, all time.Duration
	n := 0
	for c := range chunks {
		i := &offset.Import{Step: offset.ImportChunk, Chunk: c}
		for ; n < total && len(i.Targets) < perChunk*s.queues; n++ {
			for q := range s.queues {
				i.Targets = append(i.Targets, offset.Target{Key: s.key(n/s.topics, n%s.topics, int32(q)), Offset: 7})
			}
		}
		took, res := apply(i)
		if worst, all = max(worst, took), all+took; res.Code != offset.CodeOK {
			b.Fatalf("%+v", res)
		}
	}
	took, res := apply(&offset.Import{Step: offset.ImportSwap})
	if !res.Done || res.Code != offset.CodeOK || t.Root().Queues() != uint64(total*s.queues) {
		b.Fatalf("%+v", res)
	}
	b.ReportMetric(float64(worst.Microseconds())/1000, "worst-chunk-cpu-ms")
	b.ReportMetric(float64(all.Nanoseconds())/float64(total*s.queues), "cpu-ns/queue")
	b.ReportMetric(float64(took.Microseconds())/1000, "swap-cpu-ms")
}

// BenchmarkSnapshot dumps a root of 10 million queues, and loads it.
func BenchmarkSnapshot(b *testing.B) {
	s := shapes["10topics"]
	t := New(testCluster)
	s.fill(t)
	root := t.Root()
	b.Run("dump", func(b *testing.B) {
		defer ownThread()()
		for b.Loop() {
			n, begun := 0, cpuTime()
			_ = root.Topics(func(ts *TopicState) error { n += len(ts.Queues); return nil })
			b.ReportMetric(float64((cpuTime()-begun).Nanoseconds())/float64(n), "cpu-ns/queue")
		}
	})
	b.Run("load", func(b *testing.B) {
		defer ownThread()()
		for b.Loop() {
			begun := cpuTime()
			bu := NewBuilder(root.Rest())
			if err := root.Topics(bu.AddTopic); err != nil {
				b.Fatal(err)
			}
			again, err := bu.Done()
			if err != nil || again.Digest() != root.Digest() {
				b.Fatal(err, again.Digest(), root.Digest())
			}
			b.ReportMetric(float64((cpuTime() - begun).Milliseconds()), "cpu-ms")
		}
	})
}

// BenchmarkRead reads from a root of 10 million queues.
func BenchmarkRead(b *testing.B) {
	s := shapes["10topics"]
	t := New(testCluster)
	index := s.fill(t)
	t.Begin(index+1, 0)
	t.Commit(&offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{s.commits(777, 3, 1000, 0)}}, nil)
	t.Publish()
	root := t.Root()
	b.Run("get", func(b *testing.B) {
		defer ownThread()()
		b.ReportAllocs()
		i := 0
		for b.Loop() {
			i++
			if !root.Get(s.key((i*7919)%s.groups, i%10, 3)).Exists {
				b.Fatal("not there")
			}
		}
	})
	for name, l := range map[string]offset.List{
		"group":                  {What: offset.ListKeys, Group: s.group(5)},
		"broker-newer-16-of-10M": {What: offset.ListKeys, HasBroker: true, Broker: "broker-a", NewerThan: index},
		"broker-pending-none":    {What: offset.ListKeys, HasBroker: true, Broker: "broker-a", Pending: true},
		"all-newer-16-of-10M":    {What: offset.ListKeys, NewerThan: index},
		"page-of-10000":          {What: offset.ListKeys},
		"groups-100":             {What: offset.ListGroups, Prefix: "group-00", Limit: 100},
		"topics-100":             {What: offset.ListTopics, Limit: 100},
		"groups-of-topic":        {What: offset.ListGroups, Topic: s.topic(5, 1)},
	} {
		b.Run(name, func(b *testing.B) {
			defer ownThread()()
			for b.Loop() {
				p := root.List(&l)
				b.ReportMetric(float64(len(p.Keys)+len(p.Names)), "rows")
			}
		})
	}
}
