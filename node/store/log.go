package store

import (
	"errors"
	"sync/atomic"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// sliceEntries is how many entries are deleted in one transaction. A slice of
// entries of 128 KiB holds appends up for a few milliseconds.
const sliceEntries = 256

// log implements raft.LogStore over the log file. Appends come from raft's main
// goroutine, compaction from its snapshot goroutine, reads from its replicators.
type log struct {
	db     entryStore
	guard  *guard
	ledger *ledger
	tail   *tail
	sliced bool // Unsafe.SlicedSuffix
	// buried is the last index of entries that lie before an installed snapshot,
	// which the log does not lead up to; 0: none.
	buried atomic.Uint64
	// summed is the index from which on every entry has a sum.
	summed uint64
	// segment is the size of LogWAL's segments; 0 for LogBoltDB.
	segment int
}

// size is what an entry takes in the log, about.
func (l *log) size(e *raft.Log) int {
	if l.segment > 0 {
		return len(e.Data) + len(e.Extensions) + segmentOverhead
	}
	return entrySize(e)
}

// entryStore is where the entries lie. What it has stored is on the disk, and a
// deletion is done whole or not at all.
type entryStore interface {
	StoreLogs([]*raft.Log) error
	GetLog(index uint64, out *raft.Log) error
	DeleteRange(lo, hi uint64) error
}

// FirstIndex implements raft.LogStore.
func (l *log) FirstIndex() (uint64, error) {
	first, _ := l.ledger.beyond(l.buried.Load())
	return first, nil
}

// LastIndex implements raft.LogStore.
func (l *log) LastIndex() (uint64, error) {
	_, last := l.ledger.beyond(l.buried.Load())
	return last, nil
}

// bury hides what the log has from first to last, once a snapshot has been
// installed beyond it. What is there may never have been committed: the
// snapshot does not show it, and raft, as a leader, would send it to a member that
// lacks it. It goes with what is compacted next.
func (l *log) bury(first, last uint64) {
	l.buried.Store(max(l.buried.Load(), last))
	l.tail.forget(first, last)
}

// buryBefore hides what lies before the newest snapshot, whose index is given.
func (l *log) buryBefore(snapshot uint64) {
	if last := l.ledger.buried(snapshot); last > l.buried.Load() {
		first, _ := l.ledger.bounds()
		l.bury(first, last)
	}
}

// GetLog implements raft.LogStore. The entry's data is shared with other readers
// and must not be written. An entry whose sum is wrong is a *Failure: it must
// neither be applied nor sent to others.
func (l *log) GetLog(index uint64, out *raft.Log) error {
	if l.tail.get(index, out) {
		return nil
	}
	if index <= l.buried.Load() {
		return raft.ErrLogNotFound
	}
	missing := false
	err := l.guard.read(func() error {
		err := l.db.GetLog(index, out)
		missing = errors.Is(err, raft.ErrLogNotFound)
		switch {
		case missing:
			return nil
		case err != nil:
			return err
		}
		return checkEntry(index, out, l.summed)
	})
	if err == nil && missing {
		return raft.ErrLogNotFound
	}
	return err
}

// StoreLog implements raft.LogStore.
func (l *log) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs implements raft.LogStore. When it returns nil the entries are on the
// disk. After an error they may or may not be found at the next start.
func (l *log) StoreLogs(entries []*raft.Log) error {
	if err := l.closeGap(entries); err != nil {
		return err
	}
	stored, bytes := summed(entries), 0
	for _, e := range stored {
		bytes += l.size(e)
	}
	err := l.guard.write(OpAppend, bytes, func() error { return l.db.StoreLogs(stored) })
	if err != nil {
		return err
	}
	// Only what is durable may be seen.
	for _, e := range stored {
		l.ledger.put(e.Index, l.size(e))
	}
	l.ledger.grew(bytes)
	l.tail.add(entries)
	return nil
}

// closeGap hides the log if entries would leave a gap after it, and deletes it if its
// segments can't have one. Raft appends so only after a snapshot was put in place
// that reaches up to the first of them.
func (l *log) closeGap(entries []*raft.Log) error {
	first, last := l.ledger.bounds()
	if last == 0 || len(entries) == 0 || entries[0].Index <= last+1 {
		return nil
	}
	l.bury(first, last)
	if l.segment == 0 {
		return nil
	}
	return l.deleteAtOnce(OpCompact, first, last)
}

// DeleteRange implements raft.LogStore. A prefix, which compaction deletes while
// entries are appended, goes in slices, lowest index first: a crash in between
// leaves a log that begins a little earlier. Whatever reaches the end of the log
// goes in one transaction: cut short it would leave entries beyond a gap, which
// were to be gone and would be taken for the log's end. With a prefix goes what is
// buried before it.
func (l *log) DeleteRange(lo, hi uint64) error {
	if lo > hi {
		return nil
	}
	l.tail.forget(lo, hi)
	first, last := l.ledger.bounds()
	if shown, _ := l.ledger.beyond(l.buried.Load()); hi < last && lo <= shown {
		lo = first
	}
	switch {
	case hi >= last && !l.sliced && !planted.Is(planted.SuffixSliced), lo > first && hi < last:
		return l.deleteAtOnce(OpTruncate, lo, hi)
	case hi >= last:
		return l.deleteSliced(OpTruncate, lo, hi)
	default:
		return l.deleteSliced(OpCompact, lo, hi)
	}
}

func (l *log) deleteSliced(op Op, lo, hi uint64) error {
	for lo <= hi {
		end := l.sliceEnd(lo, hi)
		if err := l.deleteAtOnce(op, lo, end); err != nil {
			return err
		}
		if end == hi {
			return nil
		}
		lo = end + 1
	}
	return nil
}

// sliceEnd returns where a slice that begins at lo ends. It steps over gaps.
func (l *log) sliceEnd(lo, hi uint64) uint64 {
	if planted.Is(planted.SuffixSliced) {
		return lo
	}
	if l.segment > 0 { // what costs is the files that go
		return min(l.ledger.reach(lo, int64(l.segment)), hi)
	}
	for _, piece := range l.ledger.list() {
		if piece[1] >= lo {
			return min(max(lo, piece[0])+sliceEntries-1, hi)
		}
	}
	return hi
}

func (l *log) deleteAtOnce(op Op, lo, hi uint64) error {
	err := l.guard.write(op, 0, func() error { return l.db.DeleteRange(lo, hi) })
	if err != nil {
		return err
	}
	l.ledger.remove(lo, hi)
	return nil
}

// dropUnless deletes the whole log where its entry at index is of another term,
// in one transaction, and tells whether it did.
func (l *log) dropUnless(index, term uint64) (bool, error) {
	var entry raft.Log
	err := l.GetLog(index, &entry)
	if errors.Is(err, raft.ErrLogNotFound) || (err == nil && entry.Term == term) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	first, last := l.ledger.bounds()
	l.tail.forget(first, last)
	return true, l.deleteAtOnce(OpTruncate, first, last)
}
