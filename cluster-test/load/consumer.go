package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

// callTime bounds one call; what is not answered by then is sent again.
const callTime = 3 * time.Second

// consumer owns queues of one group. run is its own goroutine, watch its reader's.
type consumer struct {
	load   *Load
	client *client.Client
	store  *client.RemoteStore
	random *rand.Rand // run's
	queues []*queue
	// last is what a call failed with last, for a test that fails.
	last atomic.Pointer[error]
}

func (c *consumer) run(ctx context.Context) {
	at := c.starts(ctx)
	mqs := make([]offset.MessageQueue, len(c.queues))
	for i, q := range c.queues {
		mqs[i] = q.key.MessageQueue
	}
	for ctx.Err() == nil {
		for i, q := range c.queues {
			at[i] += 1 + c.random.Int64N(20)
			q.sent.Store(at[i])
			c.store.UpdateOffset(mqs[i], at[i], true)
		}
		if !c.persist(ctx, mqs) {
			break
		}
		for i, q := range c.queues {
			q.acked.Store(at[i])
		}
		c.load.acknowledged(len(mqs))
		pause(ctx, c.load.shape.Pace)
	}
	end, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	_ = c.store.Close(end) // what it still has was not acknowledged, and nobody counts on it
}

// starts reads where all queues stand, some of them at a time.
func (c *consumer) starts(ctx context.Context) []int64 {
	const together = 32
	at := make([]int64, len(c.queues))
	var all sync.WaitGroup
	for first := range together {
		all.Go(func() {
			for i := first; i < len(at); i += together {
				at[i] = c.start(ctx, c.queues[i])
			}
		})
	}
	all.Wait()
	return at
}

// start reads where a queue stands, for as long as it takes.
func (c *consumer) start(ctx context.Context, q *queue) int64 {
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, callTime)
		v, err := c.store.ReadOffset(call, q.key.MessageQueue, client.ReadFromStore)
		cancel()
		switch {
		case err == nil:
			return v
		case errors.Is(err, offset.ErrNoOffset):
			return 0
		}
		c.judge(ctx, "reading the start of "+q.key.String(), err)
	}
	return 0
}

// persist persists until that is acknowledged; false: the test is over.
func (c *consumer) persist(ctx context.Context, mqs []offset.MessageQueue) bool {
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, callTime)
		err := c.store.PersistAll(call, mqs)
		cancel()
		if err == nil {
			return true
		}
		if errors.Is(err, offset.ErrFenced) {
			c.load.tb.Errorf("%s: %v: %v", c.queues[0].key.Group, errFenced, err)
			return false
		}
		c.judge(ctx, "persisting", err)
	}
	return false
}

// judge fails the test for an error that sending again can't help.
func (c *consumer) judge(ctx context.Context, doing string, err error) {
	noted := fmt.Errorf("%s, at %s: %w", doing, time.Now().Format(time.TimeOnly), err)
	c.last.Store(&noted)
	if ctx.Err() == nil && !offset.Retriable(err) && !errors.Is(err, context.DeadlineExceeded) {
		c.load.tb.Errorf("%s of %s: %v", doing, c.queues[0].key.Group, err)
		pause(ctx, 100*time.Millisecond)
	}
}

// watch reads the queues again and again: nothing may be below what was
// acknowledged before the read began.
func (c *consumer) watch(ctx context.Context) {
	keys := make([]offset.Key, len(c.queues))
	floor := make([]int64, len(c.queues))
	for ctx.Err() == nil {
		for i, q := range c.queues {
			keys[i], floor[i] = q.key, q.acked.Load()
		}
		call, cancel := context.WithTimeout(ctx, callTime)
		states, _, err := c.client.Fetch(call, offset.ReadAt{}, keys...)
		cancel()
		if err != nil {
			c.judge(ctx, "reading", err)
		}
		for i := range states {
			if got := ask.Value(states[i]); got < floor[i] {
				c.load.tb.Errorf("%s reads as %d after %d was acknowledged", keys[i], got, floor[i])
			}
		}
		pause(ctx, 4*c.load.shape.Pace)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
