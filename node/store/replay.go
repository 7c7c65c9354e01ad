package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// Replay gives what a stopped member's next start would find: restore gets the
// newest snapshot that is sound and leads on to the log without a gap, none where
// the log is whole from its first entry; then apply gets each entry after it, in
// order, none where the log contradicts the snapshot and a start would delete it. A
// snapshot that restore finds damaged, by an error that wraps
// offset.ErrDamaged, has to leave nothing behind: an older one is tried, if the
// log leads on from there. It writes nothing; the member can't start meanwhile.
// Errors are ReadLog's, and those of restore and apply.
func Replay(dir string, restore func(SnapshotInfo, io.Reader) error, apply func(*raft.Log) error) error {
	return reading(dir, func(c *contents) error {
		from, err := restoreNewest(dir, c, restore)
		if err != nil {
			return err
		}
		err = eachEntry(dir, c, func(l *raft.Log) error {
			switch {
			case l.Index > from.Index:
				return apply(l)
			case l.Index == from.Index && l.Term != from.Term:
				return errContradicts
			}
			return nil
		})
		if errors.Is(err, errContradicts) {
			return nil
		}
		return err
	})
}

// errContradicts ends the reading of a log that finishInstall would delete: what it
// has after the installed snapshot was never committed.
var errContradicts = errors.New("the log contradicts the snapshot")

// restoreNewest restores a snapshot as a start would, and returns what it is of,
// zero for none.
func restoreNewest(dir string, c *contents, restore func(SnapshotInfo, io.Reader) error) (none raft.SnapshotMeta, err error) {
	infos, err := scanSnapshots(snapshotsDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return none, damaged(snapshotsDir(dir), "missing")
	}
	if err == nil {
		err = checkHistory(infos)
	}
	if err != nil {
		return none, err
	}
	newest := newestIndex(infos, c.snapshot)
	broken := damaged(snapshotsDir(dir), "the snapshot of index %d is missing", newest)
	for _, i := range infos {
		if i.Err == nil && !usable(i.Meta.Index, newest, c.entries) {
			continue
		}
		if err := restoreFrom(i, restore); err == nil {
			return i.Meta, checkNoGap(Config{Dir: dir}, i.Meta.Index, c)
		} else if broken = err; !errors.Is(err, offset.ErrDamaged) {
			return none, err
		}
	}
	if usable(0, newest, c.entries) {
		return none, checkNoGap(Config{Dir: dir}, 0, c)
	}
	return none, broken
}

// restoreFrom reads one snapshot, and the sum of its data.
func restoreFrom(i SnapshotInfo, restore func(SnapshotInfo, io.Reader) error) error {
	if i.Err != nil {
		return i.Err
	}
	m, err := readMeta(i.Path)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(i.Path, dataName))
	if err != nil {
		return fmt.Errorf("opening snapshot: %w", err)
	}
	r := newReader(f, m, func(error) {}) // the reader returns it as well
	return errors.Join(restore(i, r), r.Close())
}

// KeptWith returns how the log in a folder is kept, or would be kept by default
// where nothing is there yet. It reads only, and needs no lock: that never changes.
func KeptWith(dir string) (LogStore, error) {
	m, err := findMarker(dir)
	if err != nil || m == nil {
		return LogBoltDB, err
	}
	return m.log(), nil
}
