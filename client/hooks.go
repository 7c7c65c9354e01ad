package client

import "github.com/tidemark-mq/tidemark/offset"

// Hooks are told what a Client does. Each may be nil, which costs nothing; none
// may block; many goroutines call them at once.
type Hooks struct {
	// Retried is told before a further try of a call: which call, which try
	// (from 2), and what the try before failed with.
	Retried func(op string, attempt int, err error)
	// Connected is told of a connection that was opened, Disconnected of one
	// that takes no more calls, with the cause.
	Connected    func(addr string)
	Disconnected func(addr string, cause error)
	// LeaderChanged is told when an answer names another leader than the one
	// that was named before; from is empty the first time.
	LeaderChanged func(from, to string)
}

// StoreHooks are told what a store does with each queue. Each may be nil, which
// costs nothing; none may block. They are called without a lock held, so that
// they may use the store, on the goroutine that persists: that of the persist loop, or of
// a caller of PersistAll, Persist, UpdateConsumeOffsetToBroker, Close or
// RemoveOffset; of a LocalFileStore, on one that such a caller waits for.
type StoreHooks struct {
	// Persisted is told of each offset that changed and is now persisted: on
	// the disk of a quorum, or in the local file.
	Persisted func(mq offset.MessageQueue, next int64)
	// Failed is told of each offset that was to be persisted and was not, with
	// the reason: what a PersistError lists. RemoveOffset calls it,
	// too, with an offset that it drops before that is persisted (offset.ErrDropped).
	Failed func(QueueError)
	// Fenced is told of each queue that is frozen, before OnFenced. A
	// LocalFileStore has none.
	Fenced func(Fence)
}
