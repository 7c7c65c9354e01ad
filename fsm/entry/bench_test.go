package entry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// shape is what callers send: requests of so many topics with so many queues.
type shape struct {
	name           string
	topics, queues int
	nameLen        int
}

var shapes = []shape{
	{"100x16", 100, 16, 40},
	{"25x4", 25, 4, 40},
	{"100x1", 100, 1, 40},
	{"1x1", 1, 1, 40},
	{"1x4", 1, 4, 40},
}

// request makes one; groups and topics are drawn from many.
func (s shape) request(r *rand.Rand) *Request {
	pad := func(f string, n int) string {
		name := fmt.Sprintf(f, n)
		return "com.example.shop.orders.europe.production."[:s.nameLen-len(name)] + name
	}
	c := &offset.Commits{Cluster: testCluster}
	group := pad("group-%d", r.IntN(10_000))
	for range s.topics {
		t := offset.TopicCommits{Group: group, Topic: pad("topic-%d", r.IntN(2_000)), Broker: fmt.Sprintf("broker-%d", r.IntN(4))}
		base := r.Int64N(1e10)
		for q := range s.queues {
			t.Queues = append(t.Queues, offset.QueueCommit{QueueID: int32(q), Offset: base + r.Int64N(1e6), Epoch: 123_456})
		}
		c.Topics = append(c.Topics, t)
	}
	return &Request{Principal: "anonymous", From: fmt.Sprintf("10.0.0.%d:%d", r.IntN(4), 40_000+r.IntN(64)), Commits: c}
}

// full fills an entry to 128 KiB, or as many runs as may be, as the proposer does.
func (s shape) full(tb testing.TB) (b *Builder, offsets int, requests []*Request) {
	r := rand.New(rand.NewPCG(1, uint64(len(s.name))))
	b = NewBuilder(testCluster, 1)
	for b.Len() < 128<<10 {
		req := s.request(r)
		if err := b.Add(req); errors.Is(err, offset.ErrBusy) {
			break // so many runs
		} else if err != nil {
			tb.Fatal(err)
		}
		requests = append(requests, req)
		offsets += req.Commits.Count()
	}
	return b, offsets, requests
}

func BenchmarkDecode(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			built, offsets, _ := s.full(b)
			data := built.Seal(1)
			var d Decoder
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(offsets), "ns/offset")
			b.ReportMetric(float64(len(data))/float64(offsets), "bytes/offset")
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			built, offsets, requests := s.full(b)
			b.ReportAllocs()
			for b.Loop() {
				built.Reset()
				for _, r := range requests {
					if err := built.Add(r); err != nil {
						b.Fatal(err)
					}
				}
				built.Seal(1)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(offsets), "ns/offset")
		})
	}
}

// importChunk is the part of a large file that fits one chunk: i-th group with
// topic i mod 997, four queues with offsets near i.
func importChunk(first, groups int) *Request {
	i := &offset.Import{Step: offset.ImportChunk, Chunk: 7}
	for g := first; g < first+groups; g++ {
		for q := range 4 {
			k := offset.Key{Group: fmt.Sprintf("g%d", g), MessageQueue: offset.MessageQueue{Topic: fmt.Sprintf("t%d", g%997), QueueID: int32(q)}}
			i.Targets = append(i.Targets, offset.Target{Key: k, Offset: int64(g + q)})
		}
	}
	return &Request{Principal: "admin", From: "10.0.0.1:40000", Act: &offset.Act{ID: goldenAct, Base: 1e6, Cluster: testCluster, Import: i}}
}

// importOf is a chunk of groups with topics of four queues, all names of ten bytes.
func importOf(r *rand.Rand) *Request {
	i := &offset.Import{Step: offset.ImportChunk, Chunk: 7}
	for g := 0; len(i.Targets) < 2000; g++ {
		for t := range 5 {
			base := r.Int64N(1e9)
			for q := range 4 {
				k := offset.Key{Group: fmt.Sprintf("group%05d", g), MessageQueue: offset.MessageQueue{Topic: fmt.Sprintf("topic%05d", (g*7+t)%900), QueueID: int32(q)}}
				i.Targets = append(i.Targets, offset.Target{Key: k, Offset: base + r.Int64N(1e5)})
			}
		}
	}
	return &Request{Act: &offset.Act{ID: goldenAct, Cluster: testCluster, Import: i}}
}

func BenchmarkImportChunk(b *testing.B) {
	for name, r := range map[string]*Request{
		"900000-groups-of-4": importChunk(400_000, 2_500),
		"names-of-10-bytes":  importOf(rand.New(rand.NewPCG(1, 1))),
	} {
		b.Run(name, func(b *testing.B) {
			built := NewBuilder(testCluster, 1)
			if err := built.Add(r); err != nil {
				b.Fatal(err)
			}
			data, n := built.Seal(1), len(r.Act.Import.Targets)
			var d Decoder
			b.ReportAllocs()
			for b.Loop() {
				if _, err := d.Decode(data); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/offset")
			b.ReportMetric(float64(len(data))/float64(n), "bytes/offset")
		})
	}
}

// TestBytesAnOffset holds what the design promises of a full entry; one that is
// closed early, by its runs, has fewer offsets to share the names.
func TestBytesAnOffset(t *testing.T) {
	for _, s := range shapes[:3] {
		b, offsets, _ := s.full(t)
		most := 12.0
		if b.Len() < 128<<10 {
			most = 16
		}
		if got := float64(b.Len()) / float64(offsets); got > most {
			t.Errorf("%s: %.1f bytes an offset in %d bytes; at most %.0f are promised", s.name, got, b.Len(), most)
		}
	}
	for _, r := range []*Request{importChunk(400_000, 2_500), importOf(rand.New(rand.NewPCG(1, 1)))} {
		if got := float64(Size(r)) / float64(len(r.Act.Import.Targets)); got > 8 {
			t.Errorf("chunk of an import: %.1f bytes an offset; at most 8 are expected", got)
		}
	}
}

func BenchmarkSize(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			req := s.request(rand.New(rand.NewPCG(1, 2)))
			b.ReportAllocs()
			for b.Loop() {
				if Size(req) > MaxEntry {
					b.Fatal("refused")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(req.Commits.Count()), "ns/offset")
		})
	}
}
