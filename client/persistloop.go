package client

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// PersistLoop persists an OffsetStore again and again, in one goroutine. The
// stores of this package run the same loop by themselves; this one is for a
// store that an application made itself, or for one of ours made without.
type PersistLoop struct {
	loop   *loop
	store  OffsetStore
	queues func() []offset.MessageQueue
	logger *slog.Logger
	said   repeats
}

// PersistLoopConfig says how a PersistLoop runs. The zero value persists every
// second what is in memory.
type PersistLoopConfig struct {
	// Queues gives the queues that are assigned now; they are handed to
	// PersistAll, which may drop others. nil: each queue in memory is handed to Persist.
	Queues func() []offset.MessageQueue
	// First is the pause before the first run, Interval that between runs; 0 is
	// 1 s. RocketMQ's are RocketMQFirstPersist and RocketMQPersistInterval.
	First, Interval time.Duration
	// Timeout bounds one run; 0 is 5 s.
	Timeout time.Duration
	// Clock replaces the clock, Logger is told of runs that failed; nil are the
	// real one and slog.Default().
	Clock  Clock
	Logger *slog.Logger
}

// ticker is a store that knows itself what one run of its loop does.
type ticker interface {
	OffsetStore
	tick(ctx context.Context)
	looping() bool
}

func (s *LocalFileStore) looping() bool { return s.set.interval > 0 }
func (s *RemoteStore) looping() bool    { return s.set.interval > 0 }

// StartPersistLoop begins to persist a store, until Close. A RemoteStore or
// LocalFileStore must have been made without a loop of its own (an interval of
// 0), else the error wraps offset.ErrInvalid; what it does in a run is then
// what its own loop would do, and Queues is not asked.
func StartPersistLoop(store OffsetStore, c PersistLoopConfig) (*PersistLoop, error) {
	c = c.withDefaults()
	l := &PersistLoop{store: store, queues: c.Queues, logger: c.Logger}
	step := l.step
	if t, ok := store.(ticker); ok {
		if t.looping() {
			return nil, offset.Errorf(offset.ErrInvalid, "this store has a persist loop of its own; make it with an interval of 0, or leave this one away")
		}
		step = t.tick
	}
	l.loop = startLoop(pace{c.First, c.Interval, c.Timeout, c.Clock}, step)
	return l, nil
}

func (c PersistLoopConfig) withDefaults() PersistLoopConfig {
	c.First = positive(c.First, time.Second)
	c.Interval = positive(c.Interval, time.Second)
	c.Timeout = positive(c.Timeout, persistTimeout)
	if c.Clock == nil {
		c.Clock = realClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// Close ends the loop and waits for its goroutine; a run under way comes to its
// end, or is cut short once ctx has ended. It persists nothing itself.
func (l *PersistLoop) Close(ctx context.Context) { l.loop.end(ctx) }

// step is one run.
func (l *PersistLoop) step(ctx context.Context) {
	if err := l.persist(ctx); l.said.failed("persist", err) {
		l.logger.Warn("offsets are not persisted", "error", err)
	}
}

func (l *PersistLoop) persist(ctx context.Context) error {
	if l.queues != nil {
		return l.store.PersistAll(ctx, l.queues())
	}
	var all []error
	for mq := range l.store.CloneOffsetTable("") {
		all = append(all, l.store.Persist(ctx, mq))
	}
	return errors.Join(all...)
}
