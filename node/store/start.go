package store

import (
	"errors"
	"os"
)

// findStart finds the state from which the member will start: a snapshot, or
// nothing (Index 0) where the log is whole from its first entry on. It returns an
// error where that state, with the log, is less than the member had: raft would
// start with it all the same, forget what it acknowledged, or stop at the first
// commit.
func findStart(cfg Config, c *contents) (SnapshotInfo, error) {
	dir := snapshotsDir(cfg.Dir)
	infos, err := scanSnapshots(dir)
	if errors.Is(err, os.ErrNotExist) {
		return SnapshotInfo{}, damaged(dir, "missing")
	}
	if err != nil {
		return SnapshotInfo{}, err
	}
	if err := checkHistory(infos); err != nil {
		return SnapshotInfo{}, err
	}
	newest := newestIndex(infos, c.snapshot)
	for _, i := range infos {
		if i.Err != nil {
			cfg.Logger.Error("a snapshot is damaged", "snapshot", i.Meta.ID, "error", i.Err)
			continue
		}
		if usable(i.Meta.Index, newest, c.entries) {
			return i, checkNoGap(cfg, i.Meta.Index, c)
		}
	}
	if usable(0, newest, c.entries) {
		return SnapshotInfo{}, checkNoGap(cfg, 0, c)
	}
	if len(infos) > 0 && infos[0].Err != nil {
		return SnapshotInfo{}, infos[0].Err
	}
	return SnapshotInfo{}, damaged(dir, "the snapshot of index %d is missing", newest)
}

// checkNoGap returns an error where entries that the state at index needs are
// missing from the log.
func checkNoGap(cfg Config, index uint64, c *contents) error {
	if c.entries.reaches(index, 0) {
		return nil
	}
	pieces := c.entries.list()
	from := pieces[len(pieces)-1][0]
	return damaged(logPath(cfg.Dir), "entries %d to %d are missing", index+1, from-1)
}
