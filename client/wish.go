package client

import "github.com/tidemark-mq/tidemark/offset"

// wish is what a run is to do. Its functions are called with the lock held, except
// for over.
type wish struct {
	// after are offsets sent one way before, which have to come to their end first.
	after []<-chan struct{}
	// choose picks the queues.
	choose func(*run)
	// missed picks those that are not persisted where the turn did not come.
	missed func(r *run, why error)
	// over is told, if not nil, that nothing is under way any more, before hooks are.
	over func()
}

func (w *wish) await(ch <-chan struct{}) {
	if ch != nil {
		w.after = append(w.after, ch)
	}
}

func (w *wish) ended() {
	if w.over != nil {
		w.over()
	}
}

// changed is the wish to persist whatever changed in some queues.
func (s *RemoteStore) changed(ours func(offset.MessageQueue) bool, choose func(*run)) wish {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := wish{choose: choose}
	for mq, e := range s.table {
		if e.lowered && ours(mq) {
			w.await(e.before)
		}
	}
	w.missed = func(r *run, why error) {
		for mq, e := range s.table {
			if ours(mq) && e.unsaid() {
				r.fail(mq, e.due(), e.unsure(e.due(), why))
			}
		}
	}
	return w
}

// exact is one very offset of a queue that is to be persisted, judged when that was
// asked for and not when its turn comes. By then a later word may have raised the
// queue, which this one must not lower.
type exact struct {
	mq   offset.MessageQueue
	next int64
	// entry is the queue's; nil if it was not read.
	entry *entry
	// lowers: the offset is below what the store had then, or was about to have.
	lowers bool
	// before is what was sent one way of the queue before.
	before <-chan struct{}
}

// exactLocked judges an offset that is asked for now.
func (s *RemoteStore) exactLocked(mq offset.MessageQueue, next int64) *exact {
	x := &exact{mq: mq, next: next, before: s.behind.of(mq)}
	if e := s.table[mq]; e != nil && e.read {
		x.entry = e
		x.lowers = e.fenced == nil && (e.lowers(next) || s.behind.above(mq, next))
	}
	return x
}

// wordLocked makes an offset that lowers the memory's value, which later words replace.
// One that does not is such a word itself: it replaces a lowering that was not said yet.
func (s *RemoteStore) wordLocked(x *exact) {
	switch e := x.entry; {
	case x.lowers:
		e.lower(x.next)
		e.before = s.behind.raising(x.mq)
	case e != nil && e.live():
		e.overrule(x.next)
	}
}

// wish is the wish to persist this very offset.
func (x *exact) wish() wish {
	return wish{
		choose: func(r *run) { r.exactly(x) },
		missed: func(r *run, why error) { r.missed(x.mq, x.next, why) },
	}
}

// missed notes that this very offset was not sent.
func (r *run) missed(mq offset.MessageQueue, next int64, why error) {
	if e := r.s.table[mq]; e != nil {
		why = e.unsure(next, why)
	}
	r.fail(mq, next, why)
}

// errEarly is why a lowering is not sent yet. The next run sends it.
var errEarly = offset.Errorf(offset.ErrBusy, "an offset of this queue that was sent one way before is under way")

// early reports whether a queue that is to be lowered has an offset under way that was
// sent one way before, and that would raise it again if it came after the lowering.
func (e *entry) early() bool {
	if !e.lowered || e.before == nil {
		return false
	}
	select {
	case <-e.before:
		return false
	default:
		return true
	}
}
