package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is a Stream whose other end is the test. Messages of the connection
// come out of sent, which holds as many as its capacity before Send blocks;
// what the test puts into replies is received.
type script struct {
	sent    chan *tidemarkv1.StreamRequest
	replies chan *tidemarkv1.StreamResponse
	closed  chan struct{}
	once    sync.Once
}

var errScriptClosed = errors.New("script closed")

func newScript(room int) *script {
	return &script{
		sent:    make(chan *tidemarkv1.StreamRequest, room),
		replies: make(chan *tidemarkv1.StreamResponse),
		closed:  make(chan struct{}),
	}
}

func (s *script) Send(m *tidemarkv1.StreamRequest) error {
	kept := &tidemarkv1.StreamRequest{Calls: append([]*tidemarkv1.Call(nil), m.GetCalls()...)}
	select {
	case s.sent <- kept:
		return nil
	case <-s.closed:
		return errScriptClosed
	}
}

func (s *script) Recv() (*tidemarkv1.StreamResponse, error) {
	select {
	case m := <-s.replies:
		return m, nil
	case <-s.closed:
		return nil, errScriptClosed
	}
}

func (s *script) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// dial opens a connection onto s and closes it at the end of the test.
func dial(tb testing.TB, s *script, cfg Config) *Conn {
	tb.Helper()
	cfg.Addr = "node:7411"
	cfg.Dialer = func(context.Context, string) (net.Conn, error) {
		a, b := net.Pipe()
		tb.Cleanup(func() { a.Close(); b.Close() })
		return a, nil
	}
	cfg.Open = func(context.Context, net.Conn, string) (Stream, error) { return s, nil }
	c, err := Dial(context.Background(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

// fetch makes a call that the test can tell by n.
func fetch(n int) *tidemarkv1.Call {
	return &tidemarkv1.Call{Call: &tidemarkv1.Call_Fetch{Fetch: &tidemarkv1.FetchRequest{AtIndex: uint64(n)}}}
}

// answer makes the reply to a call of fetch.
func answer(c *tidemarkv1.Call) *tidemarkv1.Reply {
	return &tidemarkv1.Reply{Id: c.GetId(), Reply: &tidemarkv1.Reply_Fetch{Fetch: &tidemarkv1.FetchResponse{
		Meta: &tidemarkv1.Meta{Index: c.GetFetch().GetAtIndex()},
	}}}
}

// result is what Do gave.
type result struct {
	reply *tidemarkv1.Reply
	err   error
}

// start runs Do(fetch(n)) in the background.
func start(ctx context.Context, c *Conn, n int) <-chan result {
	out := make(chan result, 1)
	go func() {
		r, err := c.Do(ctx, fetch(n))
		out <- result{r, err}
	}()
	return out
}

// check compares a result with the answer to fetch(n).
func (r result) check(n int) error {
	if r.err != nil {
		return r.err
	}
	if got := r.reply.GetFetch().GetMeta().GetIndex(); got != uint64(n) {
		return fmt.Errorf("call %d got the answer of call %d", n, got)
	}
	return nil
}

// wantError checks what Do failed with.
func wantError(tb testing.TB, err error, sent bool) *Error {
	tb.Helper()
	var e *Error
	if !errors.As(err, &e) {
		tb.Fatalf("error is %v (%T), not an *Error", err, err)
	}
	if e.Sent != sent {
		tb.Fatalf("error %v says sent=%t; want %t", err, e.Sent, sent)
	}
	return e
}
