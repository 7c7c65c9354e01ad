package table

import (
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

const (
	// stepQueues is how many queues one entry of an act looks at; what is larger
	// is cut. At 300 ns each for a removal it is about 10 ms.
	stepQueues = 32 << 10
	// maxUnderway is how many cut acts may be under way, an import apart.
	maxUnderway = 16
)

// work is one entry of an act being applied.
type work struct {
	t   *Table
	a   *offset.Act
	ch  *Changes
	run run
	// rec is what will be remembered.
	rec ActRecord
	// first: it is the first entry of the act.
	first bool
	// left is how many more queues this entry may look at.
	left int
	// did: the entry has had an effect.
	did bool
}

func (t *Table) act(a *offset.Act, step uint32, ch *Changes) offset.ActResult {
	refused := offset.ActResult{Index: t.index, Done: true}
	if a.Cluster != t.cluster {
		refused.Code = offset.CodeSuperseded
		return refused
	}
	if a.Import != nil {
		return t.importStep(a, ch)
	}
	w := &work{t: t, a: a, ch: ch, left: t.step}
	content := contentOf(a)
	rec := t.acts.find(a.ID)
	if planted.Is(planted.ResendDoneAgain) && rec != nil && rec.Result.Done {
		rec = nil
	}
	switch {
	case t.imp != nil && t.imp.status.ID == a.ID: // the import needs its record until it ends
		refused.Code = offset.CodeImportBusy
		return refused
	case rec != nil && rec.Content != content: // the id stands for another act
		refused.Code = offset.CodeInvalid
		return refused
	case rec != nil && (rec.Result.Done || step != rec.Result.Next):
		return rec.Result
	case rec != nil:
		w.rec = *rec
	case step > 0 || a.Base < t.acts.evicted:
		refused.Code = offset.CodeTooOld
		return refused
	default:
		w.first = true
		w.rec = ActRecord{ID: a.ID, Content: content, First: t.index}
		if t.lost(a) {
			w.rec.Result.Code = offset.CodeSuperseded
			return w.end(true)
		}
	}
	return w.end(w.step())
}

// step applies the entry and reports whether the act is done with it.
func (w *work) step() bool {
	a := w.a
	switch {
	case a.Reset != nil:
		return w.reset(a.Reset)
	case a.Remove != nil:
		return w.remove(&a.Remove.Scope)
	case a.Clone != nil:
		return w.clone(a.Clone)
	case a.Expire != nil:
		return w.expire(a.Expire)
	case a.Take != nil:
		return w.take(a.Take)
	}
	w.rec.Result.Code = offset.CodeNotFound
	return true
}

// end closes the entry, remembers the act and returns its answer.
func (w *work) end(done bool) offset.ActResult {
	w.run.close()
	r := &w.rec.Result
	r.Index, r.Done = w.t.index, done
	if done {
		r.Next = 0
		w.rec.Cursor, w.rec.Item, w.rec.Begun = offset.Key{}, 0, false
	} else {
		r.Next++
		if w.first {
			w.t.crowd()
		}
	}
	if w.did {
		w.t.lastAct = w.t.index
	}
	rec := w.rec
	w.t.acts.put(&rec)
	return rec.Result
}

// crowd makes room for one more act under way: the one that began first ends as it
// is, and is answered as an act too old, so that whoever resends it learns that its
// outcome is unknown.
func (t *Table) crowd() {
	if t.acts.underway < maxUnderway {
		return
	}
	cut := 0
	var oldest *ActRecord
	for _, r := range t.acts.list {
		if !r.Result.Done && (t.imp == nil || t.imp.status.ID != r.ID) {
			cut++
			if oldest == nil {
				oldest = r
			}
		}
	}
	if cut < maxUnderway {
		return
	}
	rec := *oldest
	rec.Result.Code, rec.Result.Done, rec.Result.Next = offset.CodeTooOld, true, 0
	rec.Cursor, rec.Begun = offset.Key{}, false
	t.acts.put(&rec)
}

// newer reports whether the act must leave a key alone: an act, or in a later
// entry of a cut one a claim, has come in between.
func (w *work) newer(epoch, claim uint64) bool {
	if planted.Is(planted.BaseIgnored) {
		return false
	}
	return epoch > w.a.Base || w.a.Claim > 0 && claim > w.a.Claim
}

// keep counts a key that is left alone.
func (w *work) keep(k offset.Key) {
	r := &w.rec.Result
	r.Kept++
	if len(r.Names) < offset.MaxNames {
		names := make([]offset.Key, len(r.Names), len(r.Names)+1) // records share what is remembered
		copy(names, r.Names)
		r.Names = append(names, cloneKey(k))
	}
}

// move puts an offset on a key that the act moves; pending keeps the mark as it
// is unless mark says that it is to be set.
func (w *work) move(k *offset.Key, off int64, mark bool) {
	w.run.openKey(w.t.live, k)
	old := w.run.find(k.QueueID)
	pending := mark || old != nil && old.pending() && !planted.Is(planted.PendingClearedByAct)
	before := w.t.before(w.ch, &w.run, k)
	if mark && (old == nil || !old.pending()) {
		w.t.mirror(k, true)
	}
	w.run.store(pack(fields{offset: off, index: w.t.index, epoch: w.t.index, time: w.t.time, id: k.QueueID, pending: pending}))
	w.rec.Result.Changed++
	w.did = true
	w.t.note(w.ch, &w.run, k, before)
}

func (w *work) reset(r *offset.Reset) bool {
	for i := range r.Targets {
		k := &r.Targets[i].Key
		st := w.t.state(&w.run, k)
		if w.newer(st.Position.Epoch, st.Claim) {
			w.keep(*k)
			continue
		}
		w.move(k, r.Targets[i].Offset, true)
	}
	w.refuseIfNone()
	return true
}

// refuseIfNone: an act that had to leave every key of its scope alone is superseded.
func (w *work) refuseIfNone() {
	if r := &w.rec.Result; r.Changed == 0 && r.Kept > 0 {
		r.Code = offset.CodeSuperseded
	}
}
