package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/frames/framestest"
)

// mute is the AtIndex of calls that echo never answers.
const mute = 1 << 40

// echo answers each call of fetch at once.
func echo(_ context.Context, s *frames.Server) error {
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

// serve starts a server on loopback that serves streams so, and gives its address.
func serve(tb testing.TB, stream func(context.Context, *frames.Server) error) (stop func(), addr string) {
	tb.Helper()
	h := framestest.New(http.NotFoundHandler(), stream)
	s := httptest.NewServer(h)
	stop = sync.OnceFunc(func() { h.Close(); h.Wait(); s.Close() })
	tb.Cleanup(stop)
	return stop, s.Listener.Addr().String()
}

func TestManyCallersShareOneStream(t *testing.T) {
	_, addr := serve(t, echo)
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
	stop, addr := serve(t, echo)
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
	stop()
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

// TestWhoeverServesSomethingElse: nothing was sent, and the reason is told.
func TestWhoeverServesSomethingElse(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	defer s.Close()
	_, err := Dial(context.Background(), Config{Addr: s.Listener.Addr().String()})
	wantError(t, err, false)
	if !strings.Contains(err.Error(), "404") || !strings.Contains(err.Error(), "is this the API of a node") {
		t.Fatal(err)
	}
}

// TestWhoNeverAgreesIsGivenUp: within the context, unsent.
func TestWhoNeverAgreesIsGivenUp(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // connections wait in its backlog
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, err = Dial(ctx, Config{Addr: l.Addr().String()})
	wantError(t, err, false)
}

// TestAServerThatEndsTheStreamSaysWhy: a call that was taken is unknown, and has
// the reason.
func TestAServerThatEndsTheStreamSaysWhy(t *testing.T) {
	_, addr := serve(t, func(_ context.Context, s *frames.Server) error {
		if _, err := s.Receive(); err != nil {
			return err
		}
		return offset.Errorf(offset.ErrInvalid, "no such message")
	})
	c, err := Dial(context.Background(), Config{Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Do(context.Background(), fetch(1))
	wantError(t, err, true)
	if !errors.Is(err, offset.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "no such message") {
		t.Fatal(err)
	}
}

func BenchmarkDo(b *testing.B) {
	for _, callers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			_, addr := serve(b, echo)
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
