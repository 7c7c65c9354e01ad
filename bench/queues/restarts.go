package main

import (
	"context"
	"time"
)

// restarts kills a follower and measures its way back: with nothing in the log
// behind its snapshot, and with a tail.
func (t *trial) restarts(ctx context.Context) error {
	name, err := t.follower()
	if err != nil {
		return err
	}
	bare, err := t.restart(ctx, name)
	if err != nil {
		return err
	}
	row("restart after kill -9, no log behind the snapshot", "serves after %v", round(bare))
	tail, err := t.grow(ctx, name)
	if err != nil {
		return err
	}
	long, err := t.restart(ctx, name)
	if err != nil {
		return err
	}
	row("restart after kill -9, with a tail of the log", "serves after %v with %.1f MB (%v more for 100 MB)", round(long), tail/1e6,
		round(max(0, time.Duration(float64(long-bare)*100e6/max(tail, 1)))))
	return t.applied(ctx)
}

// restart kills a node, starts it, and tells how long it took to serve.
func (t *trial) restart(ctx context.Context, name string) (time.Duration, error) {
	if err := t.cluster.Kill(ctx, name); err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := t.cluster.Sh("start", name); err != nil {
		return 0, err
	}
	_, err := t.cluster.AwaitReady(ctx, name)
	return time.Since(began), err
}

// grow writes log behind a node's snapshot, as much as was asked for, or as
// much as the node lets grow before it takes another: it cuts its log before
// the replay would take too long. It tells how much there is.
func (t *trial) grow(ctx context.Context, name string) (tail float64, err error) {
	most := float64(t.Tail) * 1e6
	var peak float64
	cut, asked := false, time.Now()
	enough := func() bool {
		if time.Since(asked) < 200*time.Millisecond {
			return false
		}
		asked = time.Now()
		if tail, err = t.tail(ctx, name); err != nil {
			return true
		}
		if tail < peak/2 && !cut {
			cut = true
			row("the node that is to restart took a snapshot by itself", "after %.0f MB of log", peak/1e6)
		}
		peak = max(peak, tail)
		return tail >= most || cut && tail >= 0.7*peak
	}
	for at := time.Now().UnixMilli(); ; at += 1000 {
		done := false
		stop := func() bool { done = enough(); return done }
		if failed := t.everyTopic(ctx, at, stop); err == nil {
			err = failed
		}
		if err != nil || done {
			break
		}
	}
	if err == nil {
		tail, err = t.tail(ctx, name)
	}
	return tail, err
}

// tail is how much log a node would replay.
func (t *trial) tail(ctx context.Context, name string) (float64, error) {
	m, err := t.cluster.Metrics(ctx, name)
	return m["tidemark_log_tail_bytes"], err
}
