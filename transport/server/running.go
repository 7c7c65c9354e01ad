package server

import (
	"context"
	"sync"
)

// running counts what runs and lets one wait, with a bound, until nothing
// does. The zero value is ready.
type running struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n comes to 0; nil while nobody waits
}

// add counts one more, and gives how many run.
func (r *running) add() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return r.n
}

func (r *running) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n--; r.n == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

func (r *running) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// wait returns nil once nothing runs, or what ended ctx.
func (r *running) wait(ctx context.Context) error {
	r.mu.Lock()
	if r.n == 0 {
		r.mu.Unlock()
		return nil
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
