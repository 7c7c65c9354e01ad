package franzgo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config says what a Consumer consumes, and how.
type Config struct {
	// Group is the consumer group in Tidemark, and, with Topics, in Kafka.
	Group string
	// Topics are consumed as a member of the Kafka group of the same name,
	// which shares their partitions out among its members.
	Topics []string
	// Partitions, by topic, are consumed without a Kafka group: it is for the
	// caller to see to it that nobody else consumes them in this group. One of
	// Topics and Partitions is to be set.
	Partitions map[string][]int32
	// Kafka are options of the Kafka client: brokers, TLS, SASL, fetch sizes,
	// balancers, hooks. Those of group, topics, offsets, autocommit, blocking
	// of rebalances, and partition callbacks are the Consumer's own.
	Kafka []kgo.Opt
	// Start says where a partition begins that the group has no offset of. The
	// zero value begins behind the newest message. The place is stored at once,
	// so that a crash before the first message does not move it.
	Start client.Start
	// OutOfRange says where to go on if the position is not in the log.
	OutOfRange OutOfRange
	// Drain is how long a revoke waits for records that were polled to be Done,
	// so that the next owner does not repeat them. 0 is 3 s, a negative one does
	// not wait. Kafka's rebalance timeout (60 s) must be longer.
	Drain time.Duration
	// Store are settings of the group's RemoteStore, the persist interval for
	// one. WithOnFenced is the Consumer's own.
	Store []client.StoreOption
	// Queue are settings of each partition's ProcessQueue: how many records of
	// it may be polled and not Done before fetching pauses, which bounds
	// it. Its capacity is the Consumer's own.
	Queue []client.QueueOption
	// OnMoved, if set, is told of each move, in the goroutine that polls, before
	// Poll returns a record from the new place. It must not call Poll or Close.
	OnMoved func(Move)
	// Logger takes what is worth knowing; nil is none.
	Logger *slog.Logger
}

// Move tells that a partition goes on elsewhere than behind what was polled
// last. Records polled before it count for nothing when they are Done.
type Move struct {
	Queue offset.MessageQueue
	// To is the next message that will be polled.
	To int64
	// Why is what a Fence says (offset.ErrFenced: an operator moved it), or
	// Kafka's error: the position was out of range, or data was lost.
	Why error
}

// Bounds and pauses.
const (
	mostPolled   = 1000             // records one Poll returns
	mostErrors   = 16               // errors that wait for a Poll
	retryPause   = time.Second      // before a partition that could not be placed is tried again
	placeTime    = 10 * time.Second // of one try
	persistTime  = 5 * time.Second  // of what a revoke persists
	defaultDrain = 3 * time.Second
)

// Consumer consumes partitions of Kafka whose offsets are in Tidemark. Poll is
// for one goroutine at a time, which it sees to by itself; Done and Persist may
// be called from any.
type Consumer struct {
	cfg   Config
	log   *slog.Logger
	store *client.RemoteStore
	kafka *kgo.Client
	// polling is held by the Poll that is under way.
	polling chan struct{}
	// progress is told that a record was done, for whoever drains.
	progress chan struct{}
	// life ends with Close; die ends it.
	life context.Context
	die  context.CancelFunc

	mu sync.Mutex // guards what follows
	// parts are the partitions that are ours.
	parts map[offset.MessageQueue]*part
	// wake ends the wait of the Poll that is under way.
	wake   context.CancelFunc
	errs   []error // for the next Poll
	closed bool
}

// NewConsumer returns a consumer without waiting for anything: kgo joins the
// group in the background, so Poll soon. Close it; the Client stays open. The
// error wraps offset.ErrInvalid, or is that of kgo for its options.
func NewConsumer(tide *client.Client, cfg Config) (*Consumer, error) {
	if (len(cfg.Topics) == 0) == (len(cfg.Partitions) == 0) {
		return nil, offset.Errorf(offset.ErrInvalid, "set one of Topics (a Kafka group shares them out) and Partitions (they are fixed)")
	}
	if cfg.OutOfRange > Stop {
		return nil, offset.Errorf(offset.ErrInvalid, "unknown place %d for a position out of range", cfg.OutOfRange)
	}
	cfg.Start.MemoryFirst = false
	c := &Consumer{
		cfg: cfg, log: cfg.Logger,
		polling:  make(chan struct{}, 1),
		progress: make(chan struct{}, 1),
		parts:    make(map[offset.MessageQueue]*part),
		wake:     func() {},
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	c.life, c.die = context.WithCancel(context.Background())
	var err error
	store := append(cfg.Store[:len(cfg.Store):len(cfg.Store)], client.WithOnFenced(c.fenced))
	if c.store, err = client.NewRemoteStore(tide, cfg.Group, store...); err != nil {
		return nil, err
	}
	if c.kafka, err = kgo.NewClient(c.options()...); err != nil {
		_ = c.store.Close(context.Background()) // it holds nothing yet
		return nil, fmt.Errorf("kafka client: %w", err)
	}
	c.fix(cfg.Partitions)
	return c, nil
}

// options are the caller's and, behind them, ours.
func (c *Consumer) options() []kgo.Opt {
	list := append(c.cfg.Kafka[:len(c.cfg.Kafka):len(c.cfg.Kafka)], kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	if len(c.cfg.Topics) == 0 {
		return list
	}
	return append(list,
		kgo.ConsumerGroup(c.cfg.Group),
		kgo.ConsumeTopics(c.cfg.Topics...),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.AdjustFetchOffsetsFn(c.assigned),
		kgo.OnPartitionsRevoked(c.revoked),
		kgo.OnPartitionsLost(c.lost),
	)
}

// Client gives the Kafka client, to produce with it or to look at it. Polling
// it, setting its offsets and closing it is the Consumer's.
func (c *Consumer) Client() *kgo.Client { return c.kafka }

// Persist stores now what is Done, instead of within the persist interval. The
// error joins those of client.RemoteStore.Persist.
func (c *Consumer) Persist(ctx context.Context) error {
	table := c.store.CloneOffsetTable("")
	mqs := make([]offset.MessageQueue, 0, len(table))
	for mq := range table {
		mqs = append(mqs, mq)
	}
	return c.persist(ctx, mqs)
}

// persist stores partitions one by one: PersistAll would drop one that is
// assigned at this moment.
func (c *Consumer) persist(ctx context.Context, mqs []offset.MessageQueue) error {
	var failed []error
	for _, mq := range mqs {
		if err := c.store.Persist(ctx, mq); err != nil {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Close stores what is Done, and then leaves the group, so that who gets the
// partitions goes on exactly there. It does not wait for records that are not
// Done: they count for nothing from then on. The error names what could not be
// stored, as client.RemoteStore.Close does. A second Close does nothing.
func (c *Consumer) Close(ctx context.Context) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.closed = true
	for mq, p := range c.parts {
		p.end()
		delete(c.parts, mq)
	}
	c.mu.Unlock()
	c.die()
	err := c.store.Close(ctx)
	left := c.kafka.LeaveGroupContext(ctx)
	c.kafka.Close()
	if left != nil && !errors.Is(left, context.Canceled) {
		c.log.Warn("the Kafka group was not left; its partitions stay until the session times out", "cause", left)
	}
	return err
}

// report keeps an error for the next Poll.
func (c *Consumer) report(err error) {
	c.log.Warn("consuming from Kafka", "cause", err)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.errs) < mostErrors {
		c.errs = append(c.errs, err)
	}
	c.wake()
}
