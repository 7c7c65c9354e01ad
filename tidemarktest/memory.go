package tidemarktest

import (
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// Memory is what MemoryStores persist to, in the place of a cluster. The zero
// value is empty and ready. Its methods may be called from any goroutine.
type Memory struct {
	failures failures

	mu sync.Mutex // guards what follows; taken before a store's, never after
	// acts counts the acts, for epochs; positions has every key that has, or
	// had, an offset.
	acts      uint64
	positions map[offset.Key]*position
}

// position is what a Memory has of one key.
type position struct {
	exists bool
	offset int64
	// epoch is the number of the last act on the key; 0 for none.
	epoch uint64
}

// state is the position in the terms of the cluster.
func (p *position) state() offset.KeyState {
	s := offset.KeyState{Exists: p.exists, Epoch: p.epoch}
	s.Position.Epoch = p.epoch
	if p.exists {
		s.Position.Offset = p.offset
	}
	return s
}

// atLocked gives the position of a key, to be changed.
func (m *Memory) atLocked(k offset.Key) *position {
	if m.positions == nil {
		m.positions = make(map[offset.Key]*position)
	}
	p := m.positions[k]
	if p == nil {
		p = &position{}
		m.positions[k] = p
	}
	return p
}

// at gives the position of a key as it is.
func (m *Memory) at(k offset.Key) position {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p := m.positions[k]; p != nil {
		return *p
	}
	return position{}
}

// Store returns a store of a group that persists to m; several may be made,
// also of one group, as the consumers of a group share its offsets.
func (m *Memory) Store(group string) *MemoryStore {
	return &MemoryStore{memory: m, group: group, table: make(map[offset.MessageQueue]*held)}
}

// Offsets are all offsets of a group that are persisted.
func (m *Memory) Offsets(group string) map[offset.MessageQueue]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make(map[offset.MessageQueue]int64)
	for k, p := range m.positions {
		if k.Group == group && p.exists {
			out[k.MessageQueue] = p.offset
		}
	}
	return out
}

// Reset moves a queue as an operator's reset does; see Cluster.Reset.
func (m *Memory) Reset(group string, mq offset.MessageQueue, next int64) {
	m.act(group, mq, position{exists: true, offset: next})
}

// Remove removes the offset of a queue as an operator does; see Cluster.Remove.
func (m *Memory) Remove(group string, mq offset.MessageQueue) { m.act(group, mq, position{}) }

func (m *Memory) act(group string, mq offset.MessageQueue, p position) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.acts++
	p.epoch = m.acts
	*m.atLocked(offset.Key{Group: group, MessageQueue: mq}) = p
}

// FailNext makes the next n calls of a kind fail, as Cluster.FailNext does, but
// that nobody tries again: each refusal is seen. A run of persisting that has
// something to send makes one Commit, and a Set for each queue that is lowered;
// a read from the store is a Fetch. There are no acts and listings.
func (m *Memory) FailNext(n int, call Call, fault Fault) { m.failures.add(n, call, fault) }

// Heal ends every FailNext.
func (m *Memory) Heal() { m.failures.clear() }

// Calls counts the calls of a kind, those that were made to fail included.
func (m *Memory) Calls(call Call) int { return m.failures.count(call) }
