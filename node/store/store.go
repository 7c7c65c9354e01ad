package store

import (
	"errors"

	"github.com/hashicorp/raft"
)

// Store is a member's open data folder. Its methods may be called from any
// goroutine.
type Store struct {
	cfg Config
}

// Open opens the folder, and makes it if there is none. It returns once the
// folder is locked, checked and able to take a write.
//
// Errors: *LockedError where another process uses the folder; *Failure where
// the disk is full or refuses to write; an error that wraps offset.ErrDamaged
// where a file is missing, damaged or of another store. In none of these cases
// has anything been deleted or made shorter.
func Open(cfg Config) (*Store, error) {
	return nil, errors.ErrUnsupported
}

// Log returns the log. It accepts gaps: it is not monotonic in raft's sense.
func (s *Store) Log() raft.LogStore { return nil }

// Stable returns the store of term and vote.
func (s *Store) Stable() raft.StableStore { return nil }

// Snapshots returns the snapshots.
func (s *Store) Snapshots() raft.SnapshotStore { return nil }

// Fresh tells whether this Open made the store.
func (s *Store) Fresh() bool { return false }

// Failed is closed at the first failed or hanging write. The node must end then:
// listeners first, the reason (Err) logged, Cause's exit code.
func (s *Store) Failed() <-chan struct{} { return nil }

// Err returns the *Failure once Failed is closed, nil before.
func (s *Store) Err() error { return nil }

// Damage returns the newest error of a snapshot that was found damaged, nil if
// none was.
func (s *Store) Damage() error { return nil }

// LogBytes returns the bytes of all entries in the log, as stored.
func (s *Store) LogBytes() int64 { return 0 }

// LogBytesAfter returns the bytes of the entries beyond index: what a restart
// from a snapshot at index replays.
func (s *Store) LogBytesAfter(index uint64) int64 { return 0 }

// Appended returns the bytes of entries appended since Open; it only grows.
func (s *Store) Appended() int64 { return 0 }

// EntriesWithin returns how many of the newest entries fit into the given
// bytes: raft's TrailingLogs for a budget in bytes. At least 1.
func (s *Store) EntriesWithin(bytes int64) uint64 { return 1 }

// Close ends the use of the folder and frees it for others. Raft must have been
// shut down. It is idempotent. After a hang or a broken log file, the file stays
// open until the process ends, and the error says so.
func (s *Store) Close() error { return nil }
