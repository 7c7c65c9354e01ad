package store

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// Store is a member's open data folder. Its methods may be called from any
// goroutine.
type Store struct {
	cfg Config

	lock   *os.File
	db     *raftboltdb.BoltStore
	wal    *walLog // nil for LogBoltDB
	guard  *guard
	stable *stable
	log    *log
	snaps  *snapshots

	abandoning sync.Once
	abandoned  chan struct{}
	closing    sync.Once
	closed     chan struct{}
	ended      error // of the first Close
}

// assemble joins the parts of a store over its open log file.
func assemble(cfg Config, db *raftboltdb.BoltStore, c *contents) (*Store, error) {
	if _, last := c.entries.bounds(); planted.Is(planted.TailDropped) {
		c.entries.remove(last, last)
	}
	s := &Store{cfg: cfg, db: db, abandoned: make(chan struct{}), closed: make(chan struct{}), guard: newGuard(cfg)}
	s.stable = &stable{
		db: db, guard: s.guard, split: cfg.Unsafe.SplitVote, hold: cfg.HangAfter, closed: s.closed,
	}
	s.log = &log{
		db: db, guard: s.guard, ledger: c.entries, sliced: cfg.Unsafe.SlicedSuffix, summed: c.summed,
		tail: newTail(cfg.CacheEntries, cfg.CacheBytes),
	}
	s.log.buried.Store(c.entries.buried(0))
	s.snaps = &snapshots{
		dir: snapshotsDir(cfg.Dir), cfg: cfg, logger: cfg.Logger, guard: s.guard, log: s.log, stable: s.stable,
		abandoned: s.abandoned, noted: c.snapshot, broken: make(map[string]error),
	}
	if cfg.LogStore == LogBoltDB {
		return s, nil
	}
	w, err := openWAL(cfg, s.guard, db, string(c.conf[keyWritten]))
	if err != nil {
		return nil, errors.Join(openFailure(cfg, err), s.abort())
	}
	s.wal, s.log.db, s.log.segment = w, w, cfg.SegmentBytes
	if err := w.agrees(cfg.Dir, c.entries); err != nil {
		return nil, errors.Join(err, s.abort())
	}
	return s, nil
}

// LogStore returns how the log is kept.
func (s *Store) LogStore() LogStore { return s.cfg.LogStore }

// Log returns the log. It accepts gaps: it is not monotonic in raft's sense. It
// keeps the newest entries in memory, so no raft.LogCache is needed before it.
func (s *Store) Log() raft.LogStore { return s.log }

// Stable returns the store of term and vote. After a failure the term's write
// returns to raft only once the store is closed, or after HangAfter: raft answers
// it with a panic, and the node is to end in order before.
func (s *Store) Stable() raft.StableStore { return s.stable }

// Snapshots returns the snapshots. A reader's data is to be read to the end:
// only then is it known to be right.
func (s *Store) Snapshots() raft.SnapshotStore { return s.snaps }

// Failed is closed at the first failed or hanging write. The node must end then:
// listeners first, the reason (Err) logged, Cause's exit code.
func (s *Store) Failed() <-chan struct{} { return s.guard.failed }

// Err returns the *Failure once Failed is closed, nil before.
func (s *Store) Err() error { return s.guard.err() }

// Damage returns the newest error of a snapshot that was found damaged since
// Open, nil if none was. Where raft "failed to load any existing snapshots",
// this is why.
func (s *Store) Damage() error { return s.snaps.lastDamage() }

// LogBytes returns the bytes of all entries in the log, as stored.
func (s *Store) LogBytes() int64 {
	total, _ := s.log.ledger.bytes()
	return total
}

// LogBytesAfter returns the bytes of the entries beyond index: what a restart
// from a snapshot at index replays. Like EntriesWithin it walks over the sizes:
// about a millisecond for a million entries, so ask once a second, not per write.
func (s *Store) LogBytesAfter(index uint64) int64 { return s.log.ledger.after(index) }

// Appended returns the bytes of entries appended since Open; it only grows.
func (s *Store) Appended() int64 {
	_, appended := s.log.ledger.bytes()
	return appended
}

// EntriesWithin returns how many of the newest entries fit into the given
// bytes: raft's TrailingLogs for a budget in bytes. At least 1.
func (s *Store) EntriesWithin(bytes int64) uint64 { return s.log.ledger.within(bytes) }

// Abandon gives up the snapshot that is being written, and has further ones refused:
// raft waits for the one under way when it is shut down. It is idempotent.
func (s *Store) Abandon() { s.abandoning.Do(func() { close(s.abandoned) }) }

// Close ends the use of the folder and frees it for others. Raft must have been
// shut down. It is idempotent. After a hang, or a panic of the log file's
// library, the file and the folder's lock are kept until the process ends, and
// the error says so.
func (s *Store) Close() error {
	s.closing.Do(func() { s.ended = s.close() })
	return s.ended
}

func (s *Store) close() error {
	s.Abandon()
	close(s.closed)
	s.guard.close()
	if s.guard.stuck() {
		return fmt.Errorf("closing store %s: a write has not come back; end the process", s.cfg.Dir)
	}
	return errors.Join(s.closeLog(), unlock(s.lock))
}

func (s *Store) closeLog() error {
	var errs []error
	if s.wal != nil {
		if err := s.wal.Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing log segments: %w", err))
		}
	}
	if err := s.db.Close(); err != nil {
		errs = append(errs, fmt.Errorf("closing log file: %w", err))
	}
	return errors.Join(errs...)
}
