package client

import "time"

// Metrics counts what a Client and stores do; adapters/prometheus is one. Its
// methods must not block, and many goroutines call them at once. Without one,
// nothing is counted and no time is taken.
type Metrics interface {
	// Call is told of each call of a Client that ended.
	Call(CallEnd)
	// Connection is told of each connection that was opened, and of each that
	// takes no more calls.
	Connection(opened bool)
	// LeaderChange is told of each change of the leader that was noticed, the
	// first one not included.
	LeaderChange()
	// Persist is told of each run of a store that had something to persist.
	Persist(PersistRun)
	// Fence is told of each queue that is frozen; the error is that of Fence.Err.
	Fence(group string, err error)
}

// CallEnd is one call of a Client that ended.
type CallEnd struct {
	// Op is the call, as Error.Op has it: one of about twenty names.
	Op string
	// Attempts is how often it was tried; 0 if it was refused before.
	Attempts int
	// Took is the time from the call to its end.
	Took time.Duration
	// Err is what the caller gets; offset.CodeOf gives a bounded label of it.
	Err error
}

// PersistRun is one run of persisting that had something to do.
type PersistRun struct {
	Model MessageModel
	Group string
	// Persisted and Failed count the queues whose offset was persisted, or was not.
	Persisted, Failed int
	Took              time.Duration
	// Err is what the caller gets; nil if Failed is 0.
	Err error
}

// StoreStats is the state of a store, and counts what it did since it was made.
type StoreStats struct {
	// Queues is how many are in memory; of those, Unpersisted have a value that
	// is not known to be persisted, and Frozen are fenced.
	Queues, Unpersisted, Frozen int
	// Persisted and Failed count runs that persisted all they were to, or did
	// not; Fenced counts queues that were frozen.
	Persisted, Failed, Fenced uint64
	// Fallbacks counts the times that a LocalFileStore began to use a .bak, or
	// the file of RocketMQ's Go client; Damaged counts the files that
	// WithDamageIgnored moved aside.
	Fallbacks, Damaged uint64
}

// String gives the name of the model, which is a label of metrics.
func (m MessageModel) String() string {
	if m == Broadcasting {
		return "broadcasting"
	}
	return "clustering"
}
