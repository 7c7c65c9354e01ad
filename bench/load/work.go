package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// work is a case: so many callers, each with one request of so many keys under
// way at a time.
type work struct {
	what           string // commit or read
	callers, batch int
}

func (w work) String() string {
	keys := "one offset"
	if w.batch > 1 {
		keys = fmt.Sprintf("%d offsets", w.batch)
	}
	what := map[string]string{"commit": "commits", "read": "linearizable reads"}[w.what]
	return fmt.Sprintf("%s, %s a request, from %d callers of one Client", what, keys, w.callers)
}

func parse(text string) (w work, err error) {
	parts := strings.Split(text, ":")
	if len(parts) != 3 || parts[0] != "commit" && parts[0] != "read" {
		return w, fmt.Errorf("%q is no case; write commit:CALLERS:BATCH or read:CALLERS:BATCH", text)
	}
	w.what = parts[0]
	if w.callers, err = strconv.Atoi(parts[1]); err == nil {
		w.batch, err = strconv.Atoi(parts[2])
	}
	if err != nil || w.callers < 1 || w.callers > 1024 || w.batch < 1 || w.batch > offset.MaxCommits {
		return w, fmt.Errorf("%q is no case; callers are 1 to 1024, a batch has 1 to %d keys", text, offset.MaxCommits)
	}
	return w, nil
}

// caller is one goroutine's part.
type caller struct {
	client  *client.Client
	cluster offset.ClusterID
	keys    []offset.Key
	commits []offset.Commit
}

// newCaller gives caller i keys of its own: a group, and topics of 16 queues.
func newCaller(c *client.Client, id offset.ClusterID, i int, w work) *caller {
	k := &caller{client: c, cluster: id}
	for q := range w.batch {
		key := offset.Key{Group: fmt.Sprintf("com.example.shop.orders.group-%010d", i), MessageQueue: offset.MessageQueue{
			Topic: fmt.Sprintf("com.example.shop.orders.topic-%010d", q/16), Broker: "broker-a", QueueID: int32(q % 16),
		}}
		k.keys = append(k.keys, key)
		k.commits = append(k.commits, offset.Commit{Key: key, Offset: time.Now().UnixMilli()})
	}
	return k
}

// commit raises all keys by some.
func (k *caller) commit(ctx context.Context) error {
	for i := range k.commits {
		k.commits[i].Offset += int64(1 + i%7)
	}
	_, _, err := k.client.Commit(ctx, k.cluster, k.commits)
	return err
}

func (k *caller) read(ctx context.Context) error {
	states, _, err := k.client.Fetch(ctx, offset.ReadAt{}, k.keys...)
	if err == nil && !states[0].Exists {
		err = fmt.Errorf("%s has no offset", k.keys[0])
	}
	return err
}

// once runs the case for so long.
func once(cluster *nodes.Cluster, w work, long time.Duration) (r result, err error) {
	c, err := cluster.Client()
	if err != nil {
		return r, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), long+30*time.Second)
	defer cancel()
	id, err := nodes.Identity(ctx, c)
	if err != nil {
		return r, err
	}
	callers := make([]*caller, w.callers)
	for i := range callers {
		callers[i] = newCaller(c, id, i, w)
		if err := callers[i].commit(ctx); err != nil { // not counted: it makes the keys
			return r, err
		}
	}
	return together(ctx, callers, w, long)
}

// together has all callers at work until the time is over; the first failure ends it.
func together(ctx context.Context, callers []*caller, w work, long time.Duration) (r result, err error) {
	var (
		samples latency.Samples
		all     sync.WaitGroup
		done    atomic.Int64
		failure atomic.Pointer[error]
	)
	began := time.Now()
	for _, k := range callers {
		do := k.commit
		if w.what == "read" {
			do = k.read
		}
		all.Go(func() {
			for at := time.Now(); at.Sub(began) < long && failure.Load() == nil; {
				if err := do(ctx); err != nil {
					failure.CompareAndSwap(nil, &err)
					return
				}
				now := time.Now()
				samples.Add(now.Sub(at))
				done.Add(int64(w.batch))
				at = now
			}
		})
	}
	all.Wait()
	if e := failure.Load(); e != nil {
		return r, *e
	}
	return result{rate: float64(done.Load()) / time.Since(began).Seconds(), took: samples.Take()}, nil
}
