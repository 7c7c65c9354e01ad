package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/bench/paced"
	"github.com/tidemark-mq/tidemark/client"
)

// others commits 6 topics a request, at a steady rate.
func (t *trial) others(ctx context.Context) *paced.Load {
	base := time.Now().UnixMilli()
	return paced.Start(ctx, time.Second/time.Duration(t.Rate), func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		r := rand.New(rand.NewPCG(uint64(i), 7))
		topics := make([]int, 6)
		for j := range topics {
			topics[j] = r.IntN(t.topics)
		}
		return t.commitTopics(ctx, topics, base+int64(i))
	})
}

// snapshots measures commits alone, and while the leader and then the others
// write snapshots.
func (t *trial) snapshots(ctx context.Context) error {
	load := t.others(ctx)
	err := t.beside(ctx, load)
	failed, last := load.Stop()
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d commits beside snapshots failed, the last with: %w", failed, last)
	}
	if err != nil {
		return err
	}
	for _, n := range nodes.Names {
		if _, err := t.write(ctx, n); err != nil { // so that restarts have no tail
			return err
		}
	}
	return t.applied(ctx)
}

func (t *trial) beside(ctx context.Context, load *paced.Load) error {
	if err := wait(ctx, 2*time.Second); err != nil {
		return err
	}
	load.Took.Take()
	if err := wait(ctx, t.For); err != nil {
		return err
	}
	alone := load.Took.Take()
	row(fmt.Sprintf("commits of 96 offsets, %d a second, alone", t.Rate), "%v", alone)
	leader, err := t.cluster.Leader()
	if err != nil {
		return err
	}
	if t.Cpu != "" {
		done := make(chan error, 1)
		go func() { done <- t.cluster.Profile(ctx, leader, 5, t.Cpu) }() // awaited below
		defer func() { <-done }()
	}
	if err := t.told(ctx, leader, "leader", load, alone); err != nil {
		return err
	}
	follower, err := t.follower()
	if err != nil {
		return err
	}
	return t.told(ctx, follower, "follower", load, alone)
}

// leastTime is how long snapshots are written one after another, so that enough
// commits fall into it.
const leastTime = 5 * time.Second

// told has one node write a snapshot, and tells of it and of the commits meanwhile.
func (t *trial) told(ctx context.Context, name, role string, load *paced.Load, alone latency.Sorted) error {
	load.Took.Take()
	var took time.Duration
	times := 0
	for began := time.Now(); time.Since(began) < leastTime; times++ {
		d, err := t.write(ctx, name)
		if err != nil {
			return err
		}
		took = max(took, d)
	}
	meanwhile := load.Took.Take()
	m, err := t.cluster.Metrics(ctx, name)
	if err != nil {
		return err
	}
	row("snapshot of the "+role+", beside these commits", "taking it kept Apply waiting %.3f ms; written in %v (the longest of %d)", 1e3*m["tidemark_snapshot_take_longest_seconds"], round(took), times)
	row("commits while the "+role+" wrote", "%v; p99 is %.1f times that alone", meanwhile, meanwhile.Of(0.99).Seconds()/alone.Of(0.99).Seconds())
	return nil
}

// write has a node take a snapshot, and tells how long that took in all.
func (t *trial) write(ctx context.Context, name string) (time.Duration, error) {
	before, err := t.cluster.Metrics(ctx, name)
	if err != nil {
		return 0, err
	}
	// A call may take as long as the writing.
	c, err := client.New([]string{t.cluster.API(name)}, client.WithAttemptTimeout(5*time.Minute))
	if err != nil {
		return 0, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	began := time.Now()
	if _, _, _, err := c.Snapshot(ctx, t.cluster.API(name)); err != nil {
		return 0, fmt.Errorf("snapshot of %s: %w", name, err)
	}
	took := time.Since(began)
	after, err := t.cluster.Metrics(ctx, name)
	if err == nil && after["tidemark_snapshots_total"] <= before["tidemark_snapshots_total"] {
		err = fmt.Errorf("%s has taken no snapshot", name)
	}
	return took, err
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
