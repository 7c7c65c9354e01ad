package store

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/tidemark-mq/tidemark/offset"
)

// storedVote is the term and vote of a member as they lie on its disk.
type storedVote struct {
	// CurrentTerm is the newest term the member has seen.
	CurrentTerm uint64
	// Term and Candidate are its last vote; Term is 0 and Candidate empty if it
	// never voted.
	Term      uint64
	Candidate string
}

// ReadLog calls fn for each entry of a stopped member's log, in order. A gap
// shows as a jump of the index. It writes nothing; the member can't start
// meanwhile. Errors: *LockedError while the member runs; one that wraps
// offset.ErrDamaged for a file that can't be read; fn's own, which ends it.
func ReadLog(dir string, fn func(*raft.Log) error) error {
	return reading(dir, func(c *contents) error { return eachEntry(dir, c, fn) })
}

// eachEntry calls fn for each entry of a log that was looked at.
func eachEntry(dir string, c *contents, fn func(*raft.Log) error) error {
	if c.segments != nil {
		return readSegments(dir, c, fn)
	}
	db, err := raftboltdb.New(raftboltdb.Options{
		Path: logPath(dir), BoltOptions: &bbolt.Options{ReadOnly: true, Timeout: lockWait},
	})
	if err != nil {
		return fmt.Errorf("opening log file: %w", err)
	}
	for _, piece := range c.entries.list() {
		for i := piece[0]; i <= piece[1]; i++ {
			if err = readEntry(db, dir, i, c.summed, fn); err != nil {
				return errors.Join(err, db.Close())
			}
		}
	}
	if err := db.Close(); err != nil {
		return fmt.Errorf("closing log file: %w", err)
	}
	return nil
}

// readSegments calls fn for each entry in the segments.
func readSegments(dir string, c *contents, fn func(*raft.Log) error) error {
	again := &contents{entries: &ledger{}, conf: c.conf}
	_, err := scanWAL(dir, again, func(index uint64, payload []byte) error {
		var entry raft.Log
		if err := decodeEntry(index, payload, &entry, c.summed); err != nil {
			return damaged(walDir(dir), "entry %d: %v", index, err)
		}
		return fn(&entry)
	})
	return err
}

func readEntry(db *raftboltdb.BoltStore, dir string, index, summed uint64, fn func(*raft.Log) error) error {
	var entry raft.Log
	err := protected(logPath(dir), func() error { return db.GetLog(index, &entry) })
	if err == nil {
		err = checkEntry(index, &entry, summed)
	}
	if err != nil {
		return damaged(logPath(dir), "entry %d: %v", index, err)
	}
	return fn(&entry)
}

// ReadSnapshots lists a stopped member's snapshots, newest first. Errors are
// ReadLog's.
func ReadSnapshots(dir string) (infos []SnapshotInfo, err error) {
	err = reading(dir, func(*contents) error {
		infos, err = scanSnapshots(snapshotsDir(dir))
		return err
	})
	return infos, err
}

// Buried returns up to which index a stopped member shows its log to nobody: what
// lies there is before a snapshot that it was sent, and may never have been
// committed. ReadLog reads it all the same. 0: it shows all. Errors are ReadLog's.
func Buried(dir string) (index uint64, err error) {
	err = reading(dir, func(c *contents) error {
		infos, err := scanSnapshots(snapshotsDir(dir))
		whole := slices.IndexFunc(infos, func(i SnapshotInfo) bool { return i.Err == nil })
		newest := uint64(0)
		if whole >= 0 {
			newest = infos[whole].Meta.Index
		}
		index = c.entries.buried(newest)
		return err
	})
	return index, err
}

// reading calls fn with what the log file of a stopped member holds, and keeps
// the member from starting meanwhile.
func reading(dir string, fn func(*contents) error) error {
	lock, err := lockForReading(dir)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Close() }() // opened for reading
	m, err := findMarker(dir)
	if err != nil {
		return err
	}
	if m == nil || m.State != stateReady {
		return offset.Errorf(offset.ErrNotFound, "%s holds no store yet: start its member once", dir)
	}
	c, err := checkLog(dir, m.log())
	if errors.Is(err, os.ErrPermission) {
		return fmt.Errorf("%w; run as the member's user", err)
	}
	if err != nil {
		return err
	}
	return fn(c)
}
