package tidemarktest

import (
	"context"
	"fmt"
	"sync"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// MemoryStore is an OffsetStore for unit tests. It behaves as a
// client.RemoteStore without a persist loop does, except that it never waits,
// and that PersistAll and Persist also look whether an operator has moved a
// queue that has nothing to persist, as the loop of a RemoteStore does.
// client.StartPersistLoop gives it a loop.
type MemoryStore struct {
	// OnFenced is told, per queue, that a queue is frozen, and may use the
	// store; see client.WithOnFenced. It is set before the store is used.
	OnFenced func(client.Fence)

	memory *Memory
	group  string

	// sending is held by a run of persisting, so that runs go one by one.
	sending sync.Mutex

	mu     sync.Mutex // guards what follows; not held while a Memory's is
	closed bool
	table  map[offset.MessageQueue]*held
}

var _ client.Store = (*MemoryStore)(nil)

// NewMemoryStore returns a store with a Memory of its own.
func NewMemoryStore(group string) *MemoryStore { return new(Memory).Store(group) }

// Memory is what the store persists to.
func (s *MemoryStore) Memory() *Memory { return s.memory }

func (s *MemoryStore) key(mq offset.MessageQueue) offset.Key {
	return offset.Key{Group: s.group, MessageQueue: mq}
}

// Load does nothing.
func (s *MemoryStore) Load() error { return nil }

// UpdateOffset takes the next message to consume into memory: the larger of it
// and what is there if increaseOnly, else this one. A negative one is ignored,
// and so is any for a queue that is frozen.
func (s *MemoryStore) UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool) {
	s.change(mq, func(h *held) { h.update(next, increaseOnly) })
}

// UpdateAndFreezeOffset takes this offset into memory and ignores further
// updates of the queue until RemoveOffset.
func (s *MemoryStore) UpdateAndFreezeOffset(mq offset.MessageQueue, next int64) {
	s.change(mq, func(h *held) {
		h.still = false
		h.update(next, false)
		h.still = true
	})
}

func (s *MemoryStore) change(mq offset.MessageQueue, do func(*held)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	h := s.table[mq]
	if h == nil {
		h = &held{}
	}
	do(h)
	if h.has || h.read {
		s.table[mq] = h
	}
}

// ReadOffset gives the next message to consume; see client.RemoteStore.ReadOffset.
func (s *MemoryStore) ReadOffset(ctx context.Context, mq offset.MessageQueue, from client.ReadOffsetType) (int64, error) {
	v, err := s.readOffset(ctx, mq, from)
	if err != nil {
		return 0, &client.Error{Op: "read offset", Subject: s.key(mq).String(), Attempts: 1, Err: err}
	}
	return v, nil
}

func (s *MemoryStore) readOffset(ctx context.Context, mq offset.MessageQueue, from client.ReadOffsetType) (int64, error) {
	if from > client.MemoryFirstThenStore {
		return 0, offset.Errorf(offset.ErrInvalid, "unknown type of reading %d", from)
	}
	if err := s.key(mq).Validate(); err != nil {
		return 0, err
	}
	s.mu.Lock()
	h, closed := s.table[mq], s.closed
	v, has := int64(0), h != nil && h.has
	if has {
		v = h.value
	}
	s.mu.Unlock()
	switch {
	case closed:
		return 0, errClosed
	case from != client.ReadFromStore && has:
		return v, nil
	case from == client.ReadFromMemory:
		return 0, offset.ErrNoOffset
	}
	return s.fetch(ctx, mq)
}

// fetch reads from the Memory, and takes over what a first read finds.
func (s *MemoryStore) fetch(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	s.sending.Lock() // a read waits for the store's own commits
	defer s.sending.Unlock()
	f := s.memory.failures.next(Fetch)
	if err := f.before(ctx, offset.ErrUnreachable); err != nil {
		return 0, err
	}
	p := s.memory.at(s.key(mq))
	if f.lose {
		return 0, lost(offset.ErrUnreachable)
	}
	s.mu.Lock()
	if h := s.table[mq]; h == nil || !h.read {
		s.table[mq] = firstRead(p)
	}
	s.mu.Unlock()
	if !p.exists {
		return 0, offset.ErrNoOffset
	}
	return p.offset, nil
}

// RemoveOffset drops one queue from memory, persisted or not.
func (s *MemoryStore) RemoveOffset(mq offset.MessageQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.table, mq)
}

// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
func (s *MemoryStore) CloneOffsetTable(topic string) map[offset.MessageQueue]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[offset.MessageQueue]int64)
	for mq, h := range s.table {
		if h.has && (topic == "" || mq.Topic == topic) {
			out[mq] = h.value
		}
	}
	return out
}

// Close persists what changed, and returns what could not be, as a
// *client.PersistError. Updates are ignored from then on. Called again it tries
// again with what is left.
func (s *MemoryStore) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	return s.run(ctx, func(offset.MessageQueue) bool { return true }, false)
}

// errClosed is what calls of a store get after its Close.
var errClosed = offset.Errorf(offset.ErrClosed, "this store was closed")

func (s *MemoryStore) open(op string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return fmt.Errorf("%s: %w", op, errClosed)
	}
	return nil
}
