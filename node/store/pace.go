package store

import "time"

// Pacer bounds a stream to a number of bytes a second. It belongs to one goroutine.
// A stream that was slowed by the disk does not catch up in a burst.
type Pacer struct {
	rate  int // 0 or less: no bound
	stop  <-chan struct{}
	start time.Time
	done  int64
}

// NewPacer returns a Pacer that no longer waits once stop is closed.
func NewPacer(rate int, stop <-chan struct{}) *Pacer {
	return &Pacer{rate: rate, stop: stop, start: time.Now()}
}

// Wait counts n bytes that were written, and waits until the next may be.
func (p *Pacer) Wait(n int) {
	if p.rate <= 0 {
		return
	}
	p.done += int64(n)
	due := p.start.Add(time.Duration(float64(p.done) / float64(p.rate) * float64(time.Second)))
	d := time.Until(due)
	if d <= 0 {
		p.start, p.done = time.Now(), 0
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.stop:
	}
}
