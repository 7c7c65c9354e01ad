package rocketmqgo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config says what a Consumer consumes, and how.
type Config struct {
	// Group is the consumer group, in Tidemark and in RocketMQ, whose members
	// share the queues. Names with a namespace are given whole ("ns%billing").
	Group string
	// Topics are consumed, and the group's retry topic if there is one.
	Topics []string
	// Selector chooses messages of all topics by tag or SQL; the zero value takes all.
	Selector consumer.MessageSelector
	// RocketMQ are options of the pull consumer: name servers, credentials, TLS.
	// Those of group, model, strategy and namespace are the Consumer's own.
	RocketMQ []consumer.Option
	// Allocate shares the queues out; nil is consumer.AllocateByAveragely.
	Allocate consumer.AllocateStrategy
	// Start says where a queue begins that the group has no offset of. The zero
	// value begins behind the newest message. The place is stored at once, so
	// that a crash before the first message does not move it.
	Start client.Start
	// OutOfRange says where to go on if the position is not in the queue.
	OutOfRange OutOfRange
	// Settle is how long a queue that came from another member rests before its
	// position is read. 0 is 1 s, a negative one does not wait.
	Settle time.Duration
	// Store are settings of the group's RemoteStore, the persist interval for
	// one. WithOnFenced is the Consumer's own.
	Store []client.StoreOption
	// Queue are settings of each queue's ProcessQueue: how many messages of it
	// may be polled and not Done before pulling pauses, which bounds
	// it. Its capacity is the Consumer's own.
	Queue []client.QueueOption
	// OnMoved, if set, is told of each move, before a message from the new
	// place is polled. It must not block, nor call the Consumer.
	OnMoved func(Move)
	// Logger takes what is worth knowing; nil is none. What rocketmq-client-go
	// logs is set by its package rlog.
	Logger *slog.Logger
}

// Move tells that a queue goes on elsewhere than behind what was polled last.
// Messages polled before it count for nothing when they are Done.
type Move struct {
	Queue offset.MessageQueue
	// To is the next message that will be polled.
	To int64
	// Why is what a Fence says (offset.ErrFenced: an operator moved it), or that
	// the broker refused the position.
	Why error
}

// Bounds and pauses.
const (
	batchSize     = 32 // messages of one pull, as RocketMQ has it
	mostErrors    = 16 // errors that wait for a Poll
	retryPause    = time.Second
	callTime      = 10 * time.Second // of a read, or of what a lost queue persists
	defaultSettle = time.Second
)

// Consumer consumes queues of RocketMQ whose offsets are in Tidemark. Its
// methods may be called from any goroutine.
type Consumer struct {
	cfg   Config
	log   *slog.Logger
	store *client.RemoteStore
	pull  rocketmq.PullConsumer

	ctx    context.Context // done once the Consumer is closed
	cancel context.CancelFunc
	// batches are what was pulled, for whoever polls; errs what went wrong.
	batches chan batch
	errs    chan error

	mu sync.Mutex // guards what follows
	// parts are the queues that are ours.
	parts map[offset.MessageQueue]*part
	// joined: Start has come to its end; closed: Close has begun.
	joined, closed bool
}

// errClosed is what calls of a Consumer get after its Close.
var errClosed = offset.Errorf(offset.ErrClosed, "this consumer was closed")

