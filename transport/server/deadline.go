package server

import (
	"context"
	"sync/atomic"
	"time"
)

// deadline is one that calls share: its timer stops when the last has left. A
// nil one can be left.
type deadline struct {
	ctx    context.Context
	wait   time.Duration
	cancel context.CancelFunc
	calls  atomic.Int32
}

// newDeadline starts a deadline, which its maker must leave.
func newDeadline(ctx context.Context, wait time.Duration) *deadline {
	d := &deadline{wait: wait}
	d.ctx, d.cancel = context.WithTimeout(ctx, wait)
	d.calls.Store(1)
	return d
}

// join is called by who has not left yet, for another.
func (d *deadline) join() { d.calls.Add(1) }

func (d *deadline) leave() {
	if d != nil && d.calls.Add(-1) == 0 {
		d.cancel()
	}
}
