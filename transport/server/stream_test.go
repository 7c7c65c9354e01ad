package server

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// pipe is a conduit in memory.
type pipe struct {
	in      chan *tidemarkv1.StreamRequest
	out     chan *tidemarkv1.StreamResponse
	readEnd chan struct{} // closed: Receive fails
	cut     chan struct{} // closed: Send fails
}

func newPipe(unread int) *pipe {
	return &pipe{
		in: make(chan *tidemarkv1.StreamRequest), out: make(chan *tidemarkv1.StreamResponse, unread),
		readEnd: make(chan struct{}), cut: make(chan struct{}),
	}
}

func (p *pipe) Receive() (*tidemarkv1.StreamRequest, error) {
	select {
	case m, ok := <-p.in:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-p.readEnd:
		return nil, errors.New("interrupted")
	}
}

func (p *pipe) Send(m *tidemarkv1.StreamResponse) error {
	select {
	case p.out <- m:
		return nil
	case <-p.cut:
		return errors.New("cut off")
	}
}

// serveOn runs a stream over p; the channel gives what it ends with.
func serveOn(ctx context.Context, s *Server, p *pipe) chan error {
	done := make(chan error, 1)
	go func() {
		done <- s.stream(ctx, p, &caller{from: "10.0.0.1:5"}, s.newHold(freeBytes), 0, func() { close(p.readEnd) }, func() { close(p.cut) })
	}()
	return done
}

func fetchCall(id uint64) *tidemarkv1.Call {
	return &tidemarkv1.Call{Id: id, Call: &tidemarkv1.Call_Fetch{Fetch: &tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{keyOf("g", 0)}}}}
}

func commitCall(id uint64, m *tidemarkv1.CommitRequest) *tidemarkv1.Call {
	return &tidemarkv1.Call{Id: id, Call: &tidemarkv1.Call_Commit{Commit: m}}
}

func calls(list ...*tidemarkv1.Call) *tidemarkv1.StreamRequest {
	return &tidemarkv1.StreamRequest{Calls: list}
}

// gate lets the fake's calls of one method wait.
type gate struct{ open chan struct{} }

func (g gate) hold(method string) func(context.Context, string) error {
	return func(ctx context.Context, m string) error {
		if m != method {
			return nil
		}
		select {
		case <-g.open:
			return nil
		case <-ctx.Done():
			return offset.Errorf(offset.ErrOutcomeUnknown, "the wait ended: %v", context.Cause(ctx))
		}
	}
}

func TestRepliesOvertakeAndShareMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(16)
		f.before = g.hold("commit")
		s := New(Config{Service: f})
		done := serveOn(t.Context(), s, p)

		p.in <- calls(commitCall(1, commitOf("g", 0, 5)), fetchCall(2))
		synctest.Wait()
		if m := <-p.out; len(m.Replies) != 1 || m.Replies[0].Id != 2 || m.Replies[0].GetFetch() == nil {
			t.Fatalf("the fetch does not overtake the commit that waits: %v", m)
		}
		for id := uint64(3); id < 100; id++ {
			p.in <- calls(commitCall(id, commitOf("g", int32(id), 5)))
		}
		synctest.Wait()
		close(g.open)
		ids, messages := map[uint64]bool{}, 0
		for len(ids) < 98 {
			m := <-p.out
			messages++
			for _, r := range m.Replies {
				if r.GetCommit() == nil || ids[r.Id] {
					t.Fatalf("reply %v", r)
				}
				ids[r.Id] = true
			}
		}
		t.Logf("98 replies in %d messages", messages)
		if messages > 49 {
			t.Errorf("98 replies that were ready together took %d messages", messages)
		}
		close(p.in)
		if err := <-done; err != nil {
			t.Errorf("the stream ended with %v", err)
		}
		if st := s.Stats(); st.Calls != 0 || st.Bytes != 0 || st.Streams != 0 {
			t.Errorf("after the end %+v", st)
		}
	})
}

func TestSignsOfLifeWhileCallsAreOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(0)
		f.before = g.hold("commit")
		s := New(Config{Service: f})
		done := serveOn(t.Context(), s, p)

		time.Sleep(time.Minute)
		select {
		case m := <-p.out:
			t.Fatalf("an idle stream sent %v", m)
		default:
		}
		start := time.Now()
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		for i := 1; i <= 20; i++ {
			m := <-p.out
			if at := time.Since(start); len(m.Replies) != 0 || m.Closing || at != time.Duration(i)*100*time.Millisecond {
				t.Fatalf("sign of life %d came after %s: %v", i, at, m)
			}
			if i == 10 { // further calls do not put it off
				p.in <- calls(commitCall(2, commitOf("g", 1, 5)))
			}
		}
		close(g.open)
		for answered := 0; answered < 2; {
			answered += len((<-p.out).Replies)
		}
		time.Sleep(time.Minute)
		select {
		case m := <-p.out:
			t.Fatalf("a stream without open calls sent %v", m)
		default:
		}
		close(p.in)
		<-done
	})
}

func TestFullStreamIsBusyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(16)
		f.before = g.hold("commit")
		s := New(Config{Service: f, Limits: Limits{CallsPerStream: 3}})
		done := serveOn(t.Context(), s, p)
		for id := uint64(1); id <= 4; id++ {
			p.in <- calls(commitCall(id, commitOf("g", int32(id), 5)))
		}
		m := <-p.out
		if e := m.Replies[0].GetError(); m.Replies[0].Id != 4 || e.GetCode() != uint32(offset.CodeBusy) {
			t.Fatalf("the fourth of three calls got %v", m)
		}
		close(g.open)
		for answered := 0; answered < 3; {
			answered += len((<-p.out).Replies)
		}
		synctest.Wait() // places are given back after replies were sent
		p.in <- calls(fetchCall(5))
		if m := <-p.out; m.Replies[0].GetFetch() == nil {
			t.Errorf("with room again: %v", m)
		}
		close(p.in)
		<-done
		if n := s.Stats().Busy; n != 1 {
			t.Errorf("busy was counted %d times", n)
		}
	})
}

func TestBoundsOnAllStreamsTogether(t *testing.T) {
	for name, limits := range map[string]Limits{
		"calls": {Calls: 1},
		"bytes": {Bytes: weigh(commitCall(1, commitOf("g", 0, 5)))},
	} {
		synctest.Test(t, func(t *testing.T) {
			f, g := newFake(), gate{make(chan struct{})}
			f.before = g.hold("commit")
			s := New(Config{Service: f, Limits: limits})
			one, two := newPipe(4), newPipe(4)
			first, second := serveOn(t.Context(), s, one), serveOn(t.Context(), s, two)
			one.in <- calls(commitCall(1, commitOf("g", 0, 5)))
			synctest.Wait()
			two.in <- calls(fetchCall(1))
			if e := (<-two.out).Replies[0].GetError(); e.GetCode() != uint32(offset.CodeBusy) {
				t.Errorf("%s: got %v", name, e)
			}
			close(g.open)
			<-one.out
			synctest.Wait() // the place is given back after the reply was sent
			two.in <- calls(fetchCall(2))
			if r := (<-two.out).Replies[0]; r.GetFetch() == nil {
				t.Errorf("%s: with room again %v", name, r)
			}
			close(one.in)
			close(two.in)
			<-first
			<-second
			if st := s.Stats(); st.Calls != 0 || st.Bytes != 0 {
				t.Errorf("%s: after the end %+v", name, st)
			}
		})
	}
}

func TestClosingAnswersWhatWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(16)
		f.before = g.hold("commit")
		s := New(Config{Service: f})
		done := serveOn(t.Context(), s, p)
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		synctest.Wait()
		if err := s.Shutdown(t.Context()); err != nil { // no HTTP request is served here
			t.Fatal(err)
		}
		if m := <-p.out; !m.Closing {
			t.Fatalf("after Shutdown: %v", m)
		}
		p.in <- calls(fetchCall(2))
		if r := (<-p.out).Replies[0]; r.Id != 2 || r.GetError().GetCode() != uint32(offset.CodeNotReady) {
			t.Fatalf("a call after closing got %v", r)
		}
		close(g.open)
		if r := (<-p.out).Replies[0]; r.Id != 1 || r.GetCommit().GetOffsets()[0] != 5 {
			t.Fatalf("the call taken before got %v", r)
		}
		if err := <-done; err != nil {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

func TestHalfClosedStreamIsAnsweredToTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(16)
		f.before = g.hold("commit")
		done := serveOn(t.Context(), New(Config{Service: f}), p)
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		close(p.in)
		synctest.Wait()
		close(g.open)
		if r := (<-p.out).Replies[0]; r.GetCommit() == nil {
			t.Errorf("reply %v", r)
		}
		if err := <-done; err != nil {
			t.Errorf("the stream ended with %v", err)
		}
	})
}

func TestBrokenStreamEndsItsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(16)
		f.before = g.hold("commit")
		ctx, cancel := context.WithCancel(t.Context())
		s := New(Config{Service: f})
		done := serveOn(ctx, s, p)
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("the stream ended with %v", err)
		}
		if st := s.Stats(); st.Calls != 0 || st.Bytes != 0 {
			t.Errorf("after the end %+v", st)
		}
	})
}

func TestPeerThatDoesNotReadIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, p := newFake(), newPipe(0)
		s := New(Config{Service: f})
		done := serveOn(t.Context(), s, p)
		start := time.Now()
		p.in <- calls(fetchCall(1))
		err := <-done
		if err == nil || time.Since(start) != DefaultLimits().Stall || s.Stats().Stalled != 1 {
			t.Errorf("ended with %v after %s, %+v", err, time.Since(start), s.Stats())
		}
		if st := s.Stats(); st.Calls != 0 || st.Bytes != 0 {
			t.Errorf("after the end %+v", st)
		}
	})
}

// A peer that sends without end what is refused, and reads nothing, is not
// read from without end.
func TestRefusalsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(0)
		f.before = g.hold("commit")
		s := New(Config{Service: f, Limits: Limits{CallsPerStream: 2}})
		done := serveOn(t.Context(), s, p)
		sent := 0
		for deadline := time.After(DefaultLimits().Stall / 2); ; sent++ {
			select {
			case p.in <- calls(commitCall(uint64(sent), commitOf("g", int32(sent), 1))):
				continue
			case <-deadline:
			}
			break
		}
		if sent > 20 {
			t.Errorf("%d messages were read from a peer that reads nothing", sent)
		}
		// It reads again, and is read from again.
		close(g.open)
		go func() {
			for range p.out {
			}
		}()
		for range 20 {
			p.in <- calls(fetchCall(1))
		}
		close(p.in)
		if err := <-done; err != nil {
			t.Errorf("the stream ended with %v", err)
		}
		close(p.out)
	})
}

func TestPanicOfACallIsItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, p := newFake(), newPipe(16)
		f.before = func(_ context.Context, method string) error {
			if method == "commit" {
				panic("broken\nhandler")
			}
			return nil
		}
		var seen []Call
		s := New(Config{Service: f, Observe: func(c Call) { seen = append(seen, c) }})
		done := serveOn(t.Context(), s, p)
		p.in <- calls(commitCall(1, commitOf("g", 0, 5)))
		if e := (<-p.out).Replies[0].GetError(); e.GetCode() != uint32(offset.CodeOutcomeUnknown) {
			t.Errorf("the call that panicked got %v", e)
		}
		p.in <- calls(fetchCall(2))
		if r := (<-p.out).Replies[0]; r.GetFetch() == nil {
			t.Errorf("the next call got %v", r)
		}
		close(p.in)
		<-done
		if n := s.Stats().Panics; n != 1 {
			t.Errorf("%d panics were counted", n)
		}
		want := []Call{{Method: "commit", Items: 1, Code: offset.CodeOutcomeUnknown}, {Method: "fetch", Items: 1}}
		if !slices.Equal(seen, want) {
			t.Errorf("observed %v, want %v", seen, want)
		}
	})
}

