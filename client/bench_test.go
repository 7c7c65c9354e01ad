package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/frames/framestest"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// trivial answers each commit at once with the offset it brings, so that what
// is measured is the client and the way to the server and back.
type trivial struct{ meta *tidemarkv1.Meta }

// stream answers each message by one.
func (h trivial) stream(_ context.Context, s *frames.Server) error {
	for {
		m, err := s.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r := &tidemarkv1.StreamResponse{}
		for _, c := range m.GetCalls() {
			a := &tidemarkv1.CommitResponse{Meta: h.meta}
			for _, t := range c.GetCommit().GetCommits() {
				a.Offsets = append(a.Offsets, t.GetOffsets()...)
			}
			r.Replies = append(r.Replies, &tidemarkv1.Reply{Id: c.GetId(), Reply: &tidemarkv1.Reply_Commit{Commit: a}})
		}
		if err := s.Send(r); err != nil {
			return err
		}
	}
}

func serveTrivial(b *testing.B) string {
	b.Helper()
	h := trivial{wire.ToMeta(offset.Meta{Cluster: testCluster, Index: 1 << 20})}
	streams := framestest.New(http.NotFoundHandler(), h.stream)
	s := httptest.NewServer(streams)
	b.Cleanup(func() { streams.Close(); streams.Wait(); s.Close() })
	return s.Listener.Addr().String()
}

// share runs n pieces of work from callers goroutines.
func share(b *testing.B, callers, n int, do func() error) {
	work := make(chan struct{}, n)
	for range n {
		work <- struct{}{}
	}
	close(work)
	var all sync.WaitGroup
	b.ResetTimer()
	for range callers {
		all.Go(func() {
			for range work {
				if err := do(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	b.StopTimer()
}

// BenchmarkCommit: one offset a request, callers sharing one Client.
func BenchmarkCommit(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			c, err := New([]string{serveTrivial(b)})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			b.ReportAllocs()
			share(b, callers, b.N, func() error { return commitOne(ctx, c, key(3), 77, 12) })
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}

// BenchmarkBatch: 1,000 offsets of 60 topics a request, from 4 callers.
func BenchmarkBatch(b *testing.B) {
	c, err := New([]string{serveTrivial(b)})
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	list := make([]offset.Commit, 1000)
	for i := range list {
		k := key(int32(i % 16))
		k.Topic = fmt.Sprintf("topic-%d", i/16)
		list[i] = offset.Commit{Key: k, Offset: int64(i) << 10, Epoch: 12}
	}
	ctx := context.Background()
	b.ReportAllocs()
	share(b, 4, b.N, func() error {
		_, _, err := c.Commit(ctx, testCluster, list)
		return err
	})
	b.ReportMetric(float64(b.N*len(list))/b.Elapsed().Seconds(), "offsets/s")
}

// BenchmarkPersist: a run of persisting one changed queue, without hooks, with
// hooks, and with somebody who counts.
func BenchmarkPersist(b *testing.B) {
	hooks := StoreHooks{Persisted: func(offset.MessageQueue, int64) {}, Failed: func(QueueError) {}, Fenced: func(Fence) {}}
	for _, c := range []struct {
		name string
		opts []StoreOption
	}{
		{"plain", nil},
		{"hooks", []StoreOption{WithStoreHooks(hooks)}},
		{"metrics", []StoreOption{WithStoreMetrics(nothingCounted{})}},
	} {
		b.Run(c.name, func(b *testing.B) {
			f := newFakeCluster(b, "a:1")
			s := f.store(c.opts...)
			read(b, s, 0)
			ctx := context.Background()
			b.ReportAllocs()
			b.ResetTimer()
			for n := range b.N {
				s.UpdateOffset(mq(0), int64(n)+1, true)
				if err := s.Persist(ctx, mq(0)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate: what an application calls for each message.
func BenchmarkUpdate(b *testing.B) {
	f := newFakeCluster(b, "a:1")
	s := f.store(WithStoreHooks(StoreHooks{Persisted: func(offset.MessageQueue, int64) {}}))
	read(b, s, 0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		s.UpdateOffset(mq(0), int64(n), true)
	}
}
