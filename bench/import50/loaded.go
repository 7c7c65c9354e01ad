package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/bench/paced"
	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// The commits beside the import: 100 a second, of 100 queues of one group.
const (
	loadGroup = "bench-load"
	loadEvery = 10 * time.Millisecond
)

// others starts the commits beside the import.
func others(ctx context.Context, c *client.Client, id offset.ClusterID) *paced.Load {
	return paced.Start(ctx, loadEvery, func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		key := offset.Key{Group: loadGroup, MessageQueue: offset.MessageQueue{Topic: "t", QueueID: int32(i % 100)}}
		_, _, err := c.Commit(ctx, id, []offset.Commit{{Key: key, Offset: int64(i)}})
		return err
	})
}

// loaded imports with commits beside it. The leader is killed at half; the
// import at three quarters, and run again; at the end it is run once more.
func (t *trial) loaded(ctx context.Context) (sum [32]byte, err error) {
	if err := t.cluster.Up(); err != nil {
		return sum, err
	}
	c, err := t.cluster.Client()
	if err != nil {
		return sum, err
	}
	defer c.Close()
	id, err := nodes.Identity(ctx, c)
	if err != nil {
		return sum, err
	}
	load := others(ctx, c, id)
	w := watch(ctx, t.cluster)
	err = t.disturbed(ctx, c, load, w)
	failed, last := load.Stop()
	w.stop()
	if err == nil && failed > 0 {
		err = fmt.Errorf("%d other commits failed, the last with: %w", failed, last)
	}
	if err != nil {
		return sum, err
	}
	return t.export()
}

// disturbed is the import and what befalls it.
func (t *trial) disturbed(ctx context.Context, c *client.Client, load *paced.Load, w *watcher) error {
	select {
	case <-time.After(3 * time.Second): // a word of the load alone
	case <-ctx.Done():
		return ctx.Err()
	}
	alone := load.Took.Take()
	row("other commits (100/s), before the import", "%v", alone)
	began := time.Now()
	first, end, err := t.begin()
	if err != nil {
		return err
	}
	if err := t.reach(ctx, c, 0.5); err != nil {
		return err
	}
	t.others("other commits during the import, to the kill", load.Took.Take())
	if t.Kill {
		t.bound("changes of the leader by itself", float64(w.changes()), 0, "%d", w.changes())
		killed, err := t.killLeader(ctx, c, w)
		if err != nil {
			return err
		}
		if err := t.reach(ctx, c, 0.75); err != nil {
			return err
		}
		if err := first.Process.Kill(); err != nil {
			return err
		}
		_, _ = end() // it was killed
		if err := t.resumable(ctx, c); err != nil {
			return err
		}
		if _, end, err = t.begin(); err != nil {
			return err
		}
		if err := t.bringBack(ctx, killed, w); err != nil {
			return err
		}
	}
	s, err := end()
	if err != nil {
		return err
	}
	row("time under load, kills included", "%v", round(time.Since(began)))
	row("the import that was run again", "went on at chunk %d of %d", s.Resumed, s.Chunks)
	if t.Kill && s.Resumed == 0 {
		return errors.New("it began anew instead of going on")
	}
	t.others("other commits from the kill to the end", load.Took.Take())
	if err := t.applied(ctx); err != nil {
		return err
	}
	return t.repeat()
}

// others tells of the other commits; their p99 has a bound.
func (t *trial) others(what string, took latency.Sorted) {
	t.bound(what, took.Of(0.99).Seconds(), 1, "%v", took)
}

// reach waits until so much of the import is done, as status shows it.
func (t *trial) reach(ctx context.Context, c *client.Client, part float64) error {
	began := time.Now()
	for seen := false; time.Since(began) < 10*time.Minute; {
		st, err := leaderStatus(ctx, c)
		switch {
		case err != nil || st.State != "leader":
		case st.Import == nil && (seen || st.Queues >= uint64(t.offsets())):
			return fmt.Errorf("the import was over before status showed %.0f %%; take a larger file", 100*part)
		case st.Import != nil && float64(st.Import.Next) >= part*float64(st.Import.Chunks):
			return nil
		case st.Import != nil:
			seen = true
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return fmt.Errorf("status did not show %.0f %% of the import within 10 minutes", 100*part)
}

// leaderStatus asks the leader, within a second.
func leaderStatus(ctx context.Context, c *client.Client) (offset.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	return c.Status(ctx, c.Leader())
}

func (t *trial) killLeader(ctx context.Context, c *client.Client, w *watcher) (leader string, err error) {
	if leader, err = t.cluster.Leader(); err != nil {
		return "", err
	}
	st, err := leaderStatus(ctx, c)
	if err != nil || st.Import == nil {
		return "", fmt.Errorf("the import was over before the leader could be killed (%v)", err)
	}
	w.pause(leader)
	if err := t.cluster.Kill(ctx, leader); err != nil {
		return "", err
	}
	row("leader killed with SIGKILL", "at chunk %d of %d", st.Import.Next, st.Import.Chunks)
	return leader, nil
}

// bringBack starts the killed node, and waits until it serves.
func (t *trial) bringBack(ctx context.Context, name string, w *watcher) error {
	if _, err := t.cluster.Sh("start", name); err != nil {
		return err
	}
	took, err := t.cluster.AwaitReady(ctx, name)
	if err != nil {
		return fmt.Errorf("the killed node did not come back: %w", err)
	}
	row("the killed node serves again, beside the import", "after %v", round(took))
	w.resume(name)
	return nil
}

// resumable demands that status tells what is there, and how far it is.
func (t *trial) resumable(ctx context.Context, c *client.Client) error {
	st, err := leaderStatus(ctx, c)
	if err != nil {
		return err
	}
	if st.Import == nil {
		return errors.New("the import was over before it could be killed; take a larger file")
	}
	row("import killed with SIGKILL; status", "chunk %d of %d, %d offsets there", st.Import.Next, st.Import.Chunks, st.Queues)
	return nil
}

// applied tells the longest Apply of the leader, and of the others, who apply
// up to 16 entries at once where they catch up.
func (t *trial) applied(ctx context.Context) error {
	var longest, others float64
	for _, n := range nodes.Names {
		m, err := t.cluster.Metrics(ctx, n)
		if err != nil {
			return err
		}
		if took := m["tidemark_apply_longest_seconds"]; m["tidemark_leader"] == 1 {
			longest = max(longest, took)
		} else {
			others = max(others, took)
		}
	}
	t.bound("longest Apply of the second leader, under load", longest, 0.050, "%.1f ms", 1e3*longest)
	row("longest Apply of the others, who catch up by up to 16 entries at once", "%.1f ms", 1e3*others)
	return nil
}

// repeat imports the whole file again: nothing changes.
func (t *trial) repeat() error {
	began := time.Now()
	s, err := t.bring()
	if err != nil {
		return err
	}
	if s.Changed != 0 || s.Kept != uint64(t.offsets()) {
		return fmt.Errorf("the second import changed %d offsets and kept %d of %d", s.Changed, s.Kept, t.offsets())
	}
	row("the same file again", "nothing changed, %v", round(time.Since(began)))
	_ = os.Stdout.Sync() // rows appear as they come
	return nil
}
