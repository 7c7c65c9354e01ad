package server

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/frames"
)

// framedTo opens a stream to the server, which is closed at the end of the test.
func framedTo(t *testing.T, w *world, authorization string) *frames.Client {
	t.Helper()
	nc, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	c, err := frames.Open(t.Context(), nc, w.addr, authorization, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// answered sends calls and takes their answers, by id; signs of life are passed over.
func answered(t *testing.T, c *frames.Client, list ...*tidemarkv1.Call) map[uint64]*tidemarkv1.Reply {
	t.Helper()
	if err := c.Send(calls(list...)); err != nil {
		t.Fatal(err)
	}
	got := map[uint64]*tidemarkv1.Reply{}
	for len(got) < len(list) {
		m, err := c.Recv()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range m.Replies {
			got[r.Id] = r
		}
	}
	return got
}

// eventually waits until ok holds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func TestFramedStream(t *testing.T) {
	w := start(t, Config{})
	c := framedTo(t, w, "")
	got := answered(t, c, commitCall(1, commitOf("g", 1, 10)), fetchCall(2), commitCall(3, commitOf("g", 1, 11)))
	if o := got[1].GetCommit().GetOffsets(); len(o) != 1 || o[0] != 10 && o[0] != 11 || got[2].GetFetch() == nil || got[3].GetCommit() == nil {
		t.Errorf("%v", got)
	}
	if p := w.fake.seen[0]; p.From == "" {
		t.Errorf("a call of %+v: nobody knows where it came from", p)
	}
	if s := w.Stats(); s.Streams != 1 || s.Connections != 1 {
		t.Errorf("%+v", s)
	}
	c.Close()
	eventually(t, "the stream did not end with its connection", func() bool {
		s := w.Stats()
		return s.Streams == 0 && s.Connections == 0
	})
}

// TestFramedStreamThatBreaks ends the calls under way.
func TestFramedStreamThatBreaks(t *testing.T) {
	f, ended := newFake(), make(chan error, 1)
	f.before = func(ctx context.Context, _ string) error {
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return ctx.Err()
	}
	w := start(t, Config{Service: f})
	c := framedTo(t, w, "")
	if err := c.Send(calls(commitCall(1, commitOf("g", 1, 10)))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call did not come", func() bool { return w.Stats().Calls == 1 })
	c.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the call goes on without its connection")
	}
}

// TestFramedFaultsAreTold: what is no message ends the stream with the reason.
func TestFramedFaultsAreTold(t *testing.T) {
	w := start(t, Config{})
	c := framedTo(t, w, "")
	big := commitOf(strings.Repeat("g", offset.MaxMessage), 1, 1)
	sending := make(chan error, 1)
	go func() { sending <- c.Send(calls(commitCall(1, big))) }()
	_, err := c.Recv()
	if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("a message that is too large: %v", err)
	}
	c.Close()
	<-sending
}

// TestFramedCallersAreKnown: a token that nobody has has each call refused.
func TestFramedCallersAreKnown(t *testing.T) {
	b, secret := &book{}, "secret"
	b.token.Store(&secret)
	w := start(t, Config{Callers: b})
	for authorization, want := range map[string]offset.Code{"Bearer secret": offset.CodeOK, "Bearer guess": offset.CodeDenied} {
		got := answered(t, framedTo(t, w, authorization), commitCall(1, commitOf("g", 1, 10)))
		if code := offset.Code(got[1].GetError().GetCode()); code != want {
			t.Errorf("%s: %v, want %v", authorization, got[1], want)
		}
	}
}

// TestFramedStreamsAtTheStop: they are told, and end when what was taken is
// answered; those that do not end are cut.
func TestFramedStreamsAtTheStop(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f})
	c := framedTo(t, w, "")
	if err := c.Send(calls(commitCall(1, commitOf("g", 1, 10)))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call did not come", func() bool { return w.Stats().Calls == 1 })
	stopped := make(chan error, 1)
	go func() { stopped <- w.Shutdown(t.Context()) }()
	for told := false; !told; {
		m, err := c.Recv()
		if err != nil {
			t.Fatal(err)
		}
		told = m.Closing
	}
	close(g.open)
	for answered := false; ; {
		m, err := c.Recv()
		if err == io.EOF && answered {
			break
		}
		if err != nil {
			t.Fatalf("the stream ended with %v, answered: %v", err, answered)
		}
		answered = answered || len(m.Replies) == 1
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

func TestFramedStreamsAreCutAtTheStop(t *testing.T) {
	f, g := newFake(), gate{make(chan struct{})}
	f.before = g.hold("commit")
	w := start(t, Config{Service: f})
	c := framedTo(t, w, "")
	if err := c.Send(calls(commitCall(1, commitOf("g", 1, 10)))); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the call did not come", func() bool { return w.Stats().Calls == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := w.Shutdown(ctx); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a stop with a call that hangs: %v", err)
	}
	for {
		if _, err := c.Recv(); err != nil {
			return
		}
	}
}
