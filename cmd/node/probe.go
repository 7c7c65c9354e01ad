package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/tidemark-mq/tidemark/node/store"
)

// probeDisk warns of a disk that is slow beside the timers: it costs no
// leadership (heartbeats are answered meanwhile), but commits and elections wait
// for its syncs. It takes a second at most, but for a sync that hangs.
func (d *daemon) probeDisk(ctx context.Context) {
	dir := d.set.Data
	if _, err := os.Stat(dir); err != nil {
		dir = filepath.Dir(dir) // it will be made there, on the same disk
	}
	figures, err := store.Probe(ctx, dir, store.StartProbing)
	if err != nil {
		d.log.Warn("the disk could not be probed", "folder", dir, "error", err)
		return
	}
	args := []any{"folder", dir, "syncs", figures.Syncs, "p50", figures.P50, "p99", figures.P99, "max", figures.Max}
	if limit := d.set.timers.SyncLimit(); figures.P99 > limit {
		d.log.Warn("the disk is slow, and commits and elections wait for it: use a faster one, or one that nothing else writes to",
			append(args, "limit", limit)...)
		return
	}
	d.log.Info("the disk is fast enough", args...)
}
