package client

import (
	"context"
	"sync"
	"time"
)

// loop runs a step again and again, with a pause before each; it owns one
// goroutine, which end waits for.
type loop struct {
	stop   chan struct{}
	once   sync.Once
	cancel context.CancelFunc
	done   chan struct{}
}

// startLoop begins a loop; with an interval of 0 or less there is none, but it
// may be ended all the same. Each step has timeout to end in.
func startLoop(clock Clock, interval, timeout time.Duration, step func(context.Context)) *loop {
	ctx, cancel := context.WithCancel(context.Background())
	l := &loop{stop: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	if interval <= 0 {
		close(l.done)
		return l
	}
	go l.run(ctx, clock, interval, timeout, step)
	return l
}

func (l *loop) run(ctx context.Context, clock Clock, interval, timeout time.Duration, step func(context.Context)) {
	defer close(l.done)
	for {
		select {
		case <-l.stop:
			return
		case <-clock.After(interval):
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		step(ctx)
		cancel()
	}
}

// end lets the step under way come to its end, or cuts it short once ctx has
// ended, and waits for the goroutine.
func (l *loop) end(ctx context.Context) {
	l.once.Do(func() { close(l.stop) })
	select {
	case <-l.done:
	case <-ctx.Done():
	}
	l.cancel()
	<-l.done
}
