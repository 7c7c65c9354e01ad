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
	row("restart after kill -9, with a tail of the log", "serves after %v with %.0f MB; %v more for 100 MB", round(long), tail/1e6,
		round(time.Duration(float64(long-bare)*100e6/max(tail, 1))))
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
// much as the node lets grow before it takes another: a node cuts its log
// before its replay would take too long. It tells how much there is.
func (t *trial) grow(ctx context.Context, name string) (tail float64, err error) {
	most := float64(t.Tail) * 1e6
	start, err := t.cluster.Metrics(ctx, name)
	if err != nil {
		return 0, err
	}
	at := time.Now().UnixMilli()
	for tail < 0.9*most {
		begin, cut, asked := tail, false, time.Now()
		stop := func() bool {
			if time.Since(asked) < 200*time.Millisecond || err != nil {
				return err != nil
			}
			asked = time.Now()
			var m map[string]float64
			if m, err = t.cluster.Metrics(ctx, name); err != nil {
				return true
			}
			if m["tidemark_snapshots_total"] != start["tidemark_snapshots_total"] {
				cut = true
				return true
			}
			tail = m["tidemark_disk_write_bytes_total"] - start["tidemark_disk_write_bytes_total"]
			return tail >= most
		}
		at += 1000
		if failed := t.everyTopic(ctx, at, stop); err == nil {
			err = failed
		}
		if err != nil {
			return 0, err
		}
		if cut { // begin anew behind that snapshot, and stay below it
			row("a node took a snapshot by itself", "after %.0f MB of log", tail/1e6)
			if start, err = t.cluster.Metrics(ctx, name); err != nil {
				return 0, err
			}
			most, tail = 0.8*max(tail, begin), 0
		}
	}
	return tail, nil
}
