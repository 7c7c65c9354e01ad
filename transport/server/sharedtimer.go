package server

import (
	"context"
	"sync/atomic"
	"time"
)

// sharedTimer is a deadline that calls share: its timer stops when the last of them
// has left. A nil one can be left.
type sharedTimer struct {
	ctx    context.Context
	cancel context.CancelFunc
	calls  atomic.Int32
}

// newSharedTimer starts a deadline, which its maker must leave.
func newSharedTimer(ctx context.Context, wait time.Duration) *sharedTimer {
	d := new(sharedTimer)
	d.ctx, d.cancel = context.WithTimeout(ctx, wait)
	d.calls.Store(1)
	return d
}

// join adds a holder; only a current holder may call it.
func (d *sharedTimer) join() { d.calls.Add(1) }

func (d *sharedTimer) leave() {
	if d != nil && d.calls.Add(-1) == 0 {
		d.cancel()
	}
}
