package client

import (
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// InFlight is one message of a queue that was fetched and is not yet consumed.
type InFlight[M any] struct {
	// Offset is its place in the queue.
	Offset int64
	// Message is the application's; struct{} where it keeps messages itself.
	Message M
}

// ProcessQueue holds the messages of one queue that are in flight, and says
// which offset is safe to commit: RocketMQ's class of that name. Messages may
// be completed in any order; the offset is the lowest that is not complete, or
// the one after that put last once all are.
//
// A consumer uses it in one of two ways. Concurrently: Put what was fetched,
// Begin what is handed to a worker, Complete or Ack what is consumed. Orderly,
// by one worker at a time: Put, Take, and then Commit, Rollback or MakeAgain.
//
// With WithCommitTo each completion updates an OffsetStore in the same moment,
// and Drop ends that: once it has returned, nothing of this queue reaches the
// store any more, however late a worker comes.
//
// All methods may be called from any goroutine, and none blocks. A completion
// costs as much with a hundred thousand messages in flight as with ten.
type ProcessQueue[M any] struct {
	set queueSettings

	mu sync.Mutex
	// The fields below belong to mu.

	line    line[M]
	dropped bool
	// last is the offset that was put last; not the highest, so that after a
	// step back nothing between the two counts as consumed.
	last int64
	// taken are the offsets that the orderly worker has.
	taken []int64
	// consuming: a worker was told to begin (orderly), and has not found the queue empty since.
	consuming bool
	pulled    time.Time
}

// QueueOption changes one setting of a ProcessQueue. A nil one changes nothing,
// and one that sets nothing, or less than that, is the default.
type QueueOption func(*queueSettings)

type queueSettings struct {
	store       OffsetStore
	mq          offset.MessageQueue
	maxSpan     int64
	maxMessages int
	capacity    int
	consumeTime time.Duration
	pullTime    time.Duration
	clock       Clock
}

// WithCommitTo makes each completion update mq in store: only upwards by
// Complete and Ack, to just this offset by Commit, as RocketMQ does. The store
// is called with the queue's lock held; its UpdateOffset must not block.
func WithCommitTo(store OffsetStore, mq offset.MessageQueue) QueueOption {
	return func(s *queueSettings) { s.store, s.mq = store, mq }
}

// WithMaxSpan is the distance from the lowest to the highest offset in flight
// above which QueueState.TooWide says to stop fetching; the default is
// RocketMQ's 2,000. It is what a message that hangs leads to.
func WithMaxSpan(n int64) QueueOption { return func(s *queueSettings) { s.maxSpan = n } }

// WithMaxMessages is the number of messages in flight above which
// QueueState.TooMany says to stop fetching; the default is RocketMQ's 1,000.
func WithMaxMessages(n int) QueueOption { return func(s *queueSettings) { s.maxMessages = n } }

// WithCapacity is how many messages, consumed ones after a hanging one
// included, Put takes at most; the default is 65,536. A consumer that heeds
// TooWide and TooMany never gets there.
func WithCapacity(n int) QueueOption { return func(s *queueSettings) { s.capacity = n } }

// WithConsumeTimeout is how long after Begin a message is Expired; the default
// is RocketMQ's 15 minutes.
func WithConsumeTimeout(d time.Duration) QueueOption {
	return func(s *queueSettings) { s.consumeTime = d }
}

// WithPullTimeout is how long after the last Pulled QueueState.PullExpired is
// set; the default is RocketMQ's 120 s.
func WithPullTimeout(d time.Duration) QueueOption { return func(s *queueSettings) { s.pullTime = d } }

// WithQueueClock replaces the clock; the default is the real one.
func WithQueueClock(c Clock) QueueOption { return func(s *queueSettings) { s.clock = c } }

// NewProcessQueue returns an empty queue.
func NewProcessQueue[M any](opts ...QueueOption) *ProcessQueue[M] {
	q := &ProcessQueue[M]{}
	for _, o := range opts {
		if o != nil {
			o(&q.set)
		}
	}
	q.set.fill()
	q.pulled = q.set.clock.Now()
	return q
}

// fill puts defaults where an option has set nothing that can be used.
func (s *queueSettings) fill() {
	s.maxSpan = positive(s.maxSpan, 2000)
	s.maxMessages = positive(s.maxMessages, 1000)
	s.capacity = positive(s.capacity, 1<<16)
	s.consumeTime = positive(s.consumeTime, 15*time.Minute)
	s.pullTime = positive(s.pullTime, 2*time.Minute)
	if s.clock == nil {
		s.clock = realClock{}
	}
}

// Put takes messages that were fetched, all or none. One whose offset is in
// flight already replaces nothing and is passed over. In the orderly way,
// dispatch says to start a worker, which then calls Take until it gives none.
//
// The error wraps offset.ErrDropped for a queue that is not ours any more,
// offset.ErrLimit if there is no room, offset.ErrInvalid for a negative offset.
func (q *ProcessQueue[M]) Put(list ...InFlight[M]) (dispatch bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.dropped:
		return false, offset.Errorf(offset.ErrDropped, "the queue belongs to another consumer now; forget these messages")
	case q.line.len()+len(list) > q.set.capacity:
		return false, offset.Errorf(offset.ErrLimit, "%d messages are in flight, or consumed after one that is; at most %d fit. Fetch again once they are consumed", q.line.len(), q.set.capacity)
	}
	for _, m := range list {
		if m.Offset < 0 {
			return false, offset.Errorf(offset.ErrInvalid, "offset %d of a message is negative", m.Offset)
		}
	}
	for _, m := range list {
		if q.line.put(m) {
			q.last = m.Offset
		}
	}
	if q.line.waiting > 0 && !q.consuming {
		q.consuming, dispatch = true, true
	}
	return dispatch, nil
}

