package memnet

import (
	"math/rand/v2"
	"sync"
	"time"
)

// link is what lies between two hosts, in one direction.
type link struct {
	mu      sync.Mutex // guards what follows; nothing else is locked under it
	faults  faults
	random  *rand.Rand
	changed chan struct{} // closed, and replaced, at each change of faults
}

// faults is how a link misbehaves; the zero value is not at all.
type faults struct {
	cut   bool
	cutAt time.Time
	cuts  uint64 // how many cuts there were, for the chunks sent during one
	delay time.Duration
	loss  float64
}

func (l *link) change(f func(*faults)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.faults)
	close(l.changed)
	l.changed = make(chan struct{})
}

// state returns the faults of now, and what is closed once they change.
func (l *link) state() (faults, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults, l.changed
}

// roll decides whether the next write resets its connection.
func (l *link) roll() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.faults.loss > 0 && l.random.Float64() < l.faults.loss
}

// arrived reports whether a chunk is there now. Over a cut link there is only what
// had arrived before.
func (f faults) arrived(c *chunk, now time.Time) bool {
	if f.cut && (c.sentIn == f.cuts || c.due.After(f.cutAt)) {
		return false
	}
	return !c.due.After(now)
}

// heal takes all faults away.
func (f *faults) heal() { *f = faults{cuts: f.cuts} }
