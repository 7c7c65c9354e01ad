package rocketmqgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// OutOfRange says where a queue goes on whose position the broker does not
// have. Each is stored as the deliberate change that it is, also where it lowers.
type OutOfRange uint8

// Where to go on.
const (
	// Nearest: at the oldest message if the position is before it (retention
	// has passed it), at the end if it is beyond (the log lost its tail, or the
	// topic was made anew).
	Nearest OutOfRange = iota
	// Oldest: at the oldest message; much may be repeated.
	Oldest
	// Newest: at the end; what is there now is skipped.
	Newest
	// Stop: nowhere. Poll returns the error once, and the queue rests until an
	// operator moves it or it is assigned anew.
	Stop
)

// refused moves a queue whose position the broker did not take: into the
// queue's range, or, where it is in range, to where the broker says, which is
// a reset made at the broker. It ends this part, and begins another.
func (p *part) refused(at int64, r *primitive.PullResult) error {
	why := fmt.Errorf("the broker moves it from %d to %d; it holds %d to %d", at, r.NextBeginOffset, r.MinOffset, r.MaxOffset)
	outside := at < r.MinOffset || at > r.MaxOffset
	if outside && p.c.cfg.OutOfRange == Stop {
		p.queue.Drop()
		p.c.report(fmt.Errorf("queue %d of %s at %s rests until it is moved: %w", p.mq.QueueID, p.mq.Topic, p.mq.Broker, why))
		return errGone
	}
	p.c.begin(p.mq, p, func(p *part) (int64, error) {
		to := r.NextBeginOffset
		if outside {
			to = p.inRange(r)
		}
		p.c.update(p, to, false)
		p.c.moved(Move{Queue: p.mq, To: to, Why: why})
		return to, nil
	})
	return errGone
}

// inRange gives the place that the policy chooses.
func (p *part) inRange(r *primitive.PullResult) int64 {
	switch p.c.cfg.OutOfRange {
	case Oldest:
		return r.MinOffset
	case Newest:
		return r.MaxOffset
	}
	ctx, cancel := context.WithTimeout(p.c.ctx, callTime)
	defer cancel()
	at, err := p.c.store.ReadOffset(ctx, p.mq, client.ReadFromMemory)
	if err != nil { // removed meanwhile: a fence follows
		return r.MinOffset
	}
	return max(r.MinOffset, min(at, r.MaxOffset))
}

// ends asks the broker for the ends of queues.
type ends struct{ c *Consumer }

var _ client.QueueEnds = ends{}

// beyond is a position that no queue has: the refusal of it tells the ends.
const beyond = 1 << 62

// MaxOffset is the offset that the queue's next message will get.
func (e ends) MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	q := rocketmqOf(mq)
	r, err := e.c.pull.PullFrom(ctx, &q, beyond, 1)
	switch {
	case err != nil:
		return 0, err
	case r.Status != primitive.PullOffsetIllegal:
		return 0, errors.New("the broker did not tell the end of the queue")
	}
	return r.MaxOffset, nil
}

// SearchOffset is the offset of the first message of that time or later.
func (e ends) SearchOffset(_ context.Context, mq offset.MessageQueue, at time.Time) (int64, error) {
	q := rocketmqOf(mq)
	return e.c.pull.OffsetForTimestamp(&q, at.UnixMilli())
}
