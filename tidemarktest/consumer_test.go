package tidemarktest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// queuesEach is how many queues a consumer has.
const queuesEach = 4

// consumer is one process of an application: a client and a store of its own,
// which persists its queues again and again, whatever happens to the cluster.
type consumer struct {
	tb     testing.TB
	client *client.Client
	store  *client.RemoteStore
	queues []offset.MessageQueue
	random *rand.Rand // run's alone
	late   *lateness

	// acked is what each queue was acknowledged at; rounds counts the runs of
	// persisting that were acknowledged whole. Read by others, too.
	acked  [queuesEach]atomic.Int64
	rounds atomic.Int64
	// err is what the last run of persisting failed with.
	err atomic.Value
	// named counts how often a value was reported as not persisted.
	named atomic.Int64
	// last is each queue's last update; read after run has returned.
	last [queuesEach]int64
}

// begin reads all queues, as a consumer does before their first messages.
func (c *consumer) begin() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, mq := range c.queues {
		if _, err := c.store.ReadOffset(ctx, mq, client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
			c.tb.Errorf("%v of a new cluster: %v", mq, err)
		}
	}
}

// run raises all queues and persists them, each time with a deadline of its
// own, until ctx ends. Every value that it gives to the store is acknowledged
// by the call, or named by it.
func (c *consumer) run(ctx context.Context) {
	for ctx.Err() == nil {
		for i, mq := range c.queues {
			c.last[i] += 1 + c.random.Int64N(5)
			c.store.UpdateOffset(mq, c.last[i], true)
		}
		var err error
		c.late.call("PersistAll", time.Duration(100+c.random.IntN(1400))*time.Millisecond, func(ctx context.Context) {
			err = c.store.PersistAll(ctx, c.queues)
		})
		c.take(err)
		pause(ctx, time.Duration(50+c.random.IntN(100))*time.Millisecond)
	}
}

// take notes what became of the values that were given last.
func (c *consumer) take(err error) {
	names := c.names(err)
	c.named.Add(int64(len(names)))
	for i, mq := range c.queues {
		if !names[mq] {
			c.acked[i].Store(c.last[i])
		}
	}
	if len(names) == 0 {
		c.rounds.Add(1)
		return
	}
	c.err.Store(fmt.Sprintf("at %s: %v", time.Now().Format(time.TimeOnly), err))
}

// names are the queues that an error of persisting says are not persisted.
func (c *consumer) names(err error) map[offset.MessageQueue]bool {
	names := make(map[offset.MessageQueue]bool)
	p := (*client.PersistError)(nil)
	switch {
	case err == nil:
	case errors.As(err, &p):
		for _, q := range p.Queues {
			names[q.Queue] = true
			if errors.Is(q.Err, offset.ErrFenced) || errors.Is(q.Err, offset.ErrNotRead) {
				c.tb.Errorf("%v: %v, though nobody moved it", q.Queue, q.Err)
			}
		}
	default: // it says nothing of a queue, so nothing is known of any
		for _, mq := range c.queues {
			names[mq] = true
		}
	}
	return names
}

// watch reads the queues again and again: none may be below what was
// acknowledged before the read began.
func (c *consumer) watch(ctx context.Context) {
	for i := 0; ctx.Err() == nil; i = (i + 1) % queuesEach {
		floor := c.acked[i].Load()
		c.late.call("ReadOffset", 500*time.Millisecond, func(ctx context.Context) {
			v, err := c.store.ReadOffset(ctx, c.queues[i], client.ReadFromStore)
			if err == nil && v < floor || errors.Is(err, offset.ErrNoOffset) && floor > 0 {
				c.tb.Errorf("%v reads as %d, %v after %d was acknowledged", c.queues[i], v, err, floor)
			}
		})
		pause(ctx, 200*time.Millisecond)
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// promise is how long after its deadline a call comes back at the latest.
const promise = 100 * time.Millisecond

// lateness is how late calls came back, at worst: after their deadlines; after
// the moment at which a goroutine that waits for the deadline alone was told of
// it (own); and how late the machine told that one (machines).
type lateness struct {
	mu                   sync.Mutex // guards what follows
	calls                int
	which                string
	worst, own, machines time.Duration
}

func (l *lateness) call(name string, d time.Duration, do func(context.Context)) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	deadline, _ := ctx.Deadline()
	told := make(chan time.Time, 1)
	stop := context.AfterFunc(ctx, func() { told <- time.Now() })
	do(ctx)
	back := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	if stop() {
		return // it was in time
	}
	at := <-told
	l.machines = max(l.machines, at.Sub(deadline))
	l.own = max(l.own, back.Sub(at))
	if late := back.Sub(deadline); late > l.worst {
		l.worst, l.which = late, name
	}
}
