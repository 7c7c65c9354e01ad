package franzgo

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// atOnce is how many partitions are placed at a time; their reads travel together.
const atOnce = 32

// assigned says where the partitions begin that the group gave us: at what
// Tidemark has, whatever Kafka has. It goes on until all are placed, or they are
// taken away again; kgo sends heartbeats meanwhile.
func (c *Consumer) assigned(ctx context.Context, offsets map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	var (
		all   sync.WaitGroup
		slots = make(chan struct{}, atOnce)
		mu    sync.Mutex // guards out and failure
		out   = make(map[string]map[int32]kgo.Offset, len(offsets))
		fault error
	)
	for topic, partitions := range offsets {
		out[topic] = make(map[int32]kgo.Offset, len(partitions))
		for partition := range partitions {
			slots <- struct{}{}
			all.Go(func() {
				defer func() { <-slots }()
				next, err := c.placeUntil(ctx, queueOf(topic, partition))
				mu.Lock()
				defer mu.Unlock()
				out[topic][partition] = kgo.NewOffset().At(next)
				fault = errors.Join(fault, err)
			})
		}
	}
	all.Wait()
	return out, fault
}

// placeUntil tries until a partition is placed, or ctx ends.
func (c *Consumer) placeUntil(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	for {
		next, err := c.place(ctx, mq)
		switch {
		case err == nil, ctx.Err() != nil, errors.Is(err, offset.ErrClosed):
			return next, err
		}
		c.report(err)
		select {
		case <-time.After(retryPause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// place makes a partition ours, and reads where it begins. The store takes the
// place over, so that it holds also if no message comes.
func (c *Consumer) place(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	p, _, err := c.begin(mq)
	if err != nil {
		return 0, err
	}
	return c.position(ctx, p)
}

func (c *Consumer) position(ctx context.Context, p *part) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	if !c.current(p, c.store.RemoveOffset) {
		return 0, offset.Errorf(offset.ErrDropped, "partition %d of %s was assigned anew", p.mq.QueueID, p.mq.Topic)
	}
	next, err := client.StartPosition(ctx, c.store, ends{c.kafka}, p.mq, c.cfg.Start)
	if err != nil {
		return 0, fmt.Errorf("partition %d of %s waits to be consumed: %w", p.mq.QueueID, p.mq.Topic, err)
	}
	c.update(p, next, true)
	return next, nil
}

// update changes the position in the store's memory, if the part is current.
func (c *Consumer) update(p *part, next int64, increaseOnly bool) {
	c.current(p, func(mq offset.MessageQueue) { c.store.UpdateOffset(mq, next, increaseOnly) })
}

// current tells whether no other part has begun since, which may have read
// another position, and changes the store's memory if so.
func (c *Consumer) current(p *part, change func(offset.MessageQueue)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.parts[p.mq] != p {
		return false
	}
	change(p.mq)
	return true
}

// begin makes a partition ours, in the place of what it was before, and gives
// why that was to be moved, if it was. It comes before the position is read, so
// that a fence behind that read finds it, and one before it is the reason.
func (c *Consumer) begin(mq offset.MessageQueue) (p *part, why error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, offset.Errorf(offset.ErrClosed, "this consumer was closed")
	}
	p = c.newPart(mq)
	if before := c.parts[mq]; before != nil {
		before.end()
		why, p.fresh = before.why, before.fresh
	}
	c.parts[mq] = p
	return p, why, nil
}

// partOr gives the partition if it is ours. If not, it does something that must
// not meet one that begins meanwhile, and has read its position.
func (c *Consumer) partOr(mq offset.MessageQueue, do func(offset.MessageQueue)) *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.parts[mq]
	if p == nil {
		do(mq)
	}
	return p
}

// fix makes partitions ours that no group shares out; the first Poll places them.
func (c *Consumer) fix(partitions map[string][]int32) {
	for topic, list := range partitions {
		for _, partition := range list {
			p := c.newPart(queueOf(topic, partition))
			p.due, p.fresh = time.Now(), true
			c.parts[p.mq] = p
		}
	}
}

// revoked gives partitions up, after what is being consumed had time to be done.
func (c *Consumer) revoked(ctx context.Context, _ *kgo.Client, gone map[string][]int32) {
	list := c.ours(gone)
	c.drain(ctx, list)
	c.release(ctx, list)
}

// lost gives partitions up that another consumer may have already. What is
// done is persisted all the same: a commit raises, and can't take anything back.
func (c *Consumer) lost(ctx context.Context, _ *kgo.Client, gone map[string][]int32) {
	c.release(ctx, c.ours(gone))
}

func (c *Consumer) ours(gone map[string][]int32) (list []*part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for topic, partitions := range gone {
		for _, partition := range partitions {
			if p := c.parts[queueOf(topic, partition)]; p != nil {
				list = append(list, p)
			}
		}
	}
	return list
}

// drain waits until what was polled is done.
func (c *Consumer) drain(ctx context.Context, list []*part) {
	wait := c.cfg.Drain
	if wait == 0 {
		wait = defaultDrain
	}
	if wait < 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	polled := 0
	for _, p := range list {
		polled += p.queue.State().Messages
	}
	if polled > 0 {
		c.log.Info("partitions go to another consumer once what was polled is done", "partitions", len(list), "records", polled, "wait", wait)
	}
	for _, p := range list {
		for p.queue.State().Messages > 0 {
			select {
			case <-c.progress:
			case <-ctx.Done():
				return
			}
		}
	}
}

// release drops partitions, persists them, and forgets them.
func (c *Consumer) release(ctx context.Context, list []*part) {
	if len(list) == 0 {
		return
	}
	c.mu.Lock()
	for _, p := range list {
		p.end()
		delete(c.parts, p.mq)
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, persistTime)
	defer cancel()
	mqs := make([]offset.MessageQueue, len(list))
	for i, p := range list {
		mqs[i] = p.mq
	}
	if err := c.persist(ctx, mqs); err != nil {
		c.report(fmt.Errorf("of partitions that go to another consumer, which may repeat messages: %w", err))
	}
	for _, mq := range mqs {
		c.partOr(mq, c.store.RemoveOffset)
	}
}
