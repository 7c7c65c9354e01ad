package client

import (
	"slices"
	"time"
)

// slotState is what became of a message.
type slotState uint8

const (
	waiting slotState = iota
	// taken: an orderly worker has it.
	taken
	// done: it is consumed, and one below it is not.
	done
)

// slot is the place of one message in a line.
type slot[M any] struct {
	InFlight[M]
	state slotState
	begun time.Time
}

// line is the messages of a queue in ascending order of offset. A message that
// is done keeps its place until all below it are done, so that a completion
// moves nothing: it is found by its distance from the front, or by halving,
// and the front moves over each place once. The first place is never done.
type line[M any] struct {
	slots []slot[M]
	// head is the first place in use.
	head int
	// count counts the messages that are not done, waiting those not taken either.
	count, waiting int
	// from is a place below which none is waiting.
	from int
}

// len is how many places are in use.
func (l *line[M]) len() int { return len(l.slots) - l.head }

// search finds where an offset is, or would be.
func (l *line[M]) search(o int64) (int, bool) {
	used := l.slots[l.head:]
	if len(used) == 0 || o > used[len(used)-1].Offset {
		return len(l.slots), false
	}
	// Most queues have no gaps, so that the distance is the place.
	if d := o - used[0].Offset; d >= 0 && d < int64(len(used)) && used[d].Offset == o {
		return l.head + int(d), true
	}
	i, ok := slices.BinarySearchFunc(used, o, func(s slot[M], o int64) int {
		switch {
		case s.Offset < o:
			return -1
		case s.Offset > o:
			return 1
		}
		return 0
	})
	return l.head + i, ok
}

// find gives the place of an offset; nil if it has none.
func (l *line[M]) find(o int64) *slot[M] {
	if i, ok := l.search(o); ok {
		return &l.slots[i]
	}
	return nil
}

// put takes a message in; false if its offset has a place already. One that
// was done and comes again, below others, is in flight again.
func (l *line[M]) put(m InFlight[M]) bool {
	i, ok := l.search(m.Offset)
	switch {
	case !ok:
		l.slots = slices.Insert(l.slots, i, slot[M]{InFlight: m})
	case l.slots[i].state == done:
		l.slots[i] = slot[M]{InFlight: m}
	default:
		return false
	}
	l.count++
	l.waiting++
	l.from = min(l.from, i)
	return true
}

// take hands a waiting message to the orderly worker.
func (l *line[M]) take(s *slot[M], now time.Time) {
	s.state, s.begun = taken, now
	l.waiting--
}

// again makes a message that is taken wait again.
func (l *line[M]) again(o int64) {
	i, ok := l.search(o)
	if !ok || l.slots[i].state != taken {
		return
	}
	l.slots[i].state, l.slots[i].begun = waiting, time.Time{}
	l.waiting++
	l.from = min(l.from, i)
}

// nextWaiting gives the first message that nobody has; nil if there is none.
func (l *line[M]) nextWaiting() *slot[M] {
	for l.from = max(l.from, l.head); l.waiting > 0 && l.from < len(l.slots); l.from++ {
		if s := &l.slots[l.from]; s.state == waiting {
			return s
		}
	}
	return nil
}

// finish marks a message as done, and moves the front. One that is unknown or
// done already changes nothing.
func (l *line[M]) finish(o int64) {
	s := l.find(o)
	if s == nil || s.state == done {
		return
	}
	if s.state == waiting {
		l.waiting--
	}
	*s = slot[M]{InFlight: InFlight[M]{Offset: o}, state: done} // the message is let go
	l.count--
	for l.head < len(l.slots) && l.slots[l.head].state == done {
		l.head++
	}
	l.shrink()
}

// leastShrunk is the number of free places at the front that is put up with.
const leastShrunk = 64

// shrink gives the places at the front back once they are most of all, so
// that each message is moved once on the average.
func (l *line[M]) shrink() {
	if l.head < leastShrunk || l.head < len(l.slots)/2 {
		return
	}
	n := copy(l.slots, l.slots[l.head:])
	clear(l.slots[n:])
	l.slots = l.slots[:n]
	l.from, l.head = max(l.from-l.head, 0), 0
	if cap(l.slots) > 16*leastShrunk && n < cap(l.slots)/8 {
		l.slots = slices.Clip(slices.Clone(l.slots))
	}
}

// front gives the lowest message that is not done; nil if there is none.
func (l *line[M]) front() *slot[M] {
	if l.head == len(l.slots) {
		return nil
	}
	return &l.slots[l.head]
}

// first gives the lowest offset that is not done.
func (l *line[M]) first() (int64, bool) {
	s := l.front()
	if s == nil {
		return 0, false
	}
	return s.Offset, true
}

// back gives the highest offset that is not done.
func (l *line[M]) back() int64 {
	for i := len(l.slots) - 1; i >= l.head; i-- {
		if l.slots[i].state != done {
			return l.slots[i].Offset
		}
	}
	return 0
}

// each yields the messages that are not done, in order, until it is told to stop.
func (l *line[M]) each(yield func(*slot[M]) bool) {
	for i := l.head; i < len(l.slots); i++ {
		if s := &l.slots[i]; s.state != done && !yield(s) {
			return
		}
	}
}
