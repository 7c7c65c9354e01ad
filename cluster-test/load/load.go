// Package load is the work of consumers during a test, and the reckoning after
// it: each consumer owns queues of a group, commits ever larger offsets of them
// through client.RemoteStore, and remembers what was acknowledged. Readers
// beside them demand at all times that nothing read is below what was
// acknowledged before the read began.
package load

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
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

// Shape is how much work there is.
type Shape struct {
	// Clients is how many client.Client the consumers share; default 2.
	Clients int
	// Consumers is how many there are, each with Queues queues; default 6 and 4.
	Consumers, Queues int
	// Pace is the least time between two commits of a consumer; default 2 ms.
	Pace time.Duration
	// Seed draws the steps of the offsets; 0 takes the time. It is printed if
	// the test fails.
	Seed uint64
}

func (s Shape) withDefaults() Shape {
	for _, d := range []struct {
		field *int
		value int
	}{{&s.Clients, 2}, {&s.Consumers, 6}, {&s.Queues, 4}} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	if s.Pace == 0 {
		s.Pace = 2 * time.Millisecond
	}
	if s.Seed == 0 {
		s.Seed = uint64(time.Now().UnixNano())
	}
	return s
}

// Load is consumers at work. It stops with the test.
type Load struct {
	tb     testing.TB
	shape  Shape
	queues []*queue
	// consumers are all of them; not changed after Start.
	consumers []*consumer
	cancel    context.CancelFunc
	all       sync.WaitGroup
	acks      atomic.Int64

	mu   sync.Mutex // guards what follows
	last time.Time
	gap  time.Duration
}

// queue is what was sent and acknowledged of one key. Its consumer writes it.
type queue struct {
	key         offset.Key
	acked, sent atomic.Int64 // -1 before the first
}

// Start begins the work; dial makes a client for consumers to share.
func Start(tb testing.TB, dial func() *client.Client, shape Shape) *Load {
	shape = shape.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	l := &Load{tb: tb, shape: shape, cancel: cancel, last: time.Now()}
	var clients []*client.Client
	for range shape.Clients {
		clients = append(clients, dial())
	}
	tb.Cleanup(func() {
		l.Stop()
		if tb.Failed() {
			tb.Logf("seed of the load: %d", shape.Seed)
			for _, c := range l.consumers {
				if err := c.last.Load(); err != nil {
					tb.Logf("%s failed last %v", c.queues[0].key.Group, *err)
				}
			}
		}
	})
	for i := range shape.Consumers {
		c := l.consumer(clients[i%len(clients)], i)
		l.all.Go(func() { c.run(ctx) })
		l.all.Go(func() { c.watch(ctx) })
	}
	return l
}

func (l *Load) consumer(c *client.Client, i int) *consumer {
	group := fmt.Sprintf("load-%02d", i)
	k := &consumer{load: l, client: c, random: rand.New(rand.NewPCG(l.shape.Seed, uint64(i)))}
	var err error
	if k.store, err = client.NewRemoteStore(c, group, client.WithPersistInterval(0)); err != nil {
		l.tb.Fatal(err)
	}
	for q := range l.shape.Queues {
		key := offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b", QueueID: int32(q)}}
		x := &queue{key: key}
		x.acked.Store(-1)
		x.sent.Store(-1)
		k.queues = append(k.queues, x)
	}
	l.queues = append(l.queues, k.queues...)
	l.consumers = append(l.consumers, k)
	return k
}

// Stop ends the work; it may be called again.
func (l *Load) Stop() {
	l.cancel()
	l.all.Wait()
}

// Acknowledged is how many offsets were acknowledged so far.
func (l *Load) Acknowledged() int64 { return l.acks.Load() }

// More waits until each queue has been acknowledged at least n times more.
func (l *Load) More(n int) {
	l.tb.Helper()
	target := l.acks.Load() + int64(n*len(l.queues))
	before := make([]int64, len(l.queues))
	for i, q := range l.queues {
		before[i] = q.acked.Load()
	}
	ask.Until(l.tb, "further offsets of every queue are acknowledged", func() bool {
		for i, q := range l.queues {
			if q.acked.Load() <= before[i] {
				return false
			}
		}
		return l.acks.Load() >= target
	})
}

// acknowledged counts an acknowledgement of all queues of a consumer.
func (l *Load) acknowledged(n int) {
	l.acks.Add(int64(n))
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.gap, l.last = max(l.gap, now.Sub(l.last)), now
}

// LongestGap is the longest time without any acknowledgement since it was
// asked for last.
func (l *Load) LongestGap() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	gap := l.gap
	l.gap = 0
	return gap
}

// Check ends the work and demands of each node, at every level of reading,
// that everything acknowledged is there, and nothing that was never sent.
func (l *Load) Check(nodes []*ask.Node) {
	l.tb.Helper()
	l.Stop()
	keys := make([]offset.Key, len(l.queues))
	for i, q := range l.queues {
		keys[i] = q.key
	}
	for _, n := range nodes {
		index := l.checkAt(n, ask.Default, keys)
		l.checkAt(n, ask.AtLeast(index), keys)
		l.checkAt(n, ask.Local, keys)
	}
	ask.Same(l.tb, nodes)
}

func (l *Load) checkAt(n *ask.Node, at offset.ReadAt, keys []offset.Key) uint64 {
	l.tb.Helper()
	var (
		states []offset.KeyState
		meta   offset.Meta
		err    error
	)
	ask.Until(l.tb, n.Name+" answers", func() bool {
		states, meta, err = n.Fetch(ask.Within(l.tb, 2*time.Second), at, keys...)
		if err != nil && !offset.Retriable(err) {
			l.tb.Fatalf("%s refuses a read (%v): %v", n.Name, at.Level, err)
		}
		return err == nil
	})
	for i, q := range l.queues {
		acked, sent, got := q.acked.Load(), q.sent.Load(), ask.Value(states[i])
		if got < acked {
			l.tb.Errorf("%s (%v): %s is %d, and %d was acknowledged", n.Name, at.Level, q.key, got, acked)
		}
		if got > sent {
			l.tb.Errorf("%s (%v): %s is %d, and at most %d was sent", n.Name, at.Level, q.key, got, sent)
		}
	}
	return meta.Index
}

// errFenced is a fence in a test where nobody acts.
var errFenced = errors.New("fenced, though nobody acted")
