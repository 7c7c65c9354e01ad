package franzgo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// OutOfRange says where a partition goes on whose position is not in the log.
// Each is stored as the deliberate change that it is, also where it lowers.
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
	// Stop: nowhere. Poll returns the error once, and the partition rests until
	// an operator moves it or it is assigned anew.
	Stop
)

// fenced takes what the store tells: a partition that missed an act is moved
// to where it is now, by the next Poll.
func (c *Consumer) fenced(f client.Fence) {
	if p := c.partOr(f.Queue, c.store.RemoveOffset); p != nil {
		c.stop(p, f.Err)
	}
}

// stop ends a partition where it is, and has the next Poll move it.
func (c *Consumer) stop(p *part, why error) {
	p.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	p.due, p.why = time.Now(), why
	c.wake()
}

// moveDue moves the partitions that are to be moved, up to the first that
// can't be: the next round goes on, and partitions can change hands before it.
// Only Poll calls it, while none can.
func (c *Consumer) moveDue(ctx context.Context) {
	var due []offset.MessageQueue
	c.mu.Lock()
	for mq, p := range c.parts {
		if !p.due.IsZero() && !p.due.After(time.Now()) {
			due = append(due, mq)
		}
	}
	c.mu.Unlock()
	for _, mq := range due {
		p, why, err := c.begin(mq)
		if err != nil {
			return // closed
		}
		if err := c.move(ctx, p, why); err != nil {
			p.end()
			c.mu.Lock()
			p.due, p.why = time.Now().Add(retryPause), why
			c.mu.Unlock()
			if ctx.Err() == nil {
				c.report(err)
			}
			return
		}
	}
}

// move finds where a partition goes on, and has kgo fetch from there.
func (c *Consumer) move(ctx context.Context, p *part, why error) (err error) {
	var to int64
	switch {
	case !outOfRange(why):
		to, err = c.position(ctx, p)
	case c.cfg.OutOfRange == Stop:
		p.rest()
		c.report(fmt.Errorf("partition %d of %s rests until it is moved: %w", p.mq.QueueID, p.mq.Topic, why))
		return nil
	default:
		to, err = c.intoRange(ctx, p)
	}
	if err != nil {
		return err
	}
	topic, partition := p.mq.Topic, p.mq.QueueID
	if c.announce(p) {
		c.kafka.AddConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().At(to)}})
		return nil
	}
	c.kafka.SetOffsets(map[string]map[int32]kgo.EpochOffset{topic: {partition: {Epoch: -1, Offset: to}}})
	c.log.Info("a partition goes on elsewhere", "topic", topic, "partition", partition, "to", to, "cause", why)
	if c.cfg.OnMoved != nil {
		c.cfg.OnMoved(Move{Queue: p.mq, To: to, Why: why})
	}
	return nil
}

// announce tells whether kgo does not know a fixed partition yet, and takes it
// for known from now on.
func (c *Consumer) announce(p *part) (first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first, p.fresh = p.fresh, false
	return first
}

// outOfRange tells whether Kafka says that the position is not in the log.
func outOfRange(err error) bool {
	var lost *kgo.ErrDataLoss
	return errors.Is(err, kerr.OffsetOutOfRange) || errors.As(err, &lost)
}

// intoRange moves a partition's position into the log, in the store too.
func (c *Consumer) intoRange(ctx context.Context, p *part) (int64, error) {
	mq := p.mq
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	oldest, end, err := ends{c.kafka}.both(ctx, mq)
	if err != nil {
		return 0, fmt.Errorf("partition %d of %s is out of range, and its ends are not known: %w", mq.QueueID, mq.Topic, err)
	}
	to := oldest
	switch c.cfg.OutOfRange {
	case Newest:
		to = end
	case Nearest:
		at, err := c.store.ReadOffset(ctx, mq, client.MemoryFirstThenStore)
		if err != nil {
			return 0, fmt.Errorf("partition %d of %s is out of range, and its position is not known: %w", mq.QueueID, mq.Topic, err)
		}
		to = max(oldest, min(at, end))
	}
	c.update(p, to, false)
	return to, nil
}
