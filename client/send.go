package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// run is one run of sending: what changed of the chosen queues, first the
// commits in one request, then the own Sets.
type run struct {
	s      *RemoteStore
	items  []item
	queues map[offset.MessageQueue]struct{}
	// The fields below belong to the store's lock while requests are under way.
	// persisted counts the queues that were; said lists them if there is a hook.
	persisted int
	said      []item
	told      []Fence
	failed    []QueueError
	// halved counts the parts of refused requests that were sent again, in halves.
	halved int
	// exact: it commits one very offset, and leaves what the memory has to others.
	exact bool
}

// item is one queue of a run.
type item struct {
	mq    offset.MessageQueue
	entry *entry
	step  step
	// value is what is sent, under epoch and cluster; known and exists are
	// what a Set replaces.
	value, known int64
	exists       bool
	epoch        uint64
	cluster      offset.ClusterID
	// refusal is the entry's.
	refusal uint64
}

// send makes a run. One goes at a time. The error is a *PersistError; where ctx
// ended before this run's turn came, it names what the wish says is missed, or
// is an *Error if that is nothing.
func (s *RemoteStore) send(ctx context.Context, w wish) error {
	began := s.set.began()
	r := &run{s: s, queues: make(map[offset.MessageQueue]struct{})}
	if err := s.turn(ctx, w.after...); err != nil {
		return s.late(r, began, w, err)
	}
	f := &flight{queues: r.queues, done: make(chan struct{})}
	s.mu.Lock()
	w.choose(r)
	s.flight = f
	s.mu.Unlock()
	r.commits(ctx)
	r.sets(ctx)
	s.mu.Lock()
	s.flight = nil
	s.counts.count(r.persisted, len(r.failed))
	s.mu.Unlock()
	close(f.done)
	w.ended()
	<-s.sending
	err := persistError(r.failed)
	s.ran(r, began, err)
	s.tell(r.told)
	return err
}

// late ends a run whose turn did not come, which is reported as any other.
func (s *RemoteStore) late(r *run, began time.Time, w wish, why error) error {
	s.mu.Lock()
	w.missed(r, why)
	s.counts.count(0, len(r.failed))
	s.mu.Unlock()
	w.ended()
	err := persistError(r.failed)
	if err == nil {
		return &Error{Op: "persist", Subject: quoted(s.group), Leader: s.client.Leader(), Err: why}
	}
	s.ran(r, began, err)
	return err
}

// turn waits for what comes before, and for sending to be free. That it is free
// counts for more than that ctx has ended: so a run that is too late still names
// its queues.
func (s *RemoteStore) turn(ctx context.Context, after ...<-chan struct{}) error {
	for _, ch := range after {
		select {
		case <-ch:
		case <-ctx.Done():
			return only(offset.ErrBusy, nil, ctx.Err())
		}
	}
	select {
	case s.sending <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.sending <- struct{}{}:
		return nil
	case <-ctx.Done():
		return only(offset.ErrBusy, nil, ctx.Err())
	}
}

// add takes what there is to say of a queue into the run.
func (r *run) add(mq offset.MessageQueue, e *entry) {
	switch {
	case e.fenced != nil:
		if e.unsaid() || r.s.set.onFenced == nil {
			r.fail(mq, e.due(), e.fenced)
		}
	case e.has && !e.read:
		r.fail(mq, e.value, offset.ErrNotRead)
	case e.early():
		r.fail(mq, e.value, errEarly)
	default:
		if st, v := e.next(); st != nothing {
			r.plan(mq, e, st, v)
		}
	}
}

// exactly takes one very offset of a queue into the run. One that lowers is the
// memory's value, unless a later word has replaced it there.
func (r *run) exactly(x *exact) {
	e := x.entry
	switch {
	case e == nil || r.s.table[x.mq] != e:
		r.fail(x.mq, x.next, offset.ErrNotRead)
	case e.fenced != nil:
		r.fail(x.mq, x.next, e.fenced)
	case x.lowers:
		r.add(x.mq, e)
	default:
		if e.value == x.next {
			e.lowered = e.down() // it replaced a lowering, and is not one itself
		}
		r.exact = true
		r.plan(x.mq, e, advance, x.next)
	}
}

// drop takes a queue off the memory, and says so if its value was not persisted.
func (r *run) drop(mq offset.MessageQueue, e *entry) {
	delete(r.s.table, mq)
	delete(r.s.reads, mq)
	if e.unsaid() {
		r.fail(mq, e.due(), offset.ErrDropped)
	}
}

func (r *run) plan(mq offset.MessageQueue, e *entry, st step, v int64) {
	r.queues[mq] = struct{}{}
	r.items = append(r.items, e.item(mq, st, v))
}

// item is what a step on an entry sends.
func (e *entry) item(mq offset.MessageQueue, st step, v int64) item {
	return item{mq: mq, entry: e, step: st, value: v, known: e.known, exists: e.exists, epoch: e.epoch, cluster: e.cluster, refusal: e.refusal}
}

func (r *run) fail(mq offset.MessageQueue, v int64, err error) {
	r.failed = append(r.failed, QueueError{Queue: mq, Offset: v, Err: err})
}

// took notes that an item is persisted.
func (r *run) took(it item) {
	r.persisted++
	if r.s.set.hooks.Persisted != nil {
		r.said = append(r.said, it)
	}
}

