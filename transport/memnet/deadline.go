package memnet

import (
	"sync"
	"time"
)

// deadline is a point in time that a waiting call can select on. It must be
// stopped, or its timer outlives its owner.
type deadline struct {
	mu     sync.Mutex // guards what follows
	timer  *time.Timer
	passed chan struct{}
}

func newDeadline() *deadline { return &deadline{passed: make(chan struct{})} }

// set moves the deadline, for calls that wait already too; zero takes it away.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.passed // its function is about to close the channel, or has
	}
	d.timer = nil
	select {
	case <-d.passed:
		d.passed = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return
	}
	if wait := time.Until(t); wait > 0 {
		passed := d.passed
		d.timer = time.AfterFunc(wait, func() { close(passed) })
	} else {
		close(d.passed)
	}
}

// wait returns what is closed once the deadline has passed.
func (d *deadline) wait() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.passed
}

// stop frees the timer.
func (d *deadline) stop() { d.set(time.Time{}) }
