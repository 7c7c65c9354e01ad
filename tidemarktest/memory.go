package tidemarktest

import (
	"context"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Memory is what MemoryStores persist to, in the place of a cluster. The zero
// value is empty and ready. Its methods may be called from any goroutine.
type Memory struct{}

// Store returns a store of a group that persists to m; several may be made,
// of one group too, as consumers of one group share it.
func (m *Memory) Store(group string) *MemoryStore { return &MemoryStore{} }

// Offsets are all offsets of a group that are persisted.
func (m *Memory) Offsets(group string) map[offset.MessageQueue]int64 { return nil }

// Reset moves a queue as an operator's reset does; see Cluster.Reset.
func (m *Memory) Reset(group string, mq offset.MessageQueue, next int64) {}

// Remove removes the offset of a queue as an operator does; see Cluster.Remove.
func (m *Memory) Remove(group string, mq offset.MessageQueue) {}

// FailNext makes the next n runs of persisting that would send something
// (Commit), or reads from the store (Fetch), fail with err.
// offset.ErrOutcomeUnknown does it and loses the answer.
func (m *Memory) FailNext(n int, call Call, err error) {}

// MemoryStore is an OffsetStore for unit tests. It behaves as a
// client.RemoteStore without a persist loop (client.WithPersistInterval(0))
// does, but that it has no cluster and never waits.
type MemoryStore struct {
	// OnFenced is told, per queue, that a queue is frozen; see
	// client.WithOnFenced. It is set before the store is used.
	OnFenced func(client.Fence)
}

var _ client.Store = (*MemoryStore)(nil)

// NewMemoryStore returns a store with a Memory of its own.
func NewMemoryStore(group string) *MemoryStore { return new(Memory).Store(group) }

// Memory is what the store persists to.
func (s *MemoryStore) Memory() *Memory { return nil }

// Load does nothing.
func (s *MemoryStore) Load() error { return nil }

// UpdateOffset takes the next message to consume into memory.
func (s *MemoryStore) UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool) {}

// UpdateAndFreezeOffset takes this offset and ignores further updates until RemoveOffset.
func (s *MemoryStore) UpdateAndFreezeOffset(mq offset.MessageQueue, next int64) {}

// ReadOffset gives the next message to consume.
func (s *MemoryStore) ReadOffset(ctx context.Context, mq offset.MessageQueue, from client.ReadOffsetType) (int64, error) {
	return 0, nil
}

// PersistAll persists what changed of the given queues and drops the others.
func (s *MemoryStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error { return nil }

// Persist persists one queue.
func (s *MemoryStore) Persist(ctx context.Context, mq offset.MessageQueue) error { return nil }

// RemoveOffset drops one queue from memory, persisted or not.
func (s *MemoryStore) RemoveOffset(mq offset.MessageQueue) {}

// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
func (s *MemoryStore) CloneOffsetTable(topic string) map[offset.MessageQueue]int64 { return nil }

// UpdateConsumeOffsetToBroker persists this very offset.
func (s *MemoryStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64, oneway bool) error {
	return nil
}

// Close persists what changed, and returns what could not be.
func (s *MemoryStore) Close(ctx context.Context) error { return nil }