// Begin notes that messages are being consumed from now on, which Expired
// counts from; offsets that are not in flight are passed over.
func (q *ProcessQueue[M]) Begin(offsets ...int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.set.clock.Now()
	for _, o := range offsets {
		if s := q.line.find(o); s != nil && s.state != done {
			s.begun = now
		}
	}
}

// Complete takes messages out that were consumed, and gives the offset that is
// safe to commit. ok is false, and there is nothing to commit, if the queue was
// dropped or held no message.
func (q *ProcessQueue[M]) Complete(offsets ...int64) (next int64, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.completeLocked(offsets)
}

func (q *ProcessQueue[M]) completeLocked(offsets []int64) (next int64, ok bool) {
	if q.dropped || q.line.count == 0 {
		return 0, false
	}
	for _, o := range offsets {
		q.line.finish(o)
	}
	next = q.safeLocked()
	q.commitLocked(next, true)
	return next, true
}

// safeLocked gives the offset that is safe to commit.
func (q *ProcessQueue[M]) safeLocked() int64 {
	if first, ok := q.line.first(); ok {
		return first
	}
	return q.last + 1
}

func (q *ProcessQueue[M]) commitLocked(next int64, increaseOnly bool) {
	if q.set.store != nil {
		q.set.store.UpdateOffset(q.set.mq, next, increaseOnly)
	}
}

// Ack completes the front of a batch: batch[0] to batch[ackIndex], none for a
// negative ackIndex, all for one beyond the end. The rest failed and stays in
// flight: send it back, or hand it out again, and Complete it then.
// next and ok are those of Complete.
func (q *ProcessQueue[M]) Ack(batch []int64, ackIndex int) (next int64, ok bool, failed []int64) {
	n := min(max(ackIndex, -1), len(batch)-1) + 1
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.dropped {
		return 0, false, nil
	}
	next, ok = q.completeLocked(batch[:n])
	for _, o := range batch[n:] {
		if s := q.line.find(o); s != nil && s.state != done {
			failed = append(failed, o)
		}
	}
	return next, ok, failed
}

// mostExpired is how many messages Expired gives at a time, as RocketMQ does.
const mostExpired = 16

// Expired gives the messages at the front that have been consumed for longer
// than the consume timeout, 16 at most, for the application to send back and
// Complete, so that one that hangs does not hold up the offset for ever. It
// ends at the first that is not.
func (q *ProcessQueue[M]) Expired() (list []InFlight[M]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	since := q.set.clock.Now().Add(-q.set.consumeTime)
	q.line.each(func(s *slot[M]) bool {
		if s.begun.IsZero() || !s.begun.Before(since) || len(list) == mostExpired {
			return false
		}
		list = append(list, s.InFlight)
		return true
	})
	return list
}

// Drop gives the queue up: it forgets its messages, and from the moment Drop
// returns no completion gives an offset or reaches the store. Persist and
// remove the queue in the store after it, not before.
func (q *ProcessQueue[M]) Drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped, q.line, q.taken = true, line[M]{}, nil
}

// Pulled notes that the queue was fetched from, with or without a message.
func (q *ProcessQueue[M]) Pulled() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.pulled = q.set.clock.Now()
}

// QueueState is the state of a ProcessQueue, and what a consumer should do.
type QueueState struct {
	// Messages counts those in flight; First and Last are their lowest and
	// highest offset, Span the distance. All are 0 if there is none.
	Messages          int
	First, Last, Span int64
	// TooWide and TooMany say to stop fetching until messages were consumed.
	TooWide, TooMany bool
	// Expired: a message at the front is consumed for too long; call Expired.
	Expired bool
	// PullExpired: nothing was fetched for too long; drop the queue and start again.
	PullExpired bool
	// Dropped: the queue belongs to another consumer.
	Dropped bool
}

// State gives the state of the queue.
func (q *ProcessQueue[M]) State() QueueState {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.set.clock.Now()
	s := QueueState{Dropped: q.dropped, Messages: q.line.count, PullExpired: now.Sub(q.pulled) > q.set.pullTime}
	front := q.line.front()
	if front == nil {
		return s
	}
	s.First, s.Last = front.Offset, q.line.back()
	s.Span = s.Last - s.First
	s.TooWide, s.TooMany = s.Span > q.set.maxSpan, s.Messages > q.set.maxMessages
	s.Expired = !front.begun.IsZero() && now.Sub(front.begun) > q.set.consumeTime
	return s
}
