package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/offset"
)

// The shape: 16 queues to a topic, 50 topics to a group.
const perTopic, perGroup = 16, 50

// topic gives the commits of one topic, with names of 40 bytes.
func topic(i int, at int64) (list [perTopic]offset.Commit) {
	mq := offset.MessageQueue{Topic: fmt.Sprintf("com.example.shop.orders.topic-%010d", i%2000), Broker: fmt.Sprintf("broker-%d", i%4)}
	group := fmt.Sprintf("com.example.shop.orders.group-%010d", i/perGroup)
	for q := range list {
		mq.QueueID = int32(q)
		list[q] = offset.Commit{Key: offset.Key{Group: group, MessageQueue: mq}, Offset: at + int64(q*q)}
	}
	return list
}

// commitTopics commits whole topics in one request.
func (t *trial) commitTopics(ctx context.Context, topics []int, at int64) error {
	list := make([]offset.Commit, 0, perTopic*len(topics))
	for _, i := range topics {
		c := topic(i, at)
		list = append(list, c[:]...)
	}
	_, _, err := t.client.Commit(ctx, t.id, list)
	return err
}

// everyTopic has 4 callers commit the topics in a random order, 400 a request,
// until all are done or stop says so.
func (t *trial) everyTopic(ctx context.Context, at int64, stop func() bool) error {
	const most = 400
	order := rand.New(rand.NewPCG(1, uint64(at))).Perm(t.topics)
	work := make(chan []int)
	var all sync.WaitGroup
	failures := make(chan error, 4)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for range cap(failures) {
		all.Go(func() {
			for topics := range work {
				if err := t.commitTopics(ctx, topics, at); err != nil {
					failures <- err
					cancel()
					return
				}
			}
		})
	}
	for len(order) > 0 && ctx.Err() == nil && !stop() {
		n := min(most, len(order))
		select {
		case work <- order[:n]:
			order = order[n:]
		case <-ctx.Done():
		}
	}
	close(work)
	all.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return ctx.Err()
	}
}

// fill commits every topic once, and tells what the table takes then.
func (t *trial) fill(ctx context.Context) error {
	empty, err := t.memories(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if err := t.everyTopic(ctx, 1e9, func() bool { return false }); err != nil {
		return fmt.Errorf("filling: %w", err)
	}
	took := time.Since(began)
	n := float64(t.topics * perTopic)
	row("filled, by batches of 6,400 commits from 4 callers", "%d in %v: %.0f/s", int(n), round(took), n/took.Seconds())
	full, err := t.memories(ctx)
	if err != nil {
		return err
	}
	var heap, resident float64
	for i := range full {
		heap = max(heap, (full[i].Heap-empty[i].Heap)/n)
		resident = max(resident, (full[i].Resident-empty[i].Resident)/n)
	}
	row("memory a queue: Go heap; process with garbage", "%.1f bytes; %.1f bytes", heap, resident)
	return t.applied(ctx)
}

func (t *trial) memories(ctx context.Context) (list []nodes.Memory, err error) {
	for _, n := range nodes.Names {
		m, err := t.cluster.Memory(ctx, n)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}