// NewConsumer returns a consumer, without I/O. Start it, and Close it in any
// case; the Client stays open. The error wraps offset.ErrInvalid, or is that
// of rocketmq-client-go for its options.
func NewConsumer(tide *client.Client, cfg Config) (*Consumer, error) {
	switch {
	case len(cfg.Topics) == 0:
		return nil, offset.Errorf(offset.ErrInvalid, "name one topic at least")
	case cfg.OutOfRange > Stop:
		return nil, offset.Errorf(offset.ErrInvalid, "unknown place %d for a position out of range", cfg.OutOfRange)
	}
	cfg.Start.MemoryFirst = false
	if cfg.Allocate == nil {
		cfg.Allocate = consumer.AllocateByAveragely
	}
	c := &Consumer{
		cfg: cfg, log: cfg.Logger,
		batches: make(chan batch),
		errs:    make(chan error, mostErrors),
		parts:   make(map[offset.MessageQueue]*part),
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	var err error
	store := append(cfg.Store[:len(cfg.Store):len(cfg.Store)], client.WithOnFenced(c.fenced))
	if c.store, err = client.NewRemoteStore(tide, cfg.Group, store...); err != nil {
		return nil, err
	}
	if c.pull, err = rocketmq.NewPullConsumer(c.options()...); err != nil {
		_ = c.store.Close(context.Background()) // it holds nothing yet
		return nil, fmt.Errorf("pull consumer: %w", err)
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// options are the caller's between a default and ours. The pull consumer shares
// out nothing to itself: what would be its queues are ours.
func (c *Consumer) options() []consumer.Option {
	list := []consumer.Option{consumer.WithInstance(fmt.Sprintf("%d#%x", os.Getpid(), rand.Uint64()))}
	list = append(list, c.cfg.RocketMQ...)
	return append(list,
		consumer.WithGroupName(c.cfg.Group),
		consumer.WithConsumerModel(consumer.Clustering),
		consumer.WithStrategy(c.share),
	)
}

// Start joins the group. It takes some seconds at most; the error is that of
// rocketmq-client-go, and the Consumer is then of no use any more, or
// offset.ErrClosed.
func (c *Consumer) Start() error {
	if c.ctx.Err() != nil {
		return errClosed
	}
	for _, topic := range c.cfg.Topics {
		if err := c.pull.Subscribe(topic, c.cfg.Selector); err != nil {
			return fmt.Errorf("subscribing to %s: %w", topic, err)
		}
	}
	if err := c.pull.Start(); err != nil {
		return fmt.Errorf("joining group %s: %w", c.cfg.Group, err)
	}
	c.mu.Lock()
	c.joined = !c.closed
	closed := c.closed
	c.mu.Unlock()
	if closed { // meanwhile
		c.leave()
		return errClosed
	}
	return nil
}

// leave leaves the group. Where Start has failed there is nothing to leave, and
// the pull consumer would panic.
func (c *Consumer) leave() {
	if err := c.pull.Shutdown(); err != nil {
		c.log.Warn("leaving the group", "cause", err)
	}
}

// Poll waits for messages, and returns those of one pull: 32 of one queue at
// most. An error comes without messages and says that ctx ended, that the
// Consumer was closed (offset.ErrClosed), or what went wrong with a queue,
// which is tried again: go on polling.
func (c *Consumer) Poll(ctx context.Context) ([]Message, error) {
	for {
		select {
		case b := <-c.batches:
			if !b.part.queue.State().Dropped {
				return b.messages, nil
			}
		case err := <-c.errs:
			return nil, err
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-c.ctx.Done():
			return nil, errClosed
		}
	}
}

// Persist stores now what is Done, instead of within the persist interval. The
// error joins those of client.RemoteStore.Persist.
func (c *Consumer) Persist(ctx context.Context) error {
	var failed []error
	for mq := range c.store.CloneOffsetTable("") {
		if err := c.store.Persist(ctx, mq); err != nil { // one by one: PersistAll would drop a queue that is taken at this moment
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Close stores what is Done, and then leaves the group. It does not wait for
// messages that are not Done: they count for nothing from then on. The error
// names what could not be stored, as client.RemoteStore.Close does. A second
// Close does nothing.
func (c *Consumer) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	joined := c.joined
	for mq, p := range c.parts {
		p.queue.Drop()
		delete(c.parts, mq)
	}
	c.mu.Unlock()
	c.cancel()
	err := c.store.Close(ctx)
	if joined {
		c.leave()
	}
	return err
}

// report keeps an error for the next Poll; if too many wait already, it is logged alone.
func (c *Consumer) report(err error) {
	c.log.Warn("consuming from RocketMQ", "cause", err)
	select {
	case c.errs <- err:
	default:
	}
}
