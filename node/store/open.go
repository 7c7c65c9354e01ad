package store

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	"go.etcd.io/bbolt"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// mapBytes is how much address space the log file gets at once. Growing it later
// makes a write wait for readers.
const mapBytes = 1 << 30

// Open opens the folder, and makes it if there is none. It returns once the
// folder is locked, checked and has taken a write.
//
// Errors: *LockedError where another process uses the folder; *Failure where
// the disk is full or refuses to write; an error that wraps offset.ErrDamaged
// where a file is missing, damaged or of another store. In none of these cases
// has anything been deleted or made shorter, except unfinished snapshots.
func Open(cfg Config) (*Store, error) {
	cfg = cfg.withDefaults()
	if cfg.Dir == "" || cfg.KeepSnapshots < 1 || cfg.SyncEvery < 1 || cfg.HangAfter < 0 {
		return nil, offset.Errorf(offset.ErrInvalid, "store needs a folder, at least one snapshot to keep, and positive bounds")
	}
	if cfg.LogStore != LogBoltDB && cfg.LogStore != LogWAL {
		return nil, offset.Errorf(offset.ErrInvalid, "log store %q is none; %s and %s are", cfg.LogStore, LogBoltDB, LogWAL)
	}
	if _, err := inspect(cfg); err != nil {
		return nil, unreadOrDamaged(cfg, err)
	}
	if err := os.MkdirAll(cfg.Dir, folderMode); err != nil {
		return nil, fmt.Errorf("making store's folder: %w", err)
	}
	lock, err := lockDir(cfg.Dir)
	if err != nil {
		return nil, err
	}
	s, err := openLocked(cfg)
	if err != nil {
		return nil, errors.Join(unreadOrDamaged(cfg, err), unlock(lock))
	}
	s.lock = lock
	return s, nil
}

// unreadOrDamaged distinguishes a disk that can't read from files that are damaged:
// the log file's library, and a fault of mapped memory, report both alike. Whoever
// reads of damage wipes the folder, which an error of the disk is no reason for.
func unreadOrDamaged(cfg Config, err error) error {
	if !errors.Is(err, offset.ErrDamaged) {
		return err
	}
	if unread := readThrough(cfg.Dir); unread != nil {
		return &Failure{Cause: CauseIO, Op: OpRead, Dir: cfg.Dir, Err: unread}
	}
	return err
}

// readThrough reads all files of a folder; it returns the first error of the disk.
func readThrough(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			err = readFile(path)
		}
		if errors.Is(err, syscall.EIO) {
			return err
		}
		return nil // missing, or not permitted: what was said before stands
	})
}

func readFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, f)
	return errors.Join(err, f.Close())
}

