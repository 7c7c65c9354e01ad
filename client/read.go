package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// ReadOffset gives the next message to consume of a queue. The error is a
// *Error: offset.ErrNoOffset if there is none, where it was asked for; any
// other says that it could not be asked, and leaves the memory as it was.
//
// The first read from the store, after the queue was absent from memory or
// removed, takes offset and epoch over into memory together; a value that was
// there without ever having been read gives way to it. Later reads give what
// the store has and change nothing. A read from the store waits for this
// store's own commits of the queue, and is linearizable.
func (s *RemoteStore) ReadOffset(ctx context.Context, mq offset.MessageQueue, from ReadOffsetType) (int64, error) {
	if from > MemoryFirstThenStore {
		return 0, s.readError(mq, offset.Errorf(offset.ErrInvalid, "unknown type of reading %d", from))
	}
	if err := s.key(mq).Validate(); err != nil {
		return 0, s.readError(mq, err)
	}
	for {
		v, wait, r, err := s.look(mq, from)
		switch {
		case err != nil:
			return 0, s.readError(mq, err)
		case wait != nil:
			select {
			case <-wait:
				continue
			case <-s.reading.Done():
				return 0, s.readError(mq, errStoreShut)
			case <-ctx.Done():
				return 0, s.readError(mq, only(offset.ErrBusy, nil, ctx.Err()))
			}
		case r == nil:
			return v, nil
		}
		return s.ask(ctx, mq, r)
	}
}

func (s *RemoteStore) readError(mq offset.MessageQueue, err error) error {
	return &Error{Op: "read offset", Subject: s.key(mq).String(), Leader: s.client.Leader(), Err: err}
}

// look gives the value in memory, or what has to be waited for before the
// store is asked, or the read to ask it with.
func (s *RemoteStore) look(mq offset.MessageQueue, from ReadOffsetType) (v int64, wait <-chan struct{}, r *firstRead, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, nil, nil, errStoreShut
	}
	e := s.table[mq]
	if from != ReadFromStore && e != nil && e.has {
		return e.value, nil, nil, nil
	}
	if from == ReadFromMemory {
		return 0, nil, nil, offset.ErrNoOffset
	}
	if f := s.flight; f != nil {
		if _, ours := f.queues[mq]; ours {
			return 0, f.done, nil, nil
		}
	}
	if b := s.behind.of(mq); b != nil {
		return 0, b, nil, nil
	}
	if first := s.reads[mq]; first != nil {
		return 0, first.done, nil, nil
	}
	r = &firstRead{done: make(chan struct{})}
	if e == nil || !e.read {
		s.reads[mq] = r
	}
	return 0, nil, r, nil
}

// ask reads from the store; if r is on the table still, its answer is taken over.
func (s *RemoteStore) ask(ctx context.Context, mq offset.MessageQueue, r *firstRead) (int64, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.reading, cancel)()
	states, meta, err := s.client.Fetch(ctx, offset.ReadAt{}, s.key(mq))
	if err != nil && s.reading.Err() != nil {
		err = s.readError(mq, errStoreShut)
	}
	var given entry
	s.mu.Lock()
	if s.reads[mq] == r {
		delete(s.reads, mq)
		if err == nil {
			given = s.takeLocked(mq, states[0], meta)
		}
	}
	s.mu.Unlock()
	close(r.done)
	if given.has {
		s.set.logger.Warn("an offset that was never read gives way to the store's", "queue", s.key(mq).String(),
			"offset", given.value, "exists", states[0].Exists, "stored", states[0].Position.Offset)
	}
	switch {
	case err != nil:
		return 0, err
	case !states[0].Exists:
		return 0, s.readError(mq, offset.ErrNoOffset)
	}
	return states[0].Position.Offset, nil
}

// takeLocked takes over what a first read found, and gives what was there before.
func (s *RemoteStore) takeLocked(mq offset.MessageQueue, st offset.KeyState, meta offset.Meta) (before entry) {
	e := s.table[mq]
	if e == nil {
		e = &entry{}
		s.table[mq] = e
	}
	before = *e
	e.take(st, meta.Cluster)
	s.acts.took(meta)
	return before
}
