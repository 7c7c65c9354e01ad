package conn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
	"github.com/tidemark-mq/tidemark/transport/frames/framestest"
	"github.com/tidemark-mq/tidemark/transport/wire"
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
	<-c.refusing
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

// TestTheLargestAnswerIsTaken: all commits of a request refused, each with its key,
// and as much again of other answers as the server lets travel with it.
func TestTheLargestAnswerIsTaken(t *testing.T) {
	name := strings.Repeat("n", offset.MaxName)
	topic := offset.TopicCommits{Group: name, Topic: name, Broker: name}
	verdict := offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{
		Exists: true, Epoch: math.MaxUint64, Claim: math.MaxUint64,
		Position: offset.Position{Offset: math.MaxInt64, Index: math.MaxUint64, Epoch: math.MaxUint64, Time: math.MaxInt64, Pending: true},
	}}
	for i := range int32(offset.MaxCommits) {
		topic.Queues = append(topic.Queues, offset.QueueCommit{QueueID: math.MaxInt32 - i, Offset: 1, Epoch: 1})
	}
	commits := &offset.Commits{Topics: []offset.TopicCommits{topic}}
	largest := wire.ToCommitResponse(commits, slices.Repeat([]offset.Verdict{verdict}, offset.MaxCommits), nil)
	_, addr := serve(t, func(_ context.Context, s *frames.Server) error {
		m, err := s.Receive()
		if err != nil {
			return err
		}
		others := &tidemarkv1.Reply{Id: 1 << 40, Reply: &tidemarkv1.Reply_Error{Error: &tidemarkv1.Error{Text: strings.Repeat("x", 1<<20)}}}
		answer := &tidemarkv1.Reply{Id: m.Calls[0].Id, Reply: &tidemarkv1.Reply_Commit{Commit: largest}}
		if err := s.Send(&tidemarkv1.StreamResponse{Replies: []*tidemarkv1.Reply{others, answer}}); err != nil {
			return err
		}
		_, err = s.Receive()
		return err
	})
	c, err := Dial(t.Context(), Config{Addr: addr, Silence: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r, err := c.Do(t.Context(), wire.ToCommitCall(commits, 0))
	if n := len(r.GetCommit().GetRefused()); err != nil || n != offset.MaxCommits {
		t.Errorf("%d refusals, %v; want %d", n, err, offset.MaxCommits)
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