// brokenPipe panics where the transport decodes.
type brokenPipe struct{ *pipe }

func (brokenPipe) Receive() (*tidemarkv1.StreamRequest, error) { panic("broken decoder") }

func TestPanicsBesideTheCallsEndNoProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Config{Service: newFake(), Observe: func(Call) { panic("broken observer") }})
		p := newPipe(16)
		done := serveOn(t.Context(), s, p)
		p.in <- calls(fetchCall(1))
		if e := (<-p.out).Replies[0].GetError(); e.GetCode() != uint32(offset.CodeOutcomeUnknown) {
			t.Errorf("the call got %v", e)
		}
		close(p.in)
		<-done

		q := brokenPipe{newPipe(16)}
		err := s.stream(t.Context(), q, &caller{}, s.newHold(freeBytes), 0, func() {}, func() {})
		if err = wire.FromConnectError(err); !errors.Is(err, offset.ErrOutcomeUnknown) || s.Stats().Panics != 2 {
			t.Errorf("the stream ended with %v, %d panics", err, s.Stats().Panics)
		}
	})
}

func TestCallsThatMakeNoSense(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipe(16)
		done := serveOn(t.Context(), New(Config{Service: newFake()}), p)
		for name, call := range map[string]*tidemarkv1.Call{
			"empty":       {Id: 1},
			"no commits":  commitCall(1, &tidemarkv1.CommitRequest{ClusterId: fakeCluster.String()}),
			"nil request": {Id: 1, Call: &tidemarkv1.Call_Set{}},
			"bad cluster": commitCall(1, &tidemarkv1.CommitRequest{ClusterId: "x"}),
		} {
			p.in <- calls(call)
			if e := (<-p.out).Replies[0].GetError(); e.GetCode() != uint32(offset.CodeInvalid) || e.GetText() == "" {
				t.Errorf("%s: got %v", name, e)
			}
		}
		close(p.in)
		<-done
	})
}

// Calls of one message keep to their own timeouts, whatever their neighbours name.
func TestDeadlinesWithinOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, g, p := newFake(), gate{make(chan struct{})}, newPipe(1000)
		f.before = g.hold("commit")
		done := serveOn(t.Context(), New(Config{Service: f}), p)
		asked := []uint32{300, 300, 100, 300, 200, 200}
		var list []*tidemarkv1.Call
		for i, ms := range asked {
			m := commitOf("g", int32(i), 5)
			m.TimeoutMs = ms
			list = append(list, commitCall(uint64(i), m))
		}
		start := time.Now()
		p.in <- calls(list...)
		for answered := 0; answered < len(asked); {
			for _, r := range (<-p.out).Replies {
				answered++
				if took, want := time.Since(start), time.Duration(asked[r.Id])*time.Millisecond; took != want {
					t.Errorf("call %d was given up after %s, want %s", r.Id, took, want)
				}
			}
		}
		close(p.in)
		<-done
	})
}

func TestEachCallHasItsDeadline(t *testing.T) {
	for _, c := range []struct {
		asked uint32
		want  time.Duration
	}{{0, 5 * time.Second}, {50, 50 * time.Millisecond}, {4_000_000_000, time.Minute}} {
		synctest.Test(t, func(t *testing.T) {
			f, g, p := newFake(), gate{make(chan struct{})}, newPipe(1000)
			f.before = g.hold("commit")
			done := serveOn(t.Context(), New(Config{Service: f}), p)
			m := commitOf("g", 0, 5)
			m.TimeoutMs = c.asked
			start := time.Now()
			p.in <- calls(commitCall(1, m))
			for {
				m := <-p.out
				if len(m.Replies) == 0 {
					continue
				}
				e := m.Replies[0].GetError()
				if took := time.Since(start); took != c.want || e.GetCode() != uint32(offset.CodeOutcomeUnknown) || !strings.Contains(e.GetText(), "deadline") {
					t.Errorf("timeout_ms %d: %v after %s, want %s", c.asked, e, took, c.want)
				}
				break
			}
			close(p.in)
			<-done
		})
	}
}
