package bareraft

import (
	"errors"
	"io"
	"sync"

	"github.com/hashicorp/raft"
)

// table is the state: a map.
type table struct {
	mu      sync.RWMutex
	offsets map[string]*uint64
}

// ApplyBatch stores what entries bring. Raft calls it.
func (t *table) ApplyBatch(logs []*raft.Log) []any {
	t.mu.Lock()
	defer t.mu.Unlock()
	results := make([]any, len(logs))
	for i, l := range logs {
		if l.Type != raft.LogCommand {
			continue
		}
		if err := eachPair(l.Data, t.putLocked); err != nil {
			results[i] = err
		}
	}
	return results
}

// putLocked makes no garbage for a key that is there.
func (t *table) putLocked(key []byte, offset uint64) {
	if have := t.offsets[string(key)]; have != nil {
		*have = offset
		return
	}
	t.offsets[string(key)] = &offset
}

// Apply is ApplyBatch of one entry.
func (t *table) Apply(l *raft.Log) any { return t.ApplyBatch([]*raft.Log{l})[0] }

func (t *table) get(key []byte) (uint64, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	have := t.offsets[string(key)]
	if have == nil {
		return 0, false
	}
	return *have, true
}

var errNoSnapshots = errors.New("there are no snapshots: a comparison is over before the log is long")

// Snapshot refuses.
func (t *table) Snapshot() (raft.FSMSnapshot, error) { return nil, errNoSnapshots }

// Restore refuses.
func (t *table) Restore(r io.ReadCloser) error { return errors.Join(errNoSnapshots, r.Close()) }
