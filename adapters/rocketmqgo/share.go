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

// share is the strategy of the pull consumer, which asks it at each rebalance,
// topic by topic: the queues that it finds ours are taken and given up here,
// and the pull consumer itself gets none.
func (c *Consumer) share(group, self string, queues []*primitive.MessageQueue, members []string) []*primitive.MessageQueue {
	if len(queues) == 0 {
		return nil
	}
	ours := make(map[offset.MessageQueue]bool)
	for _, q := range c.cfg.Allocate(group, self, queues, members) {
		ours[queueOf(q)] = true
	}
	c.release(c.gone(queues[0].Topic, ours))
	c.take(ours, len(members) > 1)
	return nil
}

// gone takes the queues of a topic that are not ours any more off the table.
func (c *Consumer) gone(topic string, ours map[offset.MessageQueue]bool) (list []*part) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for mq, p := range c.parts {
		if mq.Topic == topic && !ours[mq] {
			p.queue.Drop()
			delete(c.parts, mq)
			list = append(list, p)
		}
	}
	return list
}

// release persists queues that were dropped, and forgets them. RocketMQ waits
// for nobody, so what comes after this may be consumed twice.
func (c *Consumer) release(list []*part) {
	ctx, cancel := context.WithTimeout(c.ctx, callTime)
	defer cancel()
	for _, p := range list {
		if err := c.store.Persist(ctx, p.mq); err != nil {
			c.report(fmt.Errorf("queue %d of %s at %s goes to another consumer, which may repeat messages: %w", p.mq.QueueID, p.mq.Topic, p.mq.Broker, err))
		}
		c.partOr(p.mq, c.store.RemoveOffset)
	}
}

// take begins with the queues that are new.
func (c *Consumer) take(ours map[offset.MessageQueue]bool, shared bool) {
	settle := time.Duration(0)
	if shared {
		settle = c.cfg.Settle
		if settle == 0 {
			settle = defaultSettle
		}
	}
	for mq := range ours {
		c.begin(mq, nil, func(p *part) (int64, error) {
			if err := c.rest(settle); err != nil {
				return 0, err
			}
			return c.position(p)
		})
	}
}

// fenced takes what the store tells: a queue that missed an act begins anew,
// where it is now.
func (c *Consumer) fenced(f client.Fence) {
	before := c.partOr(f.Queue, c.store.RemoveOffset)
	if before == nil {
		return // given up meanwhile
	}
	c.begin(f.Queue, before, func(p *part) (int64, error) {
		next, err := c.position(p)
		if err == nil {
			c.moved(Move{Queue: p.mq, To: next, Why: f.Err})
		}
		return next, err
	})
}

// begin makes a queue ours, in the place of what it was before (nil: it was
// not), and consumes it in a goroutine of its own from where place says. It
// does nothing if the queue is something else meanwhile. Close ends the
// goroutine, but for the pull that is under way.
func (c *Consumer) begin(mq offset.MessageQueue, before *part, place func(*part) (int64, error)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.parts[mq] != before {
		return
	}
	if before != nil {
		before.queue.Drop()
	}
	p := c.newPart(mq)
	c.parts[mq] = p
	go p.run(place)
}

// partOr gives the queue if it is ours. If not, it does something that must not
// meet one that begins meanwhile, and has read its position.
func (c *Consumer) partOr(mq offset.MessageQueue, do func(offset.MessageQueue)) *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.parts[mq]
	if p == nil {
		do(mq)
	}
	return p
}

// position reads where a queue begins, until that succeeds or the queue is
// given up. The store takes the place over, so that it holds also if no
// message comes.
func (c *Consumer) position(p *part) (int64, error) {
	for {
		next, err := c.read(p)
		switch {
		case err == nil:
			return next, nil
		case p.queue.State().Dropped:
			return 0, err
		}
		c.report(fmt.Errorf("queue %d of %s at %s waits to be consumed: %w", p.mq.QueueID, p.mq.Topic, p.mq.Broker, err))
		if err := c.rest(retryPause); err != nil {
			return 0, err
		}
	}
}

func (c *Consumer) read(p *part) (int64, error) {
	ctx, cancel := context.WithTimeout(c.ctx, callTime)
	defer cancel()
	if !c.current(p, c.store.RemoveOffset) {
		return 0, errGone
	}
	next, err := client.StartPosition(ctx, c.store, ends{c}, p.mq, c.cfg.Start)
	if err == nil {
		c.update(p, next, true)
	}
	return next, err
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

// errGone ends the goroutine of a queue that was given up.
var errGone = errors.New("given up")

// rest waits, unless the Consumer is closed.
func (c *Consumer) rest(d time.Duration) error {
	if d <= 0 {
		return c.ctx.Err()
	}
	select {
	case <-time.After(d):
		return nil
	case <-c.ctx.Done():
		return c.ctx.Err()
	}
}

func (c *Consumer) moved(m Move) {
	c.log.Info("a queue goes on elsewhere", "topic", m.Queue.Topic, "broker", m.Queue.Broker, "queue", m.Queue.QueueID, "to", m.To, "cause", m.Why)
	if c.cfg.OnMoved != nil {
		c.cfg.OnMoved(m)
	}
}

// queueOf names a queue as Tidemark does.
func queueOf(q *primitive.MessageQueue) offset.MessageQueue {
	return offset.MessageQueue{Topic: q.Topic, Broker: q.BrokerName, QueueID: int32(q.QueueId)}
}