// inspect looks at a folder without writing to it: its marker, nil where a store
// may be made.
func inspect(cfg Config) (*marker, error) {
	m, err := findMarker(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if m == nil {
		if cfg.MustExist {
			return nil, damaged(cfg.Dir, "missing or empty, though the member has run before")
		}
		return nil, nil
	}
	if m.State == stateReady {
		if err := m.checkLogStore(cfg.Dir, cfg.LogStore); err != nil {
			return nil, err
		}
	}
	return m, m.checkOwner(cfg.Dir, cfg.Member)
}

func openLocked(cfg Config) (*Store, error) {
	m, err := inspect(cfg) // again: another process may have been quicker
	if err != nil {
		return nil, err
	}
	// First, for a full disk may be full of them.
	if err := removeUnfinished(cfg); err != nil {
		return nil, err
	}
	if err := checkSpace(cfg); err != nil {
		return nil, err
	}
	if m == nil || m.State == stateCreating {
		return create(cfg, m)
	}
	return reopen(cfg, *m)
}

func removeUnfinished(cfg Config) error {
	removed, err := purge(snapshotsDir(cfg.Dir))
	if removed > 0 {
		cfg.Logger.Warn("removed unfinished snapshots", "count", removed)
	}
	if errors.Is(err, os.ErrNotExist) {
		return nil // not made yet; or missing, which findStart reports
	}
	return err
}

// checkSpace refuses to bring a member back that could not write.
func checkSpace(cfg Config) error {
	free, _, err := FreeSpace(cfg.Dir)
	if err != nil {
		return err
	}
	if cfg.MinFree > 0 && free < uint64(cfg.MinFree) {
		err := fmt.Errorf("%d bytes are free, and at least %d must be: %w", free, cfg.MinFree, syscall.ENOSPC)
		return &Failure{Cause: CauseDiskFull, Op: OpOpen, Dir: cfg.Dir, Err: err}
	}
	return nil
}

// create makes the store's files. What an earlier creation has left half done is
// removed: no Open has returned on it, so nobody has written to it.
func create(cfg Config, left *marker) (*Store, error) {
	if left != nil {
		if err := os.Remove(logPath(cfg.Dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("removing a half made log file: %w", err)
		}
		if err := os.RemoveAll(walDir(cfg.Dir)); err != nil {
			return nil, fmt.Errorf("removing half made log segments: %w", err)
		}
	}
	if err := os.Chmod(cfg.Dir, folderMode); err != nil { // it may have been made for us, wider
		return nil, fmt.Errorf("closing the folder to others: %w", err)
	}
	m := newMarker(cfg.Member, cfg.LogStore)
	if err := m.write(cfg.Dir); err != nil {
		return nil, openFailure(cfg, err)
	}
	if err := os.Mkdir(snapshotsDir(cfg.Dir), folderMode); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, openFailure(cfg, err)
	}
	if cfg.LogStore == LogWAL {
		if err := os.Mkdir(walDir(cfg.Dir), folderMode); err != nil {
			return nil, openFailure(cfg, err)
		}
	}
	c := &contents{entries: &ledger{}}
	db, err := openLog(cfg, m, c)
	if err != nil {
		return nil, err
	}
	s, err := assemble(cfg, db, c)
	if err != nil {
		return nil, err
	}
	m.State = stateReady
	for _, step := range []func() error{
		func() error { return SyncFolder(cfg.Dir) },
		func() error { return m.write(cfg.Dir) },
		func() error { return SyncFolder(filepath.Dir(cfg.Dir)) },
	} {
		if err := step(); err != nil {
			return nil, errors.Join(openFailure(cfg, err), s.abort())
		}
	}
	return s, nil
}

// reopen opens a store that has been in use. Everything is checked before
// anything is written.
func reopen(cfg Config, m marker) (*Store, error) {
	c, err := checkLog(cfg.Dir, m.log())
	if err != nil {
		return nil, err
	}
	if c.store != m.Store {
		return nil, damaged(logPath(cfg.Dir), "made for store %q, and the folder is store %q", c.store, m.Store)
	}
	from, err := findStart(cfg, c)
	if err != nil {
		return nil, err
	}
	db, err := openLog(cfg, m, c)
	if err != nil {
		return nil, err
	}
	if err := c.segments.prepare(cfg, db); err != nil {
		return nil, errors.Join(openFailure(cfg, err), db.Close())
	}
	s, err := assemble(cfg, db, c)
	if err != nil {
		return nil, err
	}
	if err := s.finishInstall(from); err != nil {
		return nil, errors.Join(err, s.abort())
	}
	return s, nil
}

// finishInstall completes what a crash between placing an installed snapshot and
// deleting the log that contradicts it, or burying one that ends before it, has left.
func (s *Store) finishInstall(from SnapshotInfo) error {
	if from.Meta.Index == 0 || s.cfg.Unsafe.NoInstallGuard {
		return nil
	}
	dropped, err := s.log.dropUnless(from.Meta.Index, from.Meta.Term)
	if dropped && err == nil {
		s.cfg.Logger.Warn("deleted the log, which contradicted the installed snapshot", "index", from.Meta.Index)
	}
	s.log.buryBefore(from.Meta.Index)
	return err
}

// abort closes a store that Open does not return; Open frees the lock.
func (s *Store) abort() error {
	s.guard.close()
	return s.closeLog()
}

// openLog opens the log file for writing, and writes: a disk that takes no write
// must not come back into the vote.
//
// The list of free pages is not kept in the file. It follows from the tree, and
// opening walks through the tree anyway, so nothing durable rests on it; kept, it
// is rewritten by every append and grows with each compaction. A write that
// fails makes the library walk the tree again, or panic: the guard holds both,
// and lets nothing be written after it.
func openLog(cfg Config, m marker, c *contents) (*raftboltdb.BoltStore, error) {
	var db *raftboltdb.BoltStore
	err := protected(logPath(cfg.Dir), func() (err error) {
		db, err = raftboltdb.New(raftboltdb.Options{
			Path:   logPath(cfg.Dir),
			NoSync: planted.Is(planted.NoSync),
			BoltOptions: &bbolt.Options{
				Timeout: lockWait, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType, InitialMmapSize: mapBytes,
			},
		})
		if err != nil {
			return openFailure(cfg, err)
		}
		if err = db.Set([]byte(keyStore), []byte(m.Store)); err == nil {
			err = demandSums(db, c)
		}
		if err != nil {
			return errors.Join(openFailure(cfg, err), db.Close())
		}
		return nil
	})
	return db, err
}

func openFailure(cfg Config, err error) error {
	return &Failure{Cause: causeOf(err), Op: OpOpen, Dir: cfg.Dir, Err: err}
}

func logPath(dir string) string      { return filepath.Join(dir, logName) }
func snapshotsDir(dir string) string { return filepath.Join(dir, snapshotsName) }
