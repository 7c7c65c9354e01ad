package franzgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/offset"
)

// Record is a record of Kafka that was polled and is to be Done.
type Record struct {
	*kgo.Record
	part *part
}

// Done tells that the record is consumed. It may be called in any order, from
// any goroutine, and does not block; the offset follows once all records below
// it are done, and is stored within the persist interval. Without effect when
// the partition was revoked, lost or moved since.
func (r Record) Done() {
	r.part.done(r.Offset)
	select {
	case r.part.c.progress <- struct{}{}:
	default: // somebody drains and has been told, or nobody does
	}
}

// Poll waits for records, and returns 1,000 at most. An error comes without
// records and says that ctx ended, that the Consumer was closed
// (offset.ErrClosed), or what went wrong with a partition or the group, which
// is tried again: go on polling. Poll regularly: partitions are moved and given
// up only while it is called.
func (c *Consumer) Poll(ctx context.Context) ([]Record, error) {
	select {
	case c.polling <- struct{}{}:
		defer func() { <-c.polling }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)() // Close waits for no move
	for {
		if err := c.nextError(ctx); err != nil {
			return nil, err
		}
		if records := c.round(ctx); len(records) > 0 {
			return records, nil
		}
	}
}

// nextError gives an error that a Poll has to return.
func (c *Consumer) nextError(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return offset.Errorf(offset.ErrClosed, "this consumer was closed")
	}
	if len(c.errs) > 0 {
		err := c.errs[0]
		c.errs = c.errs[1:]
		return err
	}
	return ctx.Err()
}

// round polls Kafka once, and moves partitions that are due. Between kgo's poll
// and AllowRebalance no partition changes hands, so records and moves meet the
// partition that they are meant for.
func (c *Consumer) round(ctx context.Context) []Record {
	wait, cancel := c.untilDue(ctx)
	defer cancel()
	fetches := c.kafka.PollRecords(wait, mostPolled)
	if len(fetches) == 0 {
		return nil // and nothing keeps partitions from changing hands
	}
	defer c.kafka.AllowRebalance()
	records := c.take(fetches)
	fetches.EachError(func(topic string, partition int32, err error) {
		if wait.Err() == nil || !errors.Is(err, wait.Err()) {
			c.failed(topic, partition, err)
		}
	})
	if ctx.Err() == nil {
		c.moveDue(ctx)
	}
	return records
}

// untilDue is ctx until a partition is to be moved, or somebody wakes Poll.
func (c *Consumer) untilDue(ctx context.Context) (context.Context, context.CancelFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var first time.Time
	for _, p := range c.parts {
		if !p.due.IsZero() && (first.IsZero() || p.due.Before(first)) {
			first = p.due
		}
	}
	var wait context.Context
	var cancel context.CancelFunc
	if first.IsZero() {
		wait, cancel = context.WithCancel(ctx)
	} else {
		wait, cancel = context.WithDeadline(ctx, first)
	}
	c.wake = cancel
	if len(c.errs) > 0 {
		cancel()
	}
	return wait, cancel
}

// take hands records over to their partitions. Those of a partition that is
// not ours, or is about to be moved, are forgotten.
func (c *Consumer) take(fetches kgo.Fetches) (records []Record) {
	fetches.EachPartition(func(f kgo.FetchTopicPartition) {
		if len(f.Records) == 0 {
			return
		}
		c.mu.Lock()
		p := c.parts[queueOf(f.Topic, f.Partition)]
		if p != nil && !p.due.IsZero() {
			p = nil
		}
		c.mu.Unlock()
		if p == nil || !p.put(f.Records) {
			return
		}
		for _, r := range f.Records {
			records = append(records, Record{Record: r, part: p})
		}
	})
	return records
}

// failed takes what kgo says of a partition, or of all.
func (c *Consumer) failed(topic string, partition int32, err error) {
	switch {
	case errors.Is(err, kgo.ErrClientClosed):
	case outOfRange(err):
		c.mu.Lock()
		p := c.parts[queueOf(topic, partition)]
		c.mu.Unlock()
		if p != nil && !p.queue.State().Dropped { // else it rests, or is to be moved already
			c.stop(p, err)
		}
	case topic == "":
		c.report(err)
	default:
		c.report(fmt.Errorf("partition %d of %s: %w", partition, topic, err))
	}
}
