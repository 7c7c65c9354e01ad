package store

import (
	"sync"

	"github.com/hashicorp/raft"
)

// tail keeps the newest entries in memory, contiguous, bounded by count and by
// bytes: the leader's replicators read them moments after they were appended.
// It shares the data of raft's entries, so that costs its memory only once, but
// keeps no pointer to an entry: a leader's is part of its future, which holds
// all that the state machine answered to it.
//
// raft.LogCache is not used: it is bounded by count alone, and compaction,
// which leaves the newest entries alone, empties it.
type tail struct {
	budget int

	mu    sync.RWMutex
	ring  []raft.Log // by index modulo its length
	low   uint64     // lowest index held; == next where nothing is
	next  uint64     // the index after the newest
	bytes int
}

func newTail(entries, bytes int) *tail {
	return &tail{budget: bytes, ring: make([]raft.Log, max(entries, 1))}
}

func (t *tail) slot(index uint64) *raft.Log { return &t.ring[index%uint64(len(t.ring))] }

// add takes entries that have just become durable.
func (t *tail) add(logs []*raft.Log) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range logs {
		if l.Index != t.next {
			t.dropLocked(t.next)
			t.low, t.next = l.Index, l.Index
		}
		if t.next-t.low == uint64(len(t.ring)) {
			t.dropLocked(t.low + 1)
		}
		*t.slot(l.Index) = *l
		t.next++
		t.bytes += entrySize(l)
		for t.bytes > t.budget {
			t.dropLocked(t.low + 1)
		}
	}
}

// get returns the entry if it is held. The data is shared and never written.
func (t *tail) get(index uint64, out *raft.Log) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if index < t.low || index >= t.next {
		return false
	}
	*out = *t.slot(index)
	return true
}

// forget lets go of the entries from lo to hi, which are being deleted: a prefix
// of what is held, or everything from lo on.
func (t *tail) forget(lo, hi uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if lo <= t.low {
		for t.low < t.next && t.low <= hi {
			t.dropLocked(t.low + 1)
		}
		return
	}
	for t.next > lo {
		t.next--
		t.clearLocked(t.next)
	}
}

// dropLocked lets go of what is below index.
func (t *tail) dropLocked(index uint64) {
	for ; t.low < index; t.low++ {
		t.clearLocked(t.low)
	}
}

func (t *tail) clearLocked(index uint64) {
	s := t.slot(index)
	t.bytes -= entrySize(s)
	*s = raft.Log{}
}

// entrySize is what an entry takes in the log file, about.
func entrySize(l *raft.Log) int { return len(l.Data) + len(l.Extensions) + entryOverhead }
