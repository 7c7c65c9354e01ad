package tidemarktest

import (
	"context"
	"errors"
	"slices"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// PersistAll persists what changed of the given queues, and drops all others
// from memory. Without any queue it returns at once and drops none. The error
// is a *client.PersistError; see client.RemoteStore.PersistAll.
func (s *MemoryStore) PersistAll(ctx context.Context, mqs []offset.MessageQueue) error {
	if len(mqs) == 0 {
		return nil
	}
	if err := s.open("persist"); err != nil {
		return err
	}
	ours := make(map[offset.MessageQueue]bool, len(mqs))
	for _, mq := range mqs {
		ours[mq] = true
	}
	return s.run(ctx, func(mq offset.MessageQueue) bool { return ours[mq] }, true)
}

// Persist persists one queue if it changed. The error is that of PersistAll.
func (s *MemoryStore) Persist(ctx context.Context, mq offset.MessageQueue) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	return s.run(ctx, func(o offset.MessageQueue) bool { return o == mq }, false)
}

// UpdateConsumeOffsetToBroker persists this very offset; see
// client.RemoteStore.UpdateConsumeOffsetToBroker. One way, too, it is done when
// the method returns, but its outcome is not reported.
func (s *MemoryStore) UpdateConsumeOffsetToBroker(ctx context.Context, mq offset.MessageQueue, next int64, oneway bool) error {
	if err := s.open("persist"); err != nil {
		return err
	}
	if next < 0 {
		return &client.Error{Op: "persist", Subject: s.key(mq).String(), Err: offset.Errorf(offset.ErrInvalid, "offset %d is negative", next)}
	}
	s.sending.Lock()
	r := &saying{s: s, ctx: ctx}
	r.exactly(mq, next)
	s.sending.Unlock()
	if err := r.end(); !oneway {
		return err
	}
	return nil
}

// run is one run of persisting: of the queues that are ours; the others are
// dropped, if so asked. The store may be used while it reports fences.
func (s *MemoryStore) run(ctx context.Context, ours func(offset.MessageQueue) bool, drop bool) error {
	s.sending.Lock()
	r := &saying{s: s, ctx: ctx}
	for _, mq := range s.queues() {
		switch {
		case ours(mq):
			r.say(mq)
		case drop:
			r.drop(mq)
		}
	}
	s.sending.Unlock()
	return r.end()
}

// queues are those in memory, in order.
func (s *MemoryStore) queues() (list []offset.MessageQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq := range s.table {
		list = append(list, mq)
	}
	slices.SortFunc(list, func(a, b offset.MessageQueue) int { return s.key(a).Compare(s.key(b)) })
	return list
}

// saying is a run under way. It belongs to one goroutine, which holds sending.
type saying struct {
	s   *MemoryStore
	ctx context.Context
	// asked: this run's one Commit has been made, and commit is its fault.
	asked  bool
	commit Fault
	failed []client.QueueError
	told   []client.Fence
}

// end reports what the run came across.
func (r *saying) end() error {
	for _, f := range r.told {
		if r.s.OnFenced != nil {
			r.s.OnFenced(f)
		}
	}
	if r.failed == nil {
		return nil
	}
	return &client.PersistError{Queues: r.failed}
}

// copy takes a copy of what is held of a queue, to send without the lock.
func (r *saying) copy(mq offset.MessageQueue) (from *held, h held) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if from = r.s.table[mq]; from != nil {
		h = *from
	}
	return from, h
}

// drop takes a queue off the memory, and says so if its value was not persisted.
func (r *saying) drop(mq offset.MessageQueue) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if h := r.s.table[mq]; h != nil && h.unsaid() {
		r.fail(mq, h.value, offset.ErrDropped)
	}
	delete(r.s.table, mq)
}

// say says what there is to say of a queue.
func (r *saying) say(mq offset.MessageQueue) {
	from, h := r.copy(mq)
	switch {
	case from == nil:
	case h.fenced != nil:
		if h.unsaid() || r.s.OnFenced == nil {
			r.fail(mq, h.value, h.fenced)
		}
	case h.has && !h.read:
		r.fail(mq, h.value, offset.ErrNotRead)
	case !h.unsaid():
		r.look(mq, from, h)
	default:
		r.send(mq, from, h, h.value)
	}
}

