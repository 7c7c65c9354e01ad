package client

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// RemoteStore is the OffsetStore of a consumer in clustering mode.
type RemoteStore struct{}

var _ OffsetStore = (*RemoteStore)(nil)

// StoreOption changes one setting of a RemoteStore.
type StoreOption func(*storeSettings)

type storeSettings struct {
	interval time.Duration
	timeout  time.Duration
	onFenced func(Fence)
}

// WithPersistInterval is the pause between two runs of the persist loop; the
// default is 1 s. 0 or less: there is no loop, and the application persists.
func WithPersistInterval(d time.Duration) StoreOption {
	return func(s *storeSettings) { s.interval = d }
}

// WithPersistTimeout bounds one run of the persist loop; the default is 5 s.
func WithPersistTimeout(d time.Duration) StoreOption {
	return func(s *storeSettings) { s.timeout = d }
}

// WithOnFenced sets who is told, per queue, that a key is frozen.
func WithOnFenced(f func(Fence)) StoreOption { return func(s *storeSettings) { s.onFenced = f } }

// Fence tells that a queue is frozen: nothing of it is sent any more until it
// is removed (RemoveOffset) and read again.
type Fence struct {
	Queue offset.MessageQueue
	// Err says why. offset.ErrFenced: an act on the key was missed.
	// offset.ErrOvertaken: a commit came before the queue's own Set, which is
	// not done. offset.ErrOutcomeUnknown: it is unknown whether the queue's own
	// Set was, or will be, done.
	Err error
	// Has tells whether a value was in memory, and Offset which.
	Has    bool
	Offset int64
	// State is the key as the answer had it; zero with offset.ErrOutcomeUnknown.
	State offset.KeyState
}

// PersistError lists the queues whose offset could not be persisted. errors.Is
// finds the cause of any of them.
type PersistError struct{ Queues []QueueError }

// QueueError is one queue whose offset could not be persisted.
type QueueError struct {
	Queue offset.MessageQueue
	// Offset is the value that was not persisted.
	Offset int64
	Err    error
}

// Error names the first queue.
func (p *PersistError) Error() string { return fmt.Sprint(p.Queues) }

// Unwrap returns the causes of all queues.
func (p *PersistError) Unwrap() []error { return nil }

// NewRemoteStore returns the store of a consumer group. It does no I/O; its
// persist loop runs until Close.
func NewRemoteStore(c *Client, group string, opts ...StoreOption) (*RemoteStore, error) {
	return nil, errSkeleton
}

// Load does nothing: all is at the cluster.
func (s *RemoteStore) Load() error { return errSkeleton }

// UpdateOffset takes a new offset into memory.
func (s *RemoteStore) UpdateOffset(mq offset.MessageQueue, next int64, increaseOnly bool) {}

// UpdateAndFreezeOffset takes this offset into memory and ignores further updates until RemoveOffset.
func (s *RemoteStore) UpdateAndFreezeOffset(mq offset.MessageQueue, next int64) {}

// ReadOffset gives the next message to consume.
func (s *RemoteStore) ReadOffset(ctx context.Context, mq offset.MessageQueue, from ReadOffsetType) (int64, error) {
	return 0, errSkeleton
}

// PersistAll sends what changed of the given queues and drops all others from memory.
func (s *RemoteStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error {
	return errSkeleton
}

// Persist sends one queue's offset if it changed.
func (s *RemoteStore) Persist(ctx context.Context, mq offset.MessageQueue) error { return errSkeleton }

// RemoveOffset drops one queue from memory.
func (s *RemoteStore) RemoveOffset(mq offset.MessageQueue) {}

// CloneOffsetTable copies the memory.
func (s *RemoteStore) CloneOffsetTable(topic string) map[offset.MessageQueue]int64 { return nil }

// UpdateConsumeOffsetToBroker persists this very offset.
func (s *RemoteStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64) error {
	return errSkeleton
}

// Close ends the persist loop, persists what changed, and returns what it
// could not. The Client stays open.
func (s *RemoteStore) Close(ctx context.Context) error { return errSkeleton }
