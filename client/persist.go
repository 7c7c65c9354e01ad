package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// PersistAll sends what changed of the given queues, in one request, and drops
// all others from memory. Without any queue it returns at once and drops none.
//
// The error is a *PersistError that names each queue whose value is not
// persisted: frozen, never read, not acknowledged within ctx, or dropped here
// before it was (offset.ErrDropped). A queue that the cluster refuses
// (offset.ErrLimit, offset.ErrDenied) holds up itself alone: a request that is
// refused is sent again in halves, 32 of them a run at most, the largest first;
// where more queues are to blame than that finds, others are named along with them
// until a later run, which continues from there, has found them. With an outcome that
// is unknown the value stays, and is sent again by the next run, which is harmless.
func (s *RemoteStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error {
	if len(mqs) == 0 {
		return nil
	}
	if err := s.open("persist"); err != nil {
		return err
	}
	ours := among(mqs)
	return s.send(ctx, s.changed(ours, func(r *run) {
		for mq, e := range s.table {
			if ours(mq) {
				r.add(mq, e)
			} else {
				r.drop(mq, e)
			}
		}
	}))
}

// among chooses the queues of a list.
func among(mqs []offset.MessageQueue) func(offset.MessageQueue) bool {
	if len(mqs) == 1 {
		return func(mq offset.MessageQueue) bool { return mq == mqs[0] }
	}
	set := make(map[offset.MessageQueue]struct{}, len(mqs))
	for _, mq := range mqs {
		set[mq] = struct{}{}
	}
	return func(mq offset.MessageQueue) bool { _, ok := set[mq]; return ok }
}

// anyQueue chooses every queue.
func anyQueue(offset.MessageQueue) bool { return true }

// Persist sends one queue's offset if it changed. The error is that of PersistAll.
func (s *RemoteStore) Persist(ctx context.Context, mq offset.MessageQueue) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	return s.send(ctx, s.changed(among([]offset.MessageQueue{mq}), func(r *run) {
		if e := s.table[mq]; e != nil {
			r.add(mq, e)
		}
	}))
}

// UpdateConsumeOffsetToBroker persists this very offset. One that is higher than
// what the store is known to have, and than what was sent one way before, undoes
// nothing that is persisted before its turn comes, and leaves the memory alone, except
// that it replaces a lowering there that is not persisted yet; a lower one is a
// deliberate lowering and becomes the memory's value at once, which later words
// replace. The queue must have been read (offset.ErrNotRead). What was sent
// one way of the queue before comes to its end first, also before a lowering that
// Persist or PersistAll sends. The error is that of PersistAll.
//
// With oneway it returns at once: hooks and log report what becomes of the offset
// within the persist timeout, a read of the queue from the store waits for it, and
// the error says that it was not taken: offset.ErrBusy if 64 such offsets are under
// way.
func (s *RemoteStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64, oneway bool) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	if next < 0 {
		return &Error{Op: "persist", Subject: s.key(mq).String(), Err: offset.Errorf(offset.ErrInvalid, "offset %d is negative", next)}
	}
	if oneway {
		return s.sendBehind(mq, next)
	}
	s.mu.Lock()
	x := s.exactLocked(mq, next)
	s.wordLocked(x)
	s.mu.Unlock()
	w := x.wish()
	w.await(x.before)
	return s.send(ctx, w)
}

// all chooses every queue for a run.
func (s *RemoteStore) all(r *run) {
	for mq, e := range s.table {
		r.add(mq, e)
	}
}

// tick is one run of the persist loop: it sends what changed, and looks for
// acts that were missed.
func (s *RemoteStore) tick(ctx context.Context) {
	s.mu.Lock()
	since := s.acts.answers
	s.mu.Unlock()
	s.report("offsets are not persisted", s.send(ctx, s.changed(anyQueue, s.all)))
	s.report("it is not known whether acts were missed", s.watch(ctx, since))
}

// report logs what the loop came across, once for as long as it is the same.
func (s *RemoteStore) report(what string, err error) {
	if s.said.failed(what, err) {
		s.set.logger.Warn(what, "group", s.group, "error", err)
	}
}