// maxRun bounds the bytes of a request, reckoned from above; it is well below
// offset.MaxRequest.
const maxRun = 256 << 10

// commits sends the commits of the run: all in one request, unless they are
// more than one may carry, were read from different clusters, or were refused
// before.
func (r *run) commits(ctx context.Context) {
	for list := r.advances(); len(list) > 0; {
		n := r.fits(list)
		r.commit(ctx, list[:n])
		list = list[n:]
	}
}

// advances lists the commits of the run, those that were refused last at the end. Of
// these come first those that wait for longest.
func (r *run) advances() (list []item) {
	for _, it := range r.items {
		if it.step == advance {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, func(a, b item) int {
		if a.suspect() != b.suspect() {
			return cmp.Compare(a.refusal, b.refusal) // one of them is 0
		}
		return cmp.Or(
			slices.Compare(a.cluster[:], b.cluster[:]),
			cmp.Compare(a.refusal, b.refusal),
			offset.Key{MessageQueue: a.mq}.Compare(offset.Key{MessageQueue: b.mq}),
		)
	})
	return list
}

// suspect reports whether it was refused, by itself or with others.
func (it item) suspect() bool { return it.refusal != 0 }

// unbegun notes that the time was up before a request of these was made. It is
// quick: the caller is late already.
func (r *run) unbegun(list []item, ended error) {
	err := &Error{Op: "persist", Subject: quoted(r.s.group), Leader: r.s.client.Leader(), Err: only(offset.ErrUnreachable, nil, ended)}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, it := range list {
		r.fail(it.mq, it.value, it.entry.unsure(it.value, err))
	}
}

// fits reports how many of a sorted list one request may carry.
func (r *run) fits(list []item) int {
	bytes := 0
	for i := range list {
		if i == offset.MaxCommits || list[i].cluster != list[0].cluster || list[i].suspect() != list[0].suspect() {
			return i
		}
		bytes += 32
		if mq := list[i].mq; i == 0 || mq.Topic != list[i-1].mq.Topic || mq.Broker != list[i-1].mq.Broker {
			bytes += len(r.s.group) + len(mq.Topic) + len(mq.Broker) + 32
		}
		if bytes > maxRun && i > 0 {
			return i
		}
	}
	return len(list)
}

// commit sends a request, and again in parts if it is refused whole.
func (r *run) commit(ctx context.Context, list []item) {
	h := halving[item]{
		send:    func(list []item) error { return r.try(ctx, list) },
		refusal: func(it item) uint64 { return it.refusal },
		cut:     func(list []item) int { return len(list) / 2 },
		refused: r.refused,
		blame:   r.unanswered,
		left:    maxHalved - r.halved,
	}
	h.all(ctx, list)
	r.halved = maxHalved - h.left
}

// try sends a request once. The error is that of one that was refused for what some
// of it asks.
func (r *run) try(ctx context.Context, list []item) error {
	if ctx.Err() != nil {
		r.unbegun(list, ctx.Err())
		return nil
	}
	err := r.request(ctx, list)
	if err != nil && !divisible(err) {
		r.unanswered(list, err)
		return nil
	}
	return err
}

// refused notes that commits were refused together.
func (r *run) refused(list []item) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.refusals++
	for _, it := range list {
		it.entry.refusal = r.s.refusals
	}
}

// divisible reports whether a request was refused for what some of it asks.
func divisible(err error) bool { return refused(err) && !errors.Is(err, offset.ErrForeignCluster) }

// request sends one request, and takes in what its answer says of each queue.
// The error is that of all of them: none has an answer.
func (r *run) request(ctx context.Context, list []item) error {
	commits := make([]offset.Commit, len(list))
	for i, it := range list {
		commits[i] = offset.Commit{Key: r.s.key(it.mq), Offset: it.value, Epoch: it.epoch}
	}
	verdicts, meta, err := r.s.client.Commit(ctx, list[0].cluster, commits)
	if verdicts == nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.acts.hear(meta)
	for i, it := range list {
		it.entry.refusal = 0
		r.verdict(it, verdicts[i])
	}
	return nil
}

// verdict takes in the answer to one commit. If the queue was removed
// meanwhile, the entry is off the table and what it learns concerns nobody.
func (r *run) verdict(it item, v offset.Verdict) {
	if v.Code == offset.CodeOK {
		it.entry.advanced(it.value, v.State)
		r.took(it)
		return
	}
	if planted.Is(planted.EpochFromAnswer) {
		it.entry.epoch = v.State.Epoch
		r.fail(it.mq, it.value, offset.ErrBusy)
		return
	}
	r.fence(it, v.Code.Err(), v.State)
}

// unanswered takes in that a request of commits failed.
func (r *run) unanswered(list []item, err error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for _, it := range list {
		switch {
		case errors.Is(err, offset.ErrForeignCluster):
			r.fence(it, offset.ErrFenced, offset.KeyState{})
			continue
		case errors.Is(err, offset.ErrOutcomeUnknown):
			it.entry.doubt(it.value)
		}
		r.fail(it.mq, it.value, it.entry.unsure(it.value, err))
	}
}

// fence freezes the queue of an item, if it is the same still.
func (r *run) fence(it item, why error, st offset.KeyState) {
	r.fail(it.mq, it.value, why)
	if r.s.table[it.mq] == it.entry {
		r.told = append(r.told, r.s.fenceLocked(it.mq, it.entry, why, st))
	}
}
