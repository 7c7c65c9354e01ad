package client

import (
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// Fence reports that a queue is frozen: nothing of it is sent any more, and
// updates of it are ignored, until it is removed (RemoveOffset) and read again.
// What was consumed since may be consumed once more, or the position skips
// ahead: the operator's word stands.
type Fence struct {
	Queue offset.MessageQueue
	// Err says why. offset.ErrFenced: an act on the key, or a new cluster, was
	// missed. offset.ErrOvertaken: a commit came before the queue's own Set,
	// which is not done and never will be. offset.ErrOutcomeUnknown: the
	// queue's own Set may be done already, or later.
	Err error
	// Has reports whether a value is in memory, and Offset which; it must not be
	// relied on any more.
	Has    bool
	Offset int64
	// State is the key as the answer had it; zero with offset.ErrOutcomeUnknown.
	State offset.KeyState
}

// fenceLocked freezes a queue. The Fence is reported once the lock and sending are free.
func (s *RemoteStore) fenceLocked(mq offset.MessageQueue, e *entry, why error, st offset.KeyState) Fence {
	e.fenced = why
	s.counts.Fenced++
	return Fence{Queue: mq, Err: why, Has: e.has, Offset: e.value, State: st}
}

// tell reports the queues that were frozen to the application.
func (s *RemoteStore) tell(list []Fence) {
	for _, f := range list {
		s.set.logger.Warn("a queue is frozen until it is removed and read again",
			"queue", s.key(f.Queue).String(), "cause", f.Err, "offset", f.Offset,
			"stored", f.State.Position.Offset, "exists", f.State.Exists, "epoch", f.State.Epoch)
		if s.set.metrics != nil {
			s.set.metrics.Fence(s.group, f.Err)
		}
		if h := s.set.hooks.Fenced; h != nil {
			h(f)
		}
		if s.set.onFenced != nil {
			s.set.onFenced(f)
		}
	}
}

// PersistError lists the queues whose offset was not persisted. errors.Is
// finds the cause of any of them.
type PersistError struct {
	// Queues are in the order of offset.Key.Compare.
	Queues []QueueError
}

// QueueError is one queue whose offset was not persisted.
type QueueError struct {
	Queue offset.MessageQueue
	// Offset is the value that was not persisted.
	Offset int64
	// Err is the cause: offset.ErrFenced, ErrOvertaken (frozen), ErrNotRead,
	// ErrDropped, ErrOutcomeUnknown, or what the request failed with.
	Err error
}

// Error names the first queue.
func (p *PersistError) Error() string {
	q := p.Queues[0]
	k := offset.Key{MessageQueue: q.Queue}.String()
	text := fmt.Sprintf("offset %d of %s is not persisted: %v", q.Offset, k[1:], q.Err)
	if n := len(p.Queues) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text
}

// Unwrap returns the causes of all queues.
func (p *PersistError) Unwrap() []error {
	list := make([]error, len(p.Queues))
	for i := range p.Queues {
		list[i] = p.Queues[i].Err
	}
	return list
}

// persistError makes the error of a list; nil for none.
func persistError(list []QueueError) error {
	if len(list) == 0 {
		return nil
	}
	slices.SortFunc(list, func(a, b QueueError) int {
		return offset.Key{MessageQueue: a.Queue}.Compare(offset.Key{MessageQueue: b.Queue})
	})
	return &PersistError{Queues: list}
}
