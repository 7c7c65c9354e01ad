package library

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// stalls adds up how long this process was kept from running: by others on the
// machine, or by its own work on all processors. A call that blocks adds
// nothing to it, so that a late call is told from a busy machine.
type stalls struct{ lost atomic.Int64 }

// watch measures until ctx ends.
func (s *stalls) watch(ctx context.Context, running *sync.WaitGroup) {
	running.Go(func() {
		const beat = time.Millisecond
		for last := time.Now(); ctx.Err() == nil; {
			time.Sleep(beat) // what is measured is how much longer this takes
			now := time.Now()
			s.lost.Add(int64(max(now.Sub(last)-beat, 0)))
			last = now
		}
	})
}

func (s *stalls) total() time.Duration { return time.Duration(s.lost.Load()) }
