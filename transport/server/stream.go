package server

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// conduit is what a stream needs of its transport. One goroutine receives and
// one sends. A message that comes with offset.ErrBusy, as there was no room for it,
// has the ids of its calls alone. connect.BidiStream is one, upgraded another.
type conduit interface {
	Receive() (*tidemarkv1.StreamRequest, error)
	Send(*tidemarkv1.StreamResponse) error
}

// Stream serves calls that travel together; see stream.
func (o offsets) Stream(ctx context.Context, bidi *connect.BidiStream[tidemarkv1.StreamRequest, tidemarkv1.StreamResponse]) error {
	d := deadlinesOf(ctx)
	return toConnect(o.srv.stream(ctx, bidi, callerIn(ctx), holdOf(ctx), o.srv.limits.Idle, d.interrupt, d.cutOff))
}

// stream is one stream: the goroutine of its handler writes, one reads, and
// each call under way has one of its own. The handler returns when all of them
// have.
//
// A call is open from when it is taken until its reply was given to the
// conduit; so a peer that does not read runs into the bounds on open calls,
// and, where it continues to send what is refused, is no longer read from.
type stream struct {
	srv     *Server
	conduit conduit
	caller  *caller
	// hold is what the message being read holds of the bounds. crowded is not nil
	// once there was no room for a refusal, which it is. Both are the reader's; the
	// writer only looks whether a message has begun.
	hold    *hold
	crowded error
	// idle is after how long without a call the stream ends; 0: never.
	idle time.Duration

	ctx   context.Context // ends with the stream; all calls run under it
	calls sync.WaitGroup

	// wake has an element when the writer has something to look at, room when
	// replies were sent.
	wake, room chan struct{}

	mu sync.Mutex
	// replies are those not sent yet, in the order they were ready.
	replies []reply
	// open is how many calls were taken and their replies not sent.
	open int
	// ended: nothing more will be read; cause says why, nil for a peer that
	// has said that it is done.
	ended bool
	cause error
	// refusing is what further calls are refused with, once the stream is closing.
	// over: the writer has sent its last; further calls are dropped, not taken.
	refusing error
	over     bool
}

// reply is an answer with what its call holds of the bounds: if that was refused,
// and so not taken, the memory of the refusal.
type reply struct {
	message *tidemarkv1.Reply
	taken   bool
	size    int64
}

// stream serves one stream to its end, which comes once it has been idle for so long
// (0: it may be for ever). interrupt ends a Receive that is under way, cutOff a Send.
func (s *Server) stream(ctx context.Context, c conduit, who *caller, h *hold, idle time.Duration, interrupt, cutOff func()) error {
	s.counters.streams.Add(1)
	defer s.counters.streams.Add(-1)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	st := &stream{
		srv: s, conduit: c, caller: who, hold: h, idle: idle, ctx: ctx,
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	stall := stopped(func() {
		s.counters.stalled.Add(1)
		cancel(errStalled)
		cutOff()
	})
	h.slow = stopped(func() { signal(st.wake) })

	read := make(chan struct{})
	go func() {
		defer close(read)
		st.read()
	}()
	err := st.write(stall)
	cancel(errEnded)
	interrupt()
	<-read
	st.calls.Wait()
	st.giveBack()
	return err
}

var (
	errStalled = offset.Errorf(offset.ErrBusy, "the peer did not read its answers")
	errLate    = offset.Errorf(offset.ErrBusy, "a message of the stream began, and did not arrive whole in time")
	errIdle    = offset.Errorf(offset.ErrNotReady, "the stream had no calls for too long, and ends; open another")
	errEnded   = errors.New("the stream has ended") // also the answer of admit when no other can be sent any more
)

// giveBack releases what is held by replies that were never sent.
func (st *stream) giveBack() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.released(st.replies)
	st.replies = nil
}

// stopped is a timer that does not run yet.
func stopped(f func()) *time.Timer {
	t := time.AfterFunc(time.Hour, f)
	t.Stop()
	return t
}

// signal makes sure that c has an element; it never waits.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// endOf reads what a Receive failed with: nil for the peer's regular end.
func endOf(err error, limit int) error {
	busy := wire.FromConnectError(err)
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case errors.Is(busy, offset.ErrBusy):
		return busy
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errLate
	case connect.CodeOf(err) == connect.CodeResourceExhausted:
		return offset.Errorf(offset.ErrInvalid, "a message of the stream is too large; at most %d bytes are taken, so split it", limit)
	case connect.CodeOf(err) == connect.CodeInvalidArgument:
		return offset.Errorf(offset.ErrInvalid, "a message of the stream cannot be read: %s", err)
	}
	return err
}
