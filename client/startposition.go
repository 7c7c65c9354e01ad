package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// ConsumeFrom says where a group begins on a queue that it has no offset of:
// RocketMQ's ConsumeFromWhere. The zero value is RocketMQ's default.
type ConsumeFrom uint8

// Where a group begins.
const (
	// FromLast: after the newest message.
	FromLast ConsumeFrom = iota
	// FromFirst: at 0, which a broker corrects to the oldest message that it has.
	FromFirst
	// FromTimestamp: at the first message of a time.
	FromTimestamp
)

// retryPrefix begins the name of a group's retry topic, namespace included.
const retryPrefix = "%RETRY%"

// defaultBack is how far back FromTimestamp begins without a time.
const defaultBack = 30 * time.Minute

// QueueEnds knows the messages themselves: it is a RocketMQ client, as a rule, whose
// requests 30 and 29 these are.
type QueueEnds interface {
	// MaxOffset is the offset that the queue's next message will get.
	MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error)
	// SearchOffset is the offset of the first message stored at that time or later.
	SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error)
}

// Start says where a group begins. The zero value is a push consumer's default.
type Start struct {
	From ConsumeFrom
	// At is the time of FromTimestamp; zero is 30 minutes ago.
	At time.Time
	// MemoryFirst reads the store's memory before the store, as RocketMQ's lite
	// pull consumer does. A push consumer asks the store, always.
	MemoryFirst bool
	// Clock gives the time for a zero At; nil is the real one.
	Clock Clock
}

// StartPosition gives the offset that a queue's first fetch begins at, as
// RocketMQ's computePullFromWhere does:
//
//	store has               FromLast    FromFirst  FromTimestamp
//	an offset               it          it         it
//	none                    MaxOffset   0          SearchOffset
//	none, a retry topic     0           0          MaxOffset
//	could not be asked      the error   the error  the error
//
// Remove the queue from the store's memory first (RemoveOffset), so that what
// an earlier owner left there does not count. On an error the queue must not be
// consumed; try again. The error is that of store or ends, or wraps
// offset.ErrInvalid for a ConsumeFrom that does not exist or an answer of ends
// that is negative. ends is not asked where the table does not say so, and may
// be nil if nothing is to be asked; else that is offset.ErrInvalid, too.
func StartPosition(ctx context.Context, store OffsetStore, ends QueueEnds, mq offset.MessageQueue, start Start) (int64, error) {
	if start.From > FromTimestamp {
		return 0, offset.Errorf(offset.ErrInvalid, "unknown place %d to consume from", start.From)
	}
	from := ReadFromStore
	if start.MemoryFirst {
		from = MemoryFirstThenStore
	}
	next, err := store.ReadOffset(ctx, mq, from)
	if err == nil {
		return next, nil
	}
	if !errors.Is(err, offset.ErrNoOffset) {
		return 0, fmt.Errorf("where to start is not known: %w", err)
	}
	next, err = start.begin(ctx, ends, mq)
	if err != nil {
		return 0, fmt.Errorf("where to start: asking for the ends of the queue: %w", err)
	}
	if next < 0 {
		return 0, offset.Errorf(offset.ErrInvalid, "where to start: the queue's end %d is negative", next)
	}
	return next, nil
}

// begin gives the offset for a queue that has none.
func (s Start) begin(ctx context.Context, ends QueueEnds, mq offset.MessageQueue) (int64, error) {
	retry := strings.HasPrefix(mq.Topic, retryPrefix)
	switch {
	case s.From == FromFirst, s.From == FromLast && retry:
		return 0, nil
	case ends == nil:
		return 0, offset.Errorf(offset.ErrInvalid, "no QueueEnds was given, which knows them")
	case s.From == FromLast, retry:
		return ends.MaxOffset(ctx, mq)
	}
	return ends.SearchOffset(ctx, mq, s.at())
}

func (s Start) at() time.Time {
	if !s.At.IsZero() {
		return s.At
	}
	var clock Clock = realClock{}
	if s.Clock != nil {
		clock = s.Clock
	}
	return clock.Now().Add(-defaultBack)
}
