package table

import (
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// window remembers the last acts with their answers. Records never change; a
// newer one takes their place. Roots share the list up to where they know it.
type window struct {
	list []*ActRecord
	// shared: a root holds list, so that only what is beyond it may be written.
	shared bool
	byID   map[offset.ActID]*ActRecord
	// evicted is the newest index at which a forgotten act began.
	evicted uint64
	// underway counts the acts that are.
	underway int
	sum      sum
	// limit is Bounds.Acts.
	limit int
}

func (w *window) find(id offset.ActID) *ActRecord { return w.byID[id] }

// put remembers r, in the place of what it knows of the same act.
func (w *window) put(r *ActRecord) {
	old := w.byID[r.ID]
	if old != nil {
		w.replace(old, r)
	} else {
		if len(w.list) >= w.limit {
			w.forget()
		}
		if n := len(w.list); n > 0 && w.list[n-1].First == r.First && r.Order <= w.list[n-1].Order {
			r.Order = w.list[n-1].Order + 1
		}
		w.list = append(w.list, r)
	}
	w.byID[r.ID] = r
	w.sum = add(w.sum, r.hash())
	if !r.Result.Done {
		w.underway++
	}
}

func (w *window) replace(old, r *ActRecord) {
	w.unshare()
	w.list[slices.Index(w.list, old)] = r
	w.leave(old)
}

func (w *window) leave(old *ActRecord) {
	w.sum = sub(w.sum, old.hash())
	if !old.Result.Done {
		w.underway--
	}
}

// forget drops the oldest act that is not under way.
func (w *window) forget() {
	i := slices.IndexFunc(w.list, func(r *ActRecord) bool { return r.Result.Done })
	old := w.list[i]
	if i == 0 {
		w.list = w.list[1:]
	} else {
		w.unshare()
		w.list = slices.Delete(w.list, i, i+1)
	}
	w.evicted = max(w.evicted, old.First)
	delete(w.byID, old.ID)
	w.leave(old)
}

func (w *window) unshare() {
	if w.shared {
		w.list, w.shared = slices.Clone(w.list), false
	}
}
