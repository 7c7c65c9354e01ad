package node

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// keptMarks is how many entries marks remembers: more than can be in flight,
// raft's own among them.
const keptMarks = 64

// marks are the times at which the newest entries came to a place, by index.
type marks struct {
	mu   sync.Mutex
	ring [keptMarks]mark // guarded by mu
}

type mark struct {
	index uint64
	at    time.Time
}

// note records that the entries first to last came there at a time. Of more than
// are remembered it takes the last.
func (m *marks) note(first, last uint64, at time.Time) {
	if last-first >= keptMarks {
		first = last - keptMarks + 1
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := first; i <= last; i++ {
		m.ring[i%keptMarks] = mark{i, at}
	}
}

// of returns when an entry came there, if that is remembered.
func (m *marks) of(index uint64) (at time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := m.ring[index%keptMarks]
	return k.at, k.index == index
}

// timedLog notes when entries are on this member's own disk.
type timedLog struct {
	raft.LogStore
	stored *marks
}

// StoreLogs implements raft.LogStore.
func (l timedLog) StoreLogs(logs []*raft.Log) error {
	err := l.LogStore.StoreLogs(logs)
	if err == nil && len(logs) > 0 {
		l.stored.note(logs[0].Index, logs[len(logs)-1].Index, time.Now())
	}
	return err
}
