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
// of the same name, in the form of Go. All methods may be called from any
// goroutine. Apart from Load, those without a context do no I/O and do not block.
type OffsetStore interface {
	// Load reads what is kept locally; a remote store has nothing to load.
	Load() error
	// UpdateOffset takes the next message to consume into memory: the larger
	// of it and what is there if increaseOnly, else this one. A negative one
	// is ignored, and so is any for a queue that is frozen.
	UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool)
	// UpdateAndFreezeOffset takes this offset into memory and ignores further
	// updates of the queue until RemoveOffset.
	UpdateAndFreezeOffset(mq offset.MessageQueue, next int64)
	// ReadOffset gives the next message to consume. A queue without an offset
	// is offset.ErrNoOffset, which is never the error of a failure to ask.
	ReadOffset(ctx context.Context, mq offset.MessageQueue, from ReadOffsetType) (int64, error)
	// PersistAll persists what changed of the given queues. A remote store
	// drops all others from memory; a local one keeps them, as in RocketMQ.
	// Without any queue it returns at once and drops none.
	PersistAll(ctx context.Context, mqs []offset.MessageQueue) error
	// Persist persists one queue.
	Persist(ctx context.Context, mq offset.MessageQueue) error
	// RemoveOffset drops one queue from memory, persisted or not.
	RemoveOffset(mq offset.MessageQueue)
	// CloneOffsetTable copies the memory: of a topic, or all if topic is empty.
	CloneOffsetTable(topic string) map[offset.MessageQueue]int64
	// UpdateConsumeOffsetToBroker persists this very offset, whatever the memory
	// holds. With oneway it only hands it over, and does not wait for what
	// becomes of it, which hooks and log report; ctx then bounds nothing.
	UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64, oneway bool) error
}