// exactly says this very offset of a queue.
func (r *saying) exactly(mq offset.MessageQueue, next int64) {
	from, h := r.copy(mq)
	switch {
	case from == nil || !h.read:
		r.fail(mq, next, offset.ErrNotRead)
	case h.fenced != nil:
		r.fail(mq, next, h.fenced)
	default:
		if h.down(next) {
			r.s.mu.Lock()
			from.value, from.has = next, true
			r.s.mu.Unlock()
			h.lowered = true
		}
		r.send(mq, from, h, next)
	}
}

// send makes the commit of a value, or the Set that lowers to it, and takes in
// what comes of it.
func (r *saying) send(mq offset.MessageQueue, from *held, h held, v int64) {
	k := r.s.key(mq)
	now := r.s.memory.at(k)
	if h.unsure { // a RemoteStore sends the commit again first, whose answer says so
		h.known, h.exists = now.offset, now.exists
	}
	call := Commit
	if h.lowered && h.down(v) {
		call = Set
	}
	f := r.fault(call)
	err := f.before(r.ctx, offset.ErrOutcomeUnknown)
	if err == nil {
		now, err = r.s.memory.put(k, h, v, call)
	}
	if f.lose && err == nil {
		err = lost(offset.ErrOutcomeUnknown)
	}
	r.took(mq, from, v, call, now, err)
}

// fault is what happens to the next call: of Commits there is one in a run.
func (r *saying) fault(call Call) Fault {
	if call == Set {
		return r.s.memory.failures.next(Set)
	}
	if !r.asked {
		r.asked, r.commit = true, r.s.memory.failures.next(Commit)
	}
	return r.commit
}

// put does a commit or a Set, as the rule of writing has it, and gives the
// position after it.
func (m *Memory) put(k offset.Key, h held, v int64, call Call) (position, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.atLocked(k)
	switch {
	case p.epoch != h.epoch:
		return *p, offset.ErrFenced
	case call == Commit:
		if !p.exists || v > p.offset {
			p.exists, p.offset = true, v
		}
	case p.exists != h.exists || p.offset != h.known:
		return *p, offset.ErrOvertaken
	default:
		m.acts++
		*p = position{exists: true, offset: v, epoch: m.acts}
	}
	return *p, nil
}

// took takes in what became of a value that was sent. If the queue was removed
// meanwhile, it concerns nobody.
func (r *saying) took(mq offset.MessageQueue, h *held, v int64, call Call, now position, err error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	unknown := errors.Is(err, offset.ErrOutcomeUnknown)
	switch {
	case err == nil && call == Set:
		h.epoch, h.known, h.exists = now.epoch, v, true
		h.lowered = h.value < v
		h.said, h.isSaid, h.unsure = v, true, false
	case err == nil:
		h.known, h.exists = now.offset, true
		h.lowered = h.lowered && h.value < v
		h.said, h.isSaid, h.unsure = v, true, false
	case errors.Is(err, offset.ErrFenced), errors.Is(err, offset.ErrOvertaken), unknown && call == Set:
		r.fail(mq, v, err)
		r.fenceLocked(mq, h, err, now)
	default:
		h.unsure = h.unsure || unknown
		r.fail(mq, v, err)
	}
}

// look fences a queue that has nothing to say, if it missed an act.
func (r *saying) look(mq offset.MessageQueue, h *held, was held) {
	if !was.read {
		return
	}
	p := r.s.memory.at(r.s.key(mq))
	if p.epoch == was.epoch {
		return
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.fenceLocked(mq, h, offset.ErrFenced, p)
	if r.s.OnFenced == nil {
		r.fail(mq, h.value, offset.ErrFenced)
	}
}

func (r *saying) fenceLocked(mq offset.MessageQueue, h *held, why error, now position) {
	if r.s.table[mq] != h {
		return
	}
	h.fenced = sentinel(why)
	f := client.Fence{Queue: mq, Err: h.fenced, Has: h.has, Offset: h.value}
	if h.fenced != offset.ErrOutcomeUnknown {
		f.State = now.state()
	}
	r.told = append(r.told, f)
}

// sentinel is what a fence is told as.
func sentinel(err error) error {
	for _, s := range []error{offset.ErrOvertaken, offset.ErrOutcomeUnknown} {
		if errors.Is(err, s) {
			return s
		}
	}
	return offset.ErrFenced
}

func (r *saying) fail(mq offset.MessageQueue, v int64, err error) {
	r.failed = append(r.failed, client.QueueError{Queue: mq, Offset: v, Err: err})
}
