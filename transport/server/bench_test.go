package server

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// entries is a Service whose commits wait for the next of a row of instants,
// as those that share a log entry do.
type entries struct {
	*fake
	mu   sync.Mutex
	next chan struct{}
}

func (e *entries) Commit(ctx context.Context, _ auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	e.mu.Lock()
	next := e.next
	e.mu.Unlock()
	select {
	case <-next:
		return make([]offset.Verdict, c.Count()), offset.Meta{Cluster: fakeCluster, Index: 7, Leader: "n1:7411"}, nil
	case <-ctx.Done():
		return nil, offset.Meta{}, ctx.Err()
	}
}

func (e *entries) run(every time.Duration, stop chan struct{}) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			e.mu.Lock()
			close(e.next)
			e.next = make(chan struct{})
			e.mu.Unlock()
		}
	}
}

// BenchmarkStream is one stream over loopback with 256 calls of one commit
// under way, against a member that answers all that wait once a millisecond.
func BenchmarkStream(b *testing.B) {
	e := &entries{fake: newFake(), next: make(chan struct{})}
	stop := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { e.run(time.Millisecond, stop) })
	w := start(b, Config{Service: e})
	bidi := w.offsets().Stream(b.Context())
	var sent, answered, messages atomic.Int64
	room := make(chan struct{}, 256)
	b.ReportAllocs()
	b.ResetTimer()
	var receiving sync.WaitGroup
	receiving.Go(func() {
		for answered.Load() < int64(b.N) {
			m, err := bidi.Receive()
			if err != nil {
				b.Error(err)
				return
			}
			messages.Add(1)
			for range m.Replies {
				answered.Add(1)
				<-room
			}
		}
	})
	for sent.Load() < int64(b.N) {
		m := &tidemarkv1.StreamRequest{}
		room <- struct{}{}
		for full := false; !full; {
			m.Calls = append(m.Calls, commitCall(uint64(sent.Add(1)), commitOf("billing", 3, 77)))
			if sent.Load() == int64(b.N) {
				break
			}
			select {
			case room <- struct{}{}:
			default:
				full = true
			}
		}
		if err := bidi.Send(m); err != nil {
			b.Fatal(err)
		}
	}
	receiving.Wait()
	b.StopTimer()
	b.ReportMetric(float64(b.N)/float64(messages.Load()), "replies/message")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	_ = bidi.CloseRequest()
	_ = bidi.CloseResponse()
	close(stop)
	ticking.Wait()
}
