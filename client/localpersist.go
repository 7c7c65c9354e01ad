package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// anyQueue chooses every queue.
func anyQueue(offset.MessageQueue) bool { return true }

// PersistAll writes what the memory has of the given queues, if any of it
// changed; other queues stay in the file as they are there, and in memory,
// too, as in RocketMQ. Without any queue it returns at once.
//
// The error is a *PersistError that names each changed queue that is not in
// the file; the memory keeps its value, and the next run tries again. It wraps
// offset.ErrDamaged, or what the disk failed with; with
// offset.ErrOutcomeUnknown the file was replaced, but may not survive a loss
// of power.
func (s *LocalFileStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error {
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
	return s.save(ctx, func(mq offset.MessageQueue) bool { _, ok := ours[mq]; return ok }, nil)
}

// Persist writes one queue's offset if it changed. The error is that of PersistAll.
func (s *LocalFileStore) Persist(ctx context.Context, mq offset.MessageQueue) error {
	return s.PersistAll(ctx, []offset.MessageQueue{mq})
}

// UpdateConsumeOffsetToBroker writes this very offset to the file, since there
// is no broker that keeps it (RocketMQ's does nothing). A queue in memory takes
// it over, frozen or not. The error is that of PersistAll.
func (s *LocalFileStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	if next < 0 {
		return s.fault("persist", offset.Errorf(offset.ErrInvalid, "offset %d is negative", next))
	}
	return s.save(ctx, func(offset.MessageQueue) bool { return false }, &QueueError{Queue: mq, Offset: next})
}

// write is what one run of persisting puts into the file.
type write struct {
	values  map[offset.MessageQueue]int64
	entries map[offset.MessageQueue]*localEntry
	// changed are the queues whose value is not in the file yet.
	changed []QueueError
	invalid []QueueError
}

// save persists the chosen queues, and one offset more if it is not nil.
func (s *LocalFileStore) save(ctx context.Context, pick func(offset.MessageQueue) bool, one *QueueError) error {
	select {
	case s.persisting <- struct{}{}:
		defer func() { <-s.persisting }()
	case <-ctx.Done():
		return s.unsaved(s.gather(pick, one), only(offset.ErrBusy, nil, ctx.Err()))
	}
	w := s.gather(pick, one)
	if len(w.changed) == 0 {
		return persistError(w.invalid)
	}
	st, err := s.files.state()
	if err == nil {
		s.mu.Lock()
		s.noteLocked(st)
		s.mu.Unlock()
		err = s.replace(st, w.values)
	}
	if err != nil {
		return s.unsaved(w, err)
	}
	s.saved(w)
	return persistError(w.invalid)
}

// replace lays values over what the file has.
func (s *LocalFileStore) replace(st *state, values map[offset.MessageQueue]int64) error {
	offsets := st.offsets()
	for mq, n := range values {
		offsets[mq] = n
	}
	if !s.swept {
		s.files.sweep()
		s.swept = true
	}
	return s.files.replace(st, offsets)
}

// gather lists what is to be written.
func (s *LocalFileStore) gather(pick func(offset.MessageQueue) bool, one *QueueError) *write {
	w := &write{values: map[offset.MessageQueue]int64{}, entries: map[offset.MessageQueue]*localEntry{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, e := range s.table {
		if pick(mq) {
			w.add(s.keyOf(mq), e, e.value, e.dirty())
		}
	}
	if one != nil {
		e := s.table[one.Queue]
		if e != nil {
			e.value = one.Offset
		}
		w.add(s.keyOf(one.Queue), e, one.Offset, true)
	}
	return w
}

func (w *write) add(k offset.Key, e *localEntry, n int64, changed bool) {
	if err := k.Validate(); err != nil {
		w.invalid = append(w.invalid, QueueError{k.MessageQueue, n, err})
		return
	}
	w.values[k.MessageQueue], w.entries[k.MessageQueue] = n, e
	if changed {
		w.changed = append(w.changed, QueueError{Queue: k.MessageQueue, Offset: n})
	}
}

// saved notes that what was gathered is in the file.
func (s *LocalFileStore) saved(w *write) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Persisted++
	for mq, n := range w.values {
		if e := w.entries[mq]; e != nil {
			e.saved, e.isSaved = n, true
		}
	}
}

// unsaved makes the error of all that changed, and counts it.
func (s *LocalFileStore) unsaved(w *write, why error) error {
	s.mu.Lock()
	s.stats.Failed++
	s.mu.Unlock()
	list := w.invalid
	for _, q := range w.changed {
		q.Err = why
		list = append(list, q)
	}
	return persistError(list)
}

// tick is one run of the persist loop.
func (s *LocalFileStore) tick(ctx context.Context) {
	err := s.save(ctx, anyQueue, nil)
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	same := s.said["loop"] == text
	s.said["loop"] = text
	s.mu.Unlock()
	if err != nil && !same {
		s.set.logger.Warn("local offsets are not persisted", "group", s.key.Group, "path", s.Path(), "error", err)
	}
}

// ReadOffset gives the next message to consume of a queue. From the store, it
// is what the file says, read anew, but for a value in memory that is not in
// the file yet: that counts, so that where the disk fails the progress goes on
// rising. Only a queue that is absent from memory takes over what was read.
//
// The error is a *Error: offset.ErrNoOffset if there is none; offset.ErrDamaged
// or what the disk failed with if it could not be read, which is never "none".
func (s *LocalFileStore) ReadOffset(ctx context.Context, mq offset.MessageQueue, from ReadOffsetType) (int64, error) {
	if from > MemoryFirstThenStore {
		return 0, s.readFault(mq, offset.Errorf(offset.ErrInvalid, "unknown type of reading %d", from))
	}
	if err := s.keyOf(mq).Validate(); err != nil {
		return 0, s.readFault(mq, err)
	}
	if err := s.open("read"); err != nil {
		return 0, err
	}
	if n, ok := s.remembered(mq, from); ok {
		return n, nil
	}
	if from == ReadFromMemory {
		return 0, s.readFault(mq, offset.ErrNoOffset)
	}
	select {
	case s.persisting <- struct{}{}:
		defer func() { <-s.persisting }()
	case <-ctx.Done():
		return 0, s.readFault(mq, only(offset.ErrBusy, nil, ctx.Err()))
	}
	if n, ok := s.remembered(mq, from); ok { // it may have changed meanwhile
		return n, nil
	}
	return s.readFile(mq)
}

// remembered gives the value in memory if a read of this type is to have it.
func (s *LocalFileStore) remembered(mq offset.MessageQueue, from ReadOffsetType) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.table[mq]
	if e == nil || from == ReadFromStore && !e.dirty() {
		return 0, false
	}
	return e.value, true
}

func (s *LocalFileStore) readFile(mq offset.MessageQueue) (int64, error) {
	st, err := s.files.state()
	if err != nil {
		return 0, s.readFault(mq, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noteLocked(st)
	var n int64
	has := false
	if st.from != nil {
		n, has = st.from.offsets[mq]
	}
	if !has || n < 0 {
		return 0, s.readFault(mq, offset.ErrNoOffset)
	}
	if s.table[mq] == nil {
		s.table[mq] = &localEntry{value: n, saved: n, isSaved: st.from == st.ours.main}
	}
	return n, nil
}

func (s *LocalFileStore) readFault(mq offset.MessageQueue, err error) error {
	return &Error{Op: "read offset", Subject: s.keyOf(mq).String(), Err: err}
}
