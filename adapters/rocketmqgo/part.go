package rocketmqgo

import (
	"fmt"
	"math"

	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Message is a message of RocketMQ that was polled and is to be Done.
type Message struct {
	*primitive.MessageExt
	part *part
}

// Done tells that the message is consumed. It may be called in any order, from
// any goroutine, and does not block; the offset follows once all messages below
// it are done, and is stored within the persist interval. Without effect when
// the queue was given up or moved since.
func (m Message) Done() {
	m.part.queue.Complete(m.QueueOffset)
	select {
	case m.part.progress <- struct{}{}:
	default: // it has been told, or does not wait
	}
}

// batch is what one pull gave.
type batch struct {
	part     *part
	messages []Message
}

// part is one queue from where it was placed once: a move or a new assignment
// makes another. So a message that is Done late counts for the place it was
// polled at, and for no other.
type part struct {
	c     *Consumer
	mq    offset.MessageQueue
	queue *client.ProcessQueue[struct{}]
	// progress is told that a message was done, if pulling waits for that.
	progress chan struct{}
}

func (c *Consumer) newPart(mq offset.MessageQueue) *part {
	opts := append(c.cfg.Queue[:len(c.cfg.Queue):len(c.cfg.Queue)],
		client.WithCommitTo(c.store, mq),
		client.WithCapacity(math.MaxInt), // what was pulled must be taken: else the queue would end. Pausing bounds it
	)
	return &part{c: c, mq: mq, queue: client.NewProcessQueue[struct{}](opts...), progress: make(chan struct{}, 1)}
}

// run consumes the queue until it is given up.
func (p *part) run(place func(*part) (int64, error)) {
	next, err := place(p)
	for err == nil {
		if err = p.room(); err == nil {
			next, err = p.pull(next)
		}
	}
}

// room waits until so few messages are not done that more may be pulled.
func (p *part) room() error {
	for {
		switch s := p.queue.State(); {
		case s.Dropped:
			return errGone
		case !s.TooWide && !s.TooMany:
			return nil
		}
		select {
		case <-p.progress:
		case <-p.c.ctx.Done():
			return errGone
		}
	}
}

// pull pulls once, hands over what came, and gives the next place to pull at.
func (p *part) pull(at int64) (next int64, err error) {
	q := p.rocketmq() // the client writes to it
	result, err := p.c.pull.PullFrom(p.c.ctx, &q, at, batchSize)
	switch {
	case p.queue.State().Dropped:
		return 0, errGone
	case err != nil:
		p.c.report(fmt.Errorf("pulling from queue %d of %s at %s: %w", p.mq.QueueID, p.mq.Topic, p.mq.Broker, err))
		return at, p.c.rest(retryPause)
	}
	p.queue.Pulled()
	switch result.Status {
	case primitive.PullFound:
		return result.NextBeginOffset, p.hand(result)
	case primitive.PullNoNewMsg, primitive.PullNoMsgMatched:
		return result.NextBeginOffset, p.pass(result.NextBeginOffset)
	case primitive.PullOffsetIllegal:
		return 0, p.refused(at, result)
	}
	return at, p.c.rest(retryPause)
}

// hand gives messages to whoever polls.
func (p *part) hand(result *primitive.PullResult) error {
	list := result.GetMessageExts()
	if len(list) == 0 { // the selector took none
		return p.pass(result.NextBeginOffset)
	}
	flight := make([]client.InFlight[struct{}], len(list))
	b := batch{part: p, messages: make([]Message, len(list))}
	for i, m := range list {
		flight[i].Offset = m.QueueOffset
		b.messages[i] = Message{MessageExt: m, part: p}
	}
	if _, err := p.queue.Put(flight...); err != nil {
		return err
	}
	select {
	case p.c.batches <- b:
		return nil
	case <-p.c.ctx.Done():
		return errGone
	}
}

// pass goes past messages that nobody gets, in the store too if nothing before
// them is being consumed: as if the last of them had been. So it does not reach
// the store once the queue is dropped.
func (p *part) pass(next int64) error {
	if next == 0 || p.queue.State().Messages > 0 {
		return nil
	}
	if _, err := p.queue.Put(client.InFlight[struct{}]{Offset: next - 1}); err != nil {
		return err
	}
	p.queue.Complete(next - 1)
	return nil
}

// rocketmq names the queue as RocketMQ does.
func (p *part) rocketmq() primitive.MessageQueue { return rocketmqOf(p.mq) }

func rocketmqOf(mq offset.MessageQueue) primitive.MessageQueue {
	return primitive.MessageQueue{Topic: mq.Topic, BrokerName: mq.Broker, QueueId: int(mq.QueueID)}
}
