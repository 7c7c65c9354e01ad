package store

import (
	"math"
	"slices"
	"sync"
)

// entryOverhead is what an entry takes in the log file beyond its data: its
// key, and its index, term, type and time with their names.
const entryOverhead = 72

// segmentOverhead is what it takes in a segment beyond its data: index, term,
// type, two lengths and its time.
const segmentOverhead = 24

// ledger knows which entries the log holds and how large each is, so that
// snapshots can be triggered, and trailing entries kept, by bytes. 4 bytes of
// memory an entry. Sizes are those of the stored values; of entries appended
// since Open they are right to within some 20 bytes.
//
// Its methods may be called from any goroutine.
type ledger struct {
	mu sync.Mutex
	// runs are ordered by first, without overlap, none empty, none adjacent.
	// There is more than one only after a snapshot was installed beyond the
	// log's end, until the next compaction.
	runs     []run
	total    int64
	appended int64
}

// run is a contiguous piece of the log.
type run struct {
	first uint64
	sizes []uint32
}

func (r run) last() uint64 { return r.first + uint64(len(r.sizes)) - 1 }

// put notes an entry, new or in the place of one with its index.
func (l *ledger) put(index uint64, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := uint32(min(size, math.MaxUint32))
	l.total += int64(s)
	// i is the first run that ends at or beyond index.
	i, _ := slices.BinarySearchFunc(l.runs, index, func(r run, index uint64) int {
		if r.last() < index {
			return -1
		}
		return 1
	})
	switch {
	case i < len(l.runs) && l.runs[i].first <= index:
		old := &l.runs[i].sizes[index-l.runs[i].first]
		l.total -= int64(*old)
		*old = s
	case i > 0 && l.runs[i-1].last()+1 == index:
		l.runs[i-1].sizes = append(l.runs[i-1].sizes, s)
		l.joinLocked(i - 1)
	default:
		l.runs = slices.Insert(l.runs, i, run{first: index, sizes: []uint32{s}})
		l.joinLocked(i)
	}
}

// joinLocked merges run i with the next one where they have become adjacent.
func (l *ledger) joinLocked(i int) {
	if i+1 < len(l.runs) && l.runs[i].last()+1 == l.runs[i+1].first {
		l.runs[i].sizes = append(l.runs[i].sizes, l.runs[i+1].sizes...)
		l.runs = slices.Delete(l.runs, i+1, i+2)
	}
}

// grew counts bytes appended since Open.
func (l *ledger) grew(bytes int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.appended += int64(bytes)
}

// remove strikes out the entries from lo to hi, both included.
func (l *ledger) remove(lo, hi uint64) {
	if lo > hi {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var kept []run
	for _, r := range l.runs {
		if r.last() < lo || r.first > hi {
			kept = append(kept, r)
			continue
		}
		from, to := max(lo, r.first)-r.first, min(hi, r.last())-r.first+1
		for _, s := range r.sizes[from:to] {
			l.total -= int64(s)
		}
		if from > 0 {
			kept = append(kept, run{first: r.first, sizes: r.sizes[:from:from]})
		}
		if to < uint64(len(r.sizes)) {
			kept = append(kept, run{first: r.first + to, sizes: r.sizes[to:]})
		}
	}
	l.runs = kept
}

// bounds returns the first and the last index, 0 and 0 of an empty log.
func (l *ledger) bounds() (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runs) == 0 {
		return 0, 0
	}
	return l.runs[0].first, l.runs[len(l.runs)-1].last()
}

// beyond returns the first and the last index after one, 0 and 0 if there is none.
func (l *ledger) beyond(index uint64) (first, last uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.runs {
		if r.last() > index {
			return max(r.first, index+1), l.runs[len(l.runs)-1].last()
		}
	}
	return 0, 0
}

// buried returns the last index of what lies before a snapshot that was installed
// beyond it: what is before the newest gap, and all of a log that ends before the
// newest snapshot, whose index is given. 0: nothing does.
func (l *ledger) buried(snapshot uint64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.runs)
	switch {
	case n > 0 && l.runs[n-1].last() < snapshot:
		return l.runs[n-1].last()
	case n > 1:
		return l.runs[n-2].last()
	}
	return 0
}

// reaches reports whether the log leads on from index without a gap, to its end
// and at least to goal.
func (l *ledger) reaches(index, goal uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.runs) == 0 || l.runs[len(l.runs)-1].last() <= index {
		return index >= goal
	}
	end := l.runs[len(l.runs)-1]
	return end.first <= index+1 && end.last() >= goal
}

// list returns the contiguous pieces as pairs of first and last index.
func (l *ledger) list() [][2]uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	pieces := make([][2]uint64, 0, len(l.runs))
	for _, r := range l.runs {
		pieces = append(pieces, [2]uint64{r.first, r.last()})
	}
	return pieces
}

// bytes returns the size of all entries, and what was appended since Open.
func (l *ledger) bytes() (total, appended int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total, l.appended
}

// after returns the bytes of the entries beyond index.
func (l *ledger) after(index uint64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var sum int64
	for _, r := range l.runs {
		if r.last() <= index {
			continue
		}
		from := uint64(0)
		if index >= r.first {
			from = index + 1 - r.first
		}
		for _, s := range r.sizes[from:] {
			sum += int64(s)
		}
	}
	return sum
}

// reach returns the last index of those from lo on whose bytes come to budget.
func (l *ledger) reach(lo uint64, budget int64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	last := lo
	for _, r := range l.runs {
		for i, s := range r.sizes {
			if last = r.first + uint64(i); last < lo {
				continue
			}
			if budget -= int64(s); budget <= 0 {
				return last
			}
		}
	}
	return max(last, lo)
}

// within returns how many of the newest entries fit into budget, at least 1.
func (l *ledger) within(budget int64) uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	var n uint64
	for _, r := range slices.Backward(l.runs) {
		for _, s := range slices.Backward(r.sizes) {
			if budget -= int64(s); budget < 0 {
				return max(n, 1)
			}
			n++
		}
	}
	return max(n, 1)
}
