package node

import (
	"context"
	"errors"
	"sort"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// leastLog is the least log between two snapshots, however slow replay is.
const leastLog = 16 << 20

// snapshotState is what a replica knows of its snapshots.
type snapshotState struct {
	mu sync.Mutex // held while one is taken
	// size is the bytes of the last snapshot, during what was logged meanwhile.
	size, during atomic.Uint64
}

// snapshots takes one whenever enough log has been written, until ctx is done.
func (r *replica) snapshots(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if r.alarm.Load() || uint64(r.disk.LogBytesAfter(r.snapshotIndex())) < r.logLimit() {
			continue
		}
		if _, _, err := r.snapshot(ctx); err != nil && ctx.Err() == nil {
			r.config.Logger.Warn("no snapshot was taken", "error", err)
			pause(ctx, 10*time.Second)
		}
	}
}

// logLimit is how much log this member lets follow the last snapshot: the leader
// the most there may be, each follower a fraction of its own, so that they do not
// all write at once.
func (r *replica) logLimit() uint64 {
	if r.lead.leads() {
		return r.mostLog()
	}
	return uint64(float64(r.mostLog()) * r.share())
}

// mostLog is how much log may follow the last snapshot.
func (r *replica) mostLog() uint64 {
	limit := max(r.config.Snapshots.LogBytes, 2*r.snap.size.Load())
	if rate := r.machine.replayRate(); rate > 0 {
		limit = min(limit, max(leastLog, uint64(rate*r.config.Snapshots.Replay.Seconds())))
	}
	return limit
}

// share is this member's fraction as a follower, between a half and nine tenths.
func (r *replica) share() float64 {
	servers := r.servers()
	ids := make([]string, 0, len(servers))
	for _, s := range servers {
		ids = append(ids, string(s.ID))
	}
	sort.Strings(ids)
	return 0.5 + 0.4*float64(sort.SearchStrings(ids, r.id))/float64(max(len(ids), 1))
}

// snapshot takes one now, and cuts the log before it to the budget of bytes. One that
// takes longer than ctx lasts continues, and none is begun meanwhile.
func (r *replica) snapshot(ctx context.Context) (index, bytes uint64, err error) {
	if !r.snap.mu.TryLock() {
		return 0, 0, offset.Errorf(offset.ErrBusy, "a snapshot is being taken already")
	}
	type taken struct {
		index, bytes uint64
		err          error
	}
	done := make(chan taken, 1)
	go func() { // stop waits for it
		index, bytes, err := r.takeSnapshot()
		r.snap.mu.Unlock()
		done <- taken{index, bytes, err}
	}()
	select {
	case t := <-done:
		return t.index, t.bytes, t.err
	case <-ctx.Done():
		return 0, 0, offset.Errorf(offset.ErrOutcomeUnknown, "the snapshot is still being written")
	}
}

// takeSnapshot takes one, however long that lasts, unless raft ends first.
func (r *replica) takeSnapshot() (index, bytes uint64, err error) {
	if err := r.setTrailing(); err != nil {
		return 0, 0, err
	}
	before, began := r.disk.Appended(), time.Now()
	if err := awaitUntil(r.proposer.end, r.raft.Snapshot()); err != nil && !errors.Is(err, raft.ErrNothingNewToSnapshot) {
		if errors.Is(err, errStopped) {
			return 0, 0, offset.Errorf(offset.ErrOutcomeUnknown, "this member stopped while the snapshot was being written")
		}
		return 0, 0, offset.Errorf(offset.ErrBusy, "%v", err)
	}
	r.snap.during.Store(uint64(r.disk.Appended() - before))
	index, bytes, err = r.newest()
	r.snap.size.Store(bytes)
	r.counts.snapshots.Add(1)
	r.counts.snapshotNanos.Add(uint64(time.Since(began)))
	return index, bytes, err
}

// newest describes the newest snapshot on the disk.
func (r *replica) newest() (index, bytes uint64, err error) {
	list, err := r.disk.Snapshots().List()
	if err != nil || len(list) == 0 {
		return 0, 0, err
	}
	return list[0].Index, uint64(list[0].Size), nil
}

// setTrailing turns the budget of bytes into raft's count of entries. A log that
// is within it stays whole, with what is written meanwhile. While members
// disagree nothing is cut at all.
func (r *replica) setTrailing() error {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	c := r.raft.ReloadableConfig()
	budget := int64(max(r.config.Snapshots.TrailingBytes, 2*r.snap.during.Load()))
	c.TrailingLogs = r.disk.EntriesWithin(budget)
	if r.alarm.Load() || r.disk.LogBytes() <= budget {
		c.TrailingLogs = 1 << 62
	}
	return r.raft.ReloadConfig(c)
}

// snapshotIndex is the index of the newest snapshot, as raft has it.
func (r *replica) snapshotIndex() uint64 {
	i, _ := strconv.ParseUint(r.raft.Stats()["last_snapshot_index"], 10, 64)
	return i
}

// Snapshot takes a snapshot on this node now.
func (n *Node) Snapshot(ctx context.Context, p auth.Principal) (index, bytes uint64, m offset.Meta, err error) {
	if err := n.allow(p, auth.Administer, auth.Everything, "snapshot"); err != nil {
		return 0, 0, n.meta(), err
	}
	r, err := n.serving()
	if err != nil {
		return 0, 0, n.meta(), err
	}
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	index, bytes, err = r.snapshot(ctx)
	n.administered(p, "snapshot", "", err)
	return index, bytes, r.meta(), err
}
