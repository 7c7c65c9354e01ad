package server

import (
	"context"
	"runtime"
	"time"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// batchBytes is where one message of replies ends; a single reply may be larger.
const batchBytes = 1 << 20

// write sends what is ready until nothing more can come, and returns what the
// stream ends with. Whatever is ready when it comes round travels in one
// message: the busier the stream, the fewer messages.
func (st *stream) write(stall *time.Timer) error {
	life := time.NewTimer(st.srv.limits.KeepAlive)
	life.Stop()
	closing := st.srv.closing
	for {
		batch, open, end := st.next(closing == nil)
		if len(batch) > 0 {
			if err := st.send(stall, batchOf(batch)); err != nil {
				st.sent(batch)
				return err
			}
			st.sent(batch)
			continue
		}
		if end != nil {
			return end.cause
		}
		// Only replies, a first call and a message that takes long to arrive wake this
		// goroutine, so calls that keep arriving do not put the sign of life off.
		busy := open > 0 || st.hold.begun.Load()
		switch life.Stop(); {
		case busy:
			life.Reset(st.srv.limits.KeepAlive)
		case st.idle > 0:
			life.Reset(st.idle)
		}
		var err error
		select {
		case <-st.wake:
			// Calls that share a log entry are answered one by one, and each
			// wakes this goroutine before the next of them has run. Standing
			// back once lets all of them put their replies first.
			runtime.Gosched()
		case <-life.C:
			switch {
			case busy:
				err = st.send(stall, &tidemarkv1.StreamResponse{})
			case !st.hold.begun.Load():
				closing, err = nil, st.close(stall, errIdle)
			}
		case <-closing:
			closing, err = nil, st.close(stall, errStopping)
		case <-st.ctx.Done():
			err = context.Cause(st.ctx)
		}
		if err != nil {
			return err
		}
	}
}

// close tells the peer that no further call is taken; those that come all the same
// are refused with why.
func (st *stream) close(stall *time.Timer, why error) error {
	st.mu.Lock()
	st.refusing = why
	st.mu.Unlock()
	return st.send(stall, &tidemarkv1.StreamResponse{Closing: true})
}

// ending is what a stream ends with: nil for a regular end.
type ending struct{ cause error }

// next takes replies for one message. end is not nil when none is ready and
// none will be; no call is taken from then on. told: the peer knows that the stream
// is closing.
func (st *stream) next(told bool) (batch []reply, open int, end *ending) {
	st.mu.Lock()
	defer st.mu.Unlock()
	n, size := 0, int64(0)
	for n < len(st.replies) && (n == 0 || size < batchBytes) {
		size += sizeOf(st.replies[n].message)
		n++
	}
	batch, st.replies = st.replies[:n:n], st.replies[n:]
	if n > 0 || st.open > 0 || !(st.ended || told) {
		return batch, st.open, nil
	}
	st.over = true
	return nil, 0, &ending{st.cause}
}

// send gives one message to the peer; stall cuts off one that does not read.
func (st *stream) send(stall *time.Timer, m *tidemarkv1.StreamResponse) error {
	stall.Reset(st.srv.limits.Stall)
	defer stall.Stop()
	return st.conduit.Send(m)
}

// sent closes the calls of a batch.
func (st *stream) sent(batch []reply) {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.released(batch)
	signal(st.room)
}

// released gives back what replies hold of the bounds. st.mu is held.
func (st *stream) released(list []reply) {
	for _, r := range list {
		if !r.taken {
			st.srv.admission.unrefuse(r.size)
			continue
		}
		st.open--
		st.srv.admission.release(r.size)
	}
}

func batchOf(list []reply) *tidemarkv1.StreamResponse {
	m := &tidemarkv1.StreamResponse{Replies: make([]*tidemarkv1.Reply, len(list))}
	for i := range list {
		m.Replies[i] = list[i].message
	}
	return m
}
