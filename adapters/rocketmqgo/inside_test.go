package rocketmqgo

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// inside gives a consumer of a group that is called like its test. It is not
// started, so that no broker is needed.
func inside(t *testing.T, tide *tidemarktest.Cluster, cfg Config) *Consumer {
	t.Helper()
	cfg.Group, cfg.Topics = t.Name(), []string{"t"}
	cfg.RocketMQ = []consumer.Option{consumer.WithNameServer([]string{"127.0.0.1:1"})}
	cfg.Store = append(cfg.Store, client.WithPersistInterval(20*time.Millisecond))
	c, err := NewConsumer(tide.Client(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// current0 makes a queue ours, without consuming it.
func current0(c *Consumer) *part {
	p := c.newPart(offset.MessageQueue{Topic: "t", Broker: "broker-a"})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parts[p.mq] = p
	return p
}

// TestWhatWasPulledIsTaken: no setting of the ProcessQueue ends a queue that is ours.
func TestWhatWasPulledIsTaken(t *testing.T) {
	c := inside(t, tidemarktest.Start(t, 1), Config{Queue: []client.QueueOption{client.WithCapacity(10)}})
	p := current0(c)
	var messages []*primitive.MessageExt
	for i := range int64(batchSize) {
		messages = append(messages, &primitive.MessageExt{QueueOffset: i})
	}
	result := &primitive.PullResult{}
	result.SetMessageExts(messages)
	handed := make(chan error, 1)
	go func() { handed <- p.hand(result) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	select {
	case b := <-c.batches:
		if err := <-handed; len(b.messages) != batchSize || err != nil {
			t.Errorf("%d messages, %v", len(b.messages), err)
		}
	case err := <-handed:
		t.Errorf("nothing was handed over: %v", err)
	case <-ctx.Done():
		t.Error("nothing was handed over")
	}
}

// TestAQueueThatBeginsIsNotForgotten: RocketMQ may share out again while a
// queue that was lost is being persisted; what that ends with takes nothing
// from the queue that is ours anew.
func TestAQueueThatBeginsIsNotForgotten(t *testing.T) {
	tide := tidemarktest.Start(t, 1)
	c := inside(t, tide, Config{Start: client.Start{From: client.FromFirst}})
	before := current0(c)
	before.queue.Drop()
	p := current0(c)
	if _, err := c.position(p); err != nil {
		t.Fatal(err)
	}
	c.release([]*part{before})
	p.queue.Put(client.InFlight[struct{}]{Offset: 4})
	p.queue.Complete(4)
	if err := c.store.Persist(t.Context(), p.mq); err != nil {
		t.Error(err)
	}
	if got := tide.Offsets(t.Name())[p.mq]; got != 5 {
		t.Errorf("offset %d, want 5", got)
	}
}

// TestCloseAfterAStartThatFailed: of a topic whose name no broker takes.
func TestCloseAfterAStartThatFailed(t *testing.T) {
	c := inside(t, tidemarktest.Start(t, 1), Config{Selector: consumer.MessageSelector{Type: "none", Expression: "a || b"}})
	c.cfg.Topics = []string{"no topic"}
	if err := c.Start(); err == nil {
		t.Fatal("it has started")
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseWithoutStart: a Consumer is closed in any case.
func TestCloseWithoutStart(t *testing.T) {
	c := inside(t, tidemarktest.Start(t, 1), Config{})
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := c.Start(); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("a closed consumer joins its group: %v", err)
	}
}
