package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

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
	return s.save(ctx, among(mqs), nil)
}

// Persist writes one queue's offset if it changed. The error is that of PersistAll.
func (s *LocalFileStore) Persist(ctx context.Context, mq offset.MessageQueue) error {
	return s.PersistAll(ctx, []offset.MessageQueue{mq})
}

// UpdateConsumeOffsetToBroker writes this very offset to the file, since there
// is no broker that keeps it (RocketMQ's does nothing). A queue in memory takes
// it over, frozen or not. The error is that of PersistAll. With oneway it goes
// into the memory alone, from where the next run of persisting has it.
func (s *LocalFileStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64, oneway bool) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	if next < 0 {
		return s.fault("persist", offset.Errorf(offset.ErrInvalid, "offset %d is negative", next))
	}
	s.force(mq, next, oneway)
	if oneway {
		return nil
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
	// done is how many of those that changed are in the file now.
	done int
}

// save persists the chosen queues, and one offset more if it is not nil.
func (s *LocalFileStore) save(ctx context.Context, pick func(offset.MessageQueue) bool, one *QueueError) error {
	began := s.set.began()
	var err error
	late := s.work(ctx, offset.ErrOutcomeUnknown, func() {
		w := s.gather(pick, one)
		err = s.write(w)
		s.ran(w, began, err)
	})
	if late != nil {
		w := s.gather(pick, one)
		late = s.unsaved(w, late)
		s.ran(w, began, late)
		return late
	}
	return err
}

// work does something with the files in a goroutine of its own, one at a time,
// and waits for it within ctx, however long the disk takes. The error wraps
// offset.ErrBusy if it was not begun, and the sentinel if it is still running; what do
// has written must then not be looked at.
func (s *LocalFileStore) work(ctx context.Context, running error, do func()) error {
	if ctx.Err() != nil {
		return only(offset.ErrBusy, nil, ctx.Err())
	}
	select {
	case s.persisting <- struct{}{}:
	case <-ctx.Done():
		return only(offset.ErrBusy, nil, ctx.Err())
	}
	done := make(chan struct{})
	go func() { // whoever comes next waits for it
		defer close(done)
		defer func() { <-s.persisting }()
		do()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: the disk has not answered yet: %w", running, ctx.Err())
	}
}

// write brings what was gathered into the file.
func (s *LocalFileStore) write(w *write) error {
	if len(w.changed) == 0 {
		return persistError(w.invalid)
	}
	st, err := s.files.state()
	if err == nil {
		s.note(st)
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
		w.add(s.keyOf(one.Queue), s.table[one.Queue], one.Offset, true)
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
	w.done = len(w.changed)
	for mq, n := range w.values {
		if e := w.entries[mq]; e != nil {
			e.saved, e.isSaved = n, true
		}
	}
}

// unsaved makes the error of all that changed.
func (s *LocalFileStore) unsaved(w *write, why error) error {
	list := slices.Clone(w.invalid)
	for _, q := range w.changed {
		q.Err = why
		list = append(list, q)
	}
	return persistError(list)
}

// ran counts a run that ended, and reports it.
func (s *LocalFileStore) ran(w *write, began time.Time, err error) {
	var list []QueueError
	if p := (*PersistError)(nil); errors.As(err, &p) {
		list = p.Queues
	}
	s.mu.Lock()
	s.counts.count(w.done, len(list))
	s.mu.Unlock()
	s.set.ended(began, PersistRun{Model: Broadcasting, Group: s.key.Group, Persisted: w.done, Failed: len(list), Err: err})
	if h := s.set.hooks.Persisted; h != nil && w.done > 0 {
		for _, q := range w.changed {
			h(q.Queue, q.Offset)
		}
	}
	s.set.hooks.failed(list)
}

// tick is one run of the persist loop.
func (s *LocalFileStore) tick(ctx context.Context) {
	if err := s.save(ctx, anyQueue, nil); s.said.failed("persist", err) {
		s.set.logger.Warn("local offsets are not persisted", "group", s.key.Group, "path", s.Path(), "error", err)
	}
}

// ReadOffset gives the next message to consume of a queue. From the store, it
// is what the file says, read once more, except for a value in memory that is not
// in the file yet: that counts, so that where the disk fails the progress keeps
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
	var n int64
	var err error
	late := s.work(ctx, offset.ErrBusy, func() {
		ok := false
		if n, ok = s.remembered(mq, from); !ok { // it may have changed meanwhile
			n, err = s.readFile(mq)
		}
	})
	if late != nil {
		return 0, s.readFault(mq, late)
	}
	return n, err
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
	s.note(st)
	s.mu.Lock()
	defer s.mu.Unlock()
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
