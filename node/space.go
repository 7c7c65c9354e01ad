package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/node/store"
)

const (
	// spaceEvery is the time between two looks at the free space.
	spaceEvery = time.Second
	// queueBytes is about what a queue takes in a snapshot, names included.
	queueBytes = 40
)

// space is the room on the disk, in bytes, as of the last look. All is zero
// before the first.
type space struct {
	free, needed atomic.Uint64
	// low: less is free than may be needed next, or was, and not yet an eighth more.
	low atomic.Bool
}

// watchSpace warns before the disk is full, which ends a member, until ctx is done.
func (r *replica) watchSpace(ctx context.Context) {
	for ctx.Err() == nil {
		r.lookForSpace()
		pause(ctx, spaceEvery)
	}
}

// lookForSpace says once when space has become low, and once when it no longer is.
func (r *replica) lookForSpace() {
	free, total, err := store.FreeSpace(r.config.Dir)
	if err != nil {
		return // the next look, or a write, will show it
	}
	needed, was := r.needed(), r.space.low.Load()
	low := isLow(free, needed, was)
	r.space.free.Store(free)
	r.space.needed.Store(needed)
	r.space.low.Store(low)
	args := []any{"folder", r.config.Dir, "free", free, "needed", needed, "total", total}
	switch {
	case low && !was:
		r.config.Logger.Warn("the disk has less free space than this member may need until after its next snapshot: make room, or give it a larger disk; a full one ends it", args...)
	case was && !low:
		r.config.Logger.Info("the disk has enough free space again", args...)
	}
}

// isLow reports whether space is low. It stays so until an eighth more than needed is
// free, so that going up and down about the mark is reported once.
func isLow(free, needed uint64, was bool) bool {
	if was {
		needed += needed / 8
	}
	return free < needed
}

// needed is how much more this member may take until its next snapshot is
// written, as the leader, and still be able to start: what the log grows by until
// then; the snapshot, since the older ones go only after it; and what store.Open demands.
func (r *replica) needed() uint64 {
	log := r.disk.Growth(int64(r.mostLog()) - r.disk.LogBytesAfter(r.snapshotIndex()))
	snapshot := max(r.snap.size.Load(), queueBytes*r.machine.Root().Queues())
	return store.DefaultMinFree + uint64(log) + snapshot
}
