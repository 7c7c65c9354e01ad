package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"
	segments "github.com/hashicorp/raft-wal/segment"
	"github.com/hashicorp/raft-wal/types"
)

// walLog keeps the entries in segments of raft-wal. Which segments there are
// is in log.db, next to term and vote.
type walLog struct {
	*wal.WAL
	db    *raftboltdb.BoltStore
	files *walFiles
	// written is the segment that log.db knows to have held an entry.
	written string
}

// openWAL opens the segments of a store; a new one has none yet.
func openWAL(cfg Config, g *guard, db *raftboltdb.BoltStore, written string) (*walLog, error) {
	l := &walLog{db: db, files: &walFiles{guard: g}, written: written}
	err := g.contained(func() (err error) {
		l.WAL, err = wal.Open(walDir(cfg.Dir),
			wal.WithMetaStore(&walMeta{db: db, guard: g}),
			wal.WithSegmentFiler(segments.NewFiler(walDir(cfg.Dir), l.files)),
			wal.WithSegmentSize(cfg.SegmentBytes), wal.WithLogger(cfg.Logger))
		return err
	})
	return l, err
}

// agrees checks that the library has found what the scan has.
func (l *walLog) agrees(dir string, entries *ledger) error {
	wantFirst, wantLast := entries.bounds()
	first, err := l.FirstIndex()
	if err != nil {
		return err
	}
	last, err := l.LastIndex()
	if err != nil {
		return err
	}
	if last != wantLast || last > 0 && first != wantFirst {
		return damaged(walDir(dir), "entries %d to %d are there, and %d to %d were opened", wantFirst, wantLast, first, last)
	}
	return nil
}

// StoreLogs implements raft.LogStore. The first time that a segment has taken
// entries, log.db notes it before they count as stored: a segment that is missing
// later has not been begun, or was lost.
func (l *walLog) StoreLogs(entries []*raft.Log) error {
	if err := l.WAL.StoreLogs(entries); err != nil {
		return err
	}
	name := l.files.synced()
	if name == l.written || name == "" {
		return nil
	}
	if err := l.db.Set([]byte(keyWritten), []byte(name)); err != nil {
		return fmt.Errorf("noting the log segment: %w", err)
	}
	l.written = name
	return nil
}

// GetLog implements raft.LogStore.
func (l *walLog) GetLog(index uint64, out *raft.Log) error {
	err := l.WAL.GetLog(index, out)
	if errors.Is(err, wal.ErrNotFound) {
		return raft.ErrLogNotFound
	}
	return err
}

// walMeta keeps the list of segments in log.db. It implements types.MetaStore.
type walMeta struct {
	db    *raftboltdb.BoltStore
	guard *guard
}

// Load implements types.MetaStore.
func (m *walMeta) Load(string) (state types.PersistentState, err error) {
	raw, err := m.db.Get([]byte(keySegments))
	if errors.Is(err, raftboltdb.ErrKeyNotFound) {
		return state, nil
	}
	if err != nil {
		return state, err
	}
	return state, json.Unmarshal(raw, &state)
}

// CommitState implements types.MetaStore. It is one transaction, so that a
// deletion of entries, which comes to this, is done whole or not at all.
func (m *walMeta) CommitState(state types.PersistentState) error {
	raw, err := json.Marshal(state)
	if err != nil {
		return err
	}
	return m.guard.apart(OpSegment, func() error { return m.db.Set([]byte(keySegments), raw) })
}

var errNoValues = errors.New("the segments hold no values; they are in log.db")

// GetStable implements types.MetaStore.
func (*walMeta) GetStable([]byte) ([]byte, error) { return nil, errNoValues }

// SetStable implements types.MetaStore.
func (*walMeta) SetStable([]byte, []byte) error { return errNoValues }

// Close implements types.MetaStore; log.db is closed by the store.
func (*walMeta) Close() error { return nil }
