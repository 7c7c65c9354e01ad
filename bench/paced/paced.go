// Package paced puts a steady load on a cluster: operations begin when they
// are due, whether or not earlier ones have ended, and each counts from when it
// was due. So a pause shows in all that fall into it.
package paced

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
)

// most bounds the operations under way; those due meanwhile wait, and their
// wait counts.
const most = 4096

// Load is a load that runs until Stop.
type Load struct {
	// Took has how long operations took, failed ones too.
	Took latency.Samples

	failed atomic.Int64
	mu     sync.Mutex
	last   error // of the newest failure; of mu

	cancel context.CancelFunc
	all    sync.WaitGroup
}

// Start begins an operation every so often; i counts them. Each gets ctx
// unchanged, and must end by itself.
func Start(ctx context.Context, every time.Duration, do func(ctx context.Context, i int) error) *Load {
	l := &Load{}
	life, cancel := context.WithCancel(ctx)
	l.cancel = cancel
	slots := make(chan struct{}, most)
	l.all.Go(func() {
		began := time.Now()
		for i := 0; ; i++ {
			due := began.Add(time.Duration(i) * every)
			select {
			case <-time.After(time.Until(due)):
			case <-life.Done():
				return
			}
			slots <- struct{}{}
			l.all.Go(func() {
				l.ended(do(ctx, i), time.Since(due))
				<-slots
			})
		}
	})
	return l
}

func (l *Load) ended(err error, took time.Duration) {
	l.Took.Add(took)
	if err == nil {
		return
	}
	l.failed.Add(1)
	l.mu.Lock()
	l.last = err
	l.mu.Unlock()
}

// Stop ends the load, waits for what is under way, and tells how many
// operations failed, with the last failure.
func (l *Load) Stop() (failed int64, last error) {
	l.cancel()
	l.all.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failed.Load(), l.last
}
