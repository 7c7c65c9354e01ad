package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// ReadOffsetType says where ReadOffset looks, as RocketMQ's enum of the same name.
type ReadOffsetType uint8

// The types of reading.
const (
	// ReadFromMemory: the memory alone.
	ReadFromMemory ReadOffsetType = iota
	// ReadFromStore: the store, always.
	ReadFromStore
	// MemoryFirstThenStore: the memory, and the store if it holds nothing.
	MemoryFirstThenStore
)

// OffsetStore is a consumer's interface to its progress: RocketMQ's interface
// of the same name in Go. All methods may be called from any goroutine.
type OffsetStore interface {
	// Load reads what is kept locally; a remote store has nothing to load.
	Load() error
	// UpdateOffset takes a new offset into memory: the larger one if
	// increaseOnly, else this one. It does no I/O.
	UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool)
	// UpdateAndFreezeOffset takes this offset into memory and ignores further
	// updates until RemoveOffset. It does no I/O.
	UpdateAndFreezeOffset(mq offset.MessageQueue, next int64)
	// ReadOffset gives the next message to consume. A queue without an offset
	// is offset.ErrNoOffset, which is never the error of a failure to ask.
	ReadOffset(ctx context.Context, mq offset.MessageQueue, from ReadOffsetType) (int64, error)
	// PersistAll persists what changed of the given queues and drops all
	// others from memory. Without queues it returns at once.
	PersistAll(ctx context.Context, mqs []offset.MessageQueue) error
	// Persist persists one queue.
	Persist(ctx context.Context, mq offset.MessageQueue) error
	// RemoveOffset drops one queue from memory.
	RemoveOffset(mq offset.MessageQueue)
	// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
	CloneOffsetTable(topic string) map[offset.MessageQueue]int64
	// UpdateConsumeOffsetToBroker persists this very offset, whatever the memory holds.
	UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64) error
}
