package backup

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/offset"
)

// consumers commit ever larger offsets, each of a queue of its own; one that is
// fenced begins anew where the cluster has it, as the page says.
type consumers struct {
	tb   testing.TB
	list []*consumer
	stop context.CancelFunc
	all  sync.WaitGroup
}

// consumer is one of them. The numbers are written by its goroutine alone.
type consumer struct {
	store *client.RemoteStore
	key   offset.Key
	// acked is what was acknowledged last, or where it began anew since; sent
	// what was sent at most.
	acked, sent atomic.Int64
	// commits counts acknowledgements, fences how often it had to begin anew,
	// told how often it was told to, and began is where it last did.
	commits, fences, told, began atomic.Int64
}

// consume starts n consumers.
func consume(tb testing.TB, dial func() *client.Client, n int) *consumers {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c := &consumers{tb: tb, stop: cancel}
	cl := dial()
	for i := range n {
		x := &consumer{key: offset.Key{Group: fmt.Sprintf("busy-%d", i), MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b"}}}
		var err error
		x.store, err = client.NewRemoteStore(cl, x.key.Group, client.WithPersistInterval(0), client.WithOnFenced(func(client.Fence) { x.told.Add(1) }))
		if err != nil {
			tb.Fatal(err)
		}
		c.list = append(c.list, x)
	}
	tb.Cleanup(c.end)
	for _, x := range c.list {
		c.all.Go(func() { c.run(ctx, x) })
	}
	return c
}

// end stops the work; it may be called again.
func (c *consumers) end() {
	c.stop()
	c.all.Wait()
}

func (c *consumers) run(ctx context.Context, x *consumer) {
	at := c.begin(ctx, x)
	for ctx.Err() == nil {
		at++
		x.sent.Store(max(x.sent.Load(), at))
		x.store.UpdateOffset(x.key.MessageQueue, at, true)
		switch err := c.call(ctx, func(call context.Context) error {
			return x.store.PersistAll(call, []offset.MessageQueue{x.key.MessageQueue})
		}); {
		case err == nil:
			x.acked.Store(at)
			x.commits.Add(1)
		case errors.Is(err, offset.ErrFenced):
			x.store.RemoveOffset(x.key.MessageQueue)
			at = c.begin(ctx, x)
			x.acked.Store(at)
			x.began.Store(at)
			x.fences.Add(1)
		case ctx.Err() == nil && !offset.Retriable(err) && !errors.Is(err, context.DeadlineExceeded):
			c.tb.Errorf("%s: %v", x.key.Group, err)
			return
		}
	}
	_ = c.call(context.Background(), x.store.Close) // nobody counts on what it has left
}

// begin reads where the queue is, for as long as it takes.
func (c *consumers) begin(ctx context.Context, x *consumer) (at int64) {
	for ctx.Err() == nil {
		err := c.call(ctx, func(call context.Context) (err error) {
			at, err = x.store.ReadOffset(call, x.key.MessageQueue, client.ReadFromStore)
			return err
		})
		if err == nil {
			return at
		}
		if errors.Is(err, offset.ErrNoOffset) {
			return 0
		}
	}
	return 0
}

func (c *consumers) call(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return do(ctx)
}

// more waits until each has been acknowledged n times more.
func (c *consumers) more(n int64) {
	c.tb.Helper()
	for _, x := range c.list {
		goal := x.commits.Load() + n
		ask.Until(c.tb, x.key.Group+" goes on", func() bool { return x.commits.Load() >= goal })
	}
}

// check ends the work and demands of each node that what was acknowledged since
// the last fence is there, and nothing that was never sent.
func (c *consumers) check(nodes []*ask.Node) {
	c.tb.Helper()
	c.end()
	for _, n := range nodes {
		for _, x := range c.list {
			s, _, err := n.Fetch(ask.Within(c.tb, ask.Patience), ask.Default, x.key)
			if err != nil {
				c.tb.Fatalf("%s: %v", n.Name, err)
			}
			if v := ask.Value(s[0]); v < x.acked.Load() || v > x.sent.Load() {
				c.tb.Errorf("%s reads %s as %d; %d was acknowledged, and %d sent", n.Name, x.key, v, x.acked.Load(), x.sent.Load())
			}
		}
	}
	ask.Same(c.tb, nodes)
}
