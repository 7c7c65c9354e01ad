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
// before it was (offset.ErrDropped). With an outcome that is unknown the value
// stays, and is sent again by the next run, which is harmless.
func (s *RemoteStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error {
	if len(mqs) == 0 {
		return nil
	}
	if err := s.open("persist"); err != nil {
		return err
	}
	ours := make(map[offset.MessageQueue]struct{}, len(mqs))
	for _, mq := range mqs {
		ours[mq] = struct{}{}
	}
	return s.send(ctx, func(r *run) {
		for mq, e := range s.table {
			if _, kept := ours[mq]; kept {
				r.add(mq, e)
			} else {
				r.drop(mq, e)
			}
		}
	})
}

// Persist sends one queue's offset if it changed. The error is that of PersistAll.
func (s *RemoteStore) Persist(ctx context.Context, mq offset.MessageQueue) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	return s.send(ctx, func(r *run) {
		if e := s.table[mq]; e != nil {
			r.add(mq, e)
		}
	})
}

// UpdateConsumeOffsetToBroker persists this very offset. A higher one than the
// store is known to have leaves the memory alone; a lower one is a deliberate
// lowering and becomes the memory's value, too. The queue must have been read
// (offset.ErrNotRead). The error is that of PersistAll.
func (s *RemoteStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	if next < 0 {
		return &Error{Op: "persist", Subject: s.key(mq).String(), Err: offset.Errorf(offset.ErrInvalid, "offset %d is negative", next)}
	}
	return s.send(ctx, func(r *run) {
		e := s.table[mq]
		switch {
		case e == nil || !e.read:
			r.fail(mq, next, offset.ErrNotRead)
		case e.fenced != nil:
			r.fail(mq, next, e.fenced)
		case e.exists && next < e.known || e.isMaybe && next < e.maybe:
			e.value, e.has, e.lowered = next, true, true
			r.add(mq, e)
		default:
			r.plan(mq, e, advance, next)
		}
	})
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
	s.report("offsets are not persisted", s.send(ctx, s.all))
	s.report("it is not known whether acts were missed", s.watch(ctx, since))
}

// report logs what the loop came across, once for as long as it is the same.
func (s *RemoteStore) report(what string, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if s.reported[what] == text {
		return
	}
	s.reported[what] = text
	if err != nil {
		s.client.set.logger.Warn(what, "group", s.group, "error", err)
	}
}
