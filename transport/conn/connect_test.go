package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
)

// echo serves the stream over Connect: it answers each call of fetch at once.
// Calls with AtIndex mute are never answered.
type echo struct {
	tidemarkv1connect.UnimplementedOffsetServiceHandler
}

const mute = 1 << 40

func (echo) Stream(_ context.Context, s *connect.BidiStream[tidemarkv1.StreamRequest, tidemarkv1.StreamResponse]) error {
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
			if c.GetFetch().GetAtIndex() != mute {
				r.Replies = append(r.Replies, answer(c))
			}
		}
		if err := s.Send(r); err != nil {
			return err
		}
	}
}

// serve starts an HTTP/2 server in cleartext on loopback and gives its address.
func serve(tb testing.TB, h tidemarkv1connect.OffsetServiceHandler) (*http.Server, string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(tidemarkv1connect.NewOffsetServiceHandler(h))
	s := &http.Server{Handler: mux, Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	s.Protocols.SetHTTP1(true)
	var done sync.WaitGroup
	done.Go(func() { _ = s.Serve(l) })
	tb.Cleanup(func() { s.Close(); done.Wait() })
	return s, l.Addr().String()
}

func TestManyCallersShareOneConnectStream(t *testing.T) {
	_, addr := serve(t, echo{})
	c, err := Dial(context.Background(), Config{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	errs := make(chan error, 64)
	for g := range 64 {
		go func() {
			for i := range 100 {
				n := g*1000 + i
				r, err := c.Do(context.Background(), fetch(n))
				if err := (result{r, err}).check(n); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	for range 64 {
		if err := <-errs; err != nil {
			t.Fatal(err)
		}
	}
}

func TestServerThatDiesEndsCallsAtOnce(t *testing.T) {
	s, addr := serve(t, echo{})
	c, err := Dial(context.Background(), Config{Addr: addr, Silence: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if r, err := c.Do(context.Background(), fetch(1)); err != nil || r.GetFetch() == nil {
		t.Fatalf("a first call: %v, %v", r, err)
	}
	got := start(context.Background(), c, mute)
	for queued := 0; queued == 0; runtime.Gosched() {
		c.mu.Lock()
		queued = len(c.open)
		c.mu.Unlock()
	}
	if r, err := c.Do(context.Background(), fetch(2)); err != nil { // behind the mute one, so that is there
		t.Fatalf("a second call: %v, %v", r, err)
	}
	s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	select {
	case r := <-got:
		wantError(t, r.err, true)
	case <-ctx.Done():
		t.Fatal("the call did not end with its server")
	}
	<-c.Refusing()
}

func TestWhoeverServesSomethingElseEndsTheCallWithAReason(t *testing.T) {
	_, addr := serve(t, tidemarkv1connect.UnimplementedOffsetServiceHandler{})
	c, err := Dial(context.Background(), Config{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Do(context.Background(), fetch(1))
	wantError(t, err, true)
	if !errors.Is(err, offset.ErrOutcomeUnknown) {
		t.Fatal(err)
	}
}

func BenchmarkDo(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			_, addr := serve(b, echo{})
			c, err := Dial(context.Background(), Config{Addr: addr})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			var all sync.WaitGroup
			work := make(chan struct{}, b.N)
			for range b.N {
				work <- struct{}{}
			}
			close(work)
			b.ResetTimer()
			for range callers {
				all.Go(func() {
					for range work {
						if _, err := c.Do(context.Background(), fetch(1)); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}
