package client

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// entry is what a RemoteStore holds of one queue. Its methods are the only
// transitions; DESIGN.md has them as a table. The store's lock guards it.
type entry struct {
	// value is the application's progress, if has.
	value int64
	has   bool

	// read: epoch and cluster were taken over, by the read that the progress
	// starts from or by an own Set that was acknowledged.
	read    bool
	epoch   uint64
	cluster offset.ClusterID
	// known is the offset that the position had, if exists, as the last answer
	// told; it is what an own Set compares.
	known  int64
	exists bool

	// settled is the value acknowledged, or read, last, if isSettled.
	settled   int64
	isSettled bool
	// maybe is the highest value whose commit has an unknown outcome, if isMaybe;
	// it is above value where another offset than that was to be persisted.
	maybe   int64
	isMaybe bool
	// lowered: the application moved the value down, and that was not said to the store yet.
	lowered bool
	// before is closed once nothing is under way that was sent one way before that, and
	// that may raise the queue; nil: there was nothing.
	before <-chan struct{}

	// still: the application froze the value (UpdateAndFreezeOffset).
	still bool
	// fenced is why nothing is sent any more; nil while it is.
	fenced error
	// ignored: a value came while it was fenced.
	ignored bool
	// refusal numbers the last refusal of a commit of it and of those with it, which
	// have the same number; 0: one got through since. Those are not to hold up others.
	refusal uint64
	// unseen is the same of reads that look for missed acts.
	unseen uint64
}

// live reports whether acts can concern it: it was read, and is not fenced.
func (e *entry) live() bool { return e.read && e.fenced == nil }

// update takes a value of the application's.
func (e *entry) update(next int64, increaseOnly bool) {
	switch {
	case e.fenced != nil:
		e.ignored = true
		return
	case next < 0 || e.still:
		return
	case e.has && next <= e.value && increaseOnly:
		return
	case e.has && next < e.value:
		e.lowered = true
	}
	e.value, e.has = next, true
}

// lower takes a value that is below what the store has, whatever the memory holds.
func (e *entry) lower(next int64) { e.value, e.has, e.lowered = next, true, true }

// overrule takes an offset that does not lower as a later word than a lowering that was
// not said yet, if there is one. The value remains a lowering if it turns out to be
// below what was under way then.
func (e *entry) overrule(next int64) {
	if e.lowered && next > e.value {
		e.value = next
	}
}

// lowers reports whether a value is below what the store has, or may have.
func (e *entry) lowers(next int64) bool {
	return e.exists && next < e.known || e.isMaybe && next < e.maybe
}

// down reports whether the store is to be lowered to the value.
func (e *entry) down() bool { return e.lowered && e.lowers(e.value) }

// freeze takes a value and closes the entry to further ones.
func (e *entry) freeze(next int64) {
	e.still = false
	e.update(next, false)
	e.still = true
}

// take makes the entry what the first read of it found.
func (e *entry) take(s offset.KeyState, cluster offset.ClusterID) {
	*e = entry{read: true, epoch: s.Epoch, cluster: cluster, exists: s.Exists}
	if s.Exists {
		e.value, e.has = s.Position.Offset, true
		e.known = e.value
		e.settled, e.isSettled = e.value, true
	}
	if planted.Is(planted.MinusOneStored) && !s.Exists {
		e.value, e.has = -1, true
	}
}

// step is what is to be said to the store of an entry.
type step uint8

const (
	nothing step = iota
	// advance: a commit.
	advance
	// move: an own Set.
	move
)

// next gives what is to be sent, and the value. A Set is sent only with
// nothing else of the key's under way: a commit whose outcome is unknown is
// sent again before, with the highest value.
func (e *entry) next() (step, int64) {
	if !e.read || e.fenced != nil {
		return nothing, 0
	}
	e.lowered = e.down() // a value that is not below the store's is said by a commit
	switch {
	case e.lowered && !e.isMaybe:
		return move, e.value
	case e.isMaybe:
		return advance, e.highest()
	case e.has && (!e.isSettled || e.value != e.settled):
		return advance, e.value
	}
	return nothing, 0
}

// unsaid reports whether there is a value that the store is not known to have taken.
func (e *entry) unsaid() bool {
	return e.ignored || e.isMaybe || e.down() || e.has && (!e.isSettled || e.value != e.settled)
}

// highest gives the higher of the value and the doubt.
func (e *entry) highest() int64 {
	if e.isMaybe && (!e.has || e.maybe > e.value) {
		return e.maybe
	}
	return e.value
}

// due is the value to name where an entry is not persisted: the doubt, if that
// is above the value and the application has not lowered it since.
func (e *entry) due() int64 {
	if e.lowered {
		return e.value
	}
	return e.highest()
}

// advanced notes that a commit of sent was acknowledged, and what is there now. A
// value that is settled stays so, if what was sent is another offset than that.
func (e *entry) advanced(sent int64, s offset.KeyState) {
	if planted.Is(planted.NewestTakenForSent) {
		sent = e.value
	}
	if !e.has || !e.isSettled || e.value != e.settled {
		e.settled, e.isSettled = sent, true
	}
	e.known, e.exists = s.Position.Offset, true
	if e.isMaybe && e.maybe <= sent {
		e.isMaybe = false
	}
}

// doubt notes that the outcome of a commit of sent is unknown.
func (e *entry) doubt(sent int64) {
	if !e.isMaybe || sent > e.maybe {
		e.maybe, e.isMaybe = sent, true
	}
}

// unsure gives what is to be said of a value that was not persisted for the
// reason of err: if an earlier send of it may be done, that is unknown still.
func (e *entry) unsure(v int64, err error) error {
	if !e.isMaybe || v > e.maybe || errors.Is(err, offset.ErrOutcomeUnknown) {
		return err
	}
	out := Error{Op: "persist", Err: err}
	if e := (*Error)(nil); errors.As(err, &e) {
		out = *e
	}
	out.Err = only(offset.ErrOutcomeUnknown, out.Err, endOf(err))
	return &out
}

// endOf gives the context's error that is in err; nil if there is none.
func endOf(err error) error {
	for _, end := range []error{context.DeadlineExceeded, context.Canceled} {
		if errors.Is(err, end) {
			return end
		}
	}
	return nil
}

// moved notes that an own Set was acknowledged: its index is the epoch from
// now on, and its value the offset.
func (e *entry) moved(sent int64, s offset.KeyState) {
	e.epoch = s.Position.Index
	e.known, e.exists = sent, true
	e.settled, e.isSettled = sent, true
	e.lowered = e.value < sent
}
