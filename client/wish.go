package client

import "github.com/tidemark-mq/tidemark/offset"

// wish is what a run is to do. Its functions are called with the lock held, but
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

// changed is the wish of who persists what changed of some queues.
func (s *RemoteStore) changed(ours func(offset.MessageQueue) bool, choose func(*run)) wish {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := wish{choose: choose}
	for mq, e := range s.table {
		if e.lowered && ours(mq) {
			w.await(s.behind.of(mq))
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

// exactly is the wish of who persists this very offset of a queue.
func (s *RemoteStore) exactly(mq offset.MessageQueue, next int64) wish {
	return wish{
		choose: func(r *run) { r.exactly(mq, next) },
		missed: func(r *run, why error) { r.missed(mq, next, why) },
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

// early tells whether a queue that is to be lowered has an offset under way that
// was sent one way: after the lowering that would raise it again. Who lowers to
// one very offset has waited for those before, and those after come after it.
func (r *run) early(mq offset.MessageQueue, e *entry) bool {
	return r.exact == nothing && e.lowered && r.s.behind.of(mq) != nil
}
