package main

import (
	"context"
	"sync"
	"time"
)

// patience is how long a call may take before somebody at a terminal is told
// that it is still being tried.
const patience = 2 * time.Second

// call bounds one call, on the cluster or on a broker.
func (s *session) call() (context.Context, context.CancelFunc) { return s.within(s.timeout) }

// within bounds a call by d. The first one of a run that takes longer than
// patience is announced, so that nobody waits without a word; cancel returns
// once nothing more is written.
func (s *session) within(d time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(s.ctx, d)
	if !s.terminal || s.announced.Load() {
		return ctx, cancel
	}
	said := make(chan struct{})
	t := time.AfterFunc(patience, func() {
		defer close(said)
		if s.announced.CompareAndSwap(false, true) {
			s.note("no answer yet; it is tried for up to %s (--timeout), Ctrl-C ends it", d)
		}
	})
	return ctx, sync.OnceFunc(func() {
		cancel()
		if !t.Stop() {
			<-said
		}
	})
}
