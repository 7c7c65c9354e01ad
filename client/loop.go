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

// pace says when a loop runs: after first, then after each interval; each step
// has timeout to end in.
type pace struct {
	first, interval, timeout time.Duration
	clock                    Clock
}

// startLoop begins a loop; with an interval of 0 or less there is none, but it
// may be ended all the same.
func startLoop(p pace, step func(context.Context)) *loop {
	ctx, cancel := context.WithCancel(context.Background())
	l := &loop{stop: make(chan struct{}), cancel: cancel, done: make(chan struct{})}
	if p.interval <= 0 {
		close(l.done)
		return l
	}
	go l.run(ctx, p, step)
	return l
}

func (l *loop) run(ctx context.Context, p pace, step func(context.Context)) {
	defer close(l.done)
	for pause := p.first; ; pause = p.interval {
		select {
		case <-l.stop:
			return
		case <-p.clock.After(pause):
		}
		ctx, cancel := context.WithTimeout(ctx, p.timeout)
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

// repeats remembers what was said last of each kind, so that what lasts is said
// once. The zero value has said nothing.
type repeats struct {
	mu   sync.Mutex
	said map[string]string
}

// news reports whether text is there and is not what was said last of its kind.
func (r *repeats) news(kind, text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.said[kind] == text {
		return false
	}
	if r.said == nil {
		r.said = make(map[string]string)
	}
	r.said[kind] = text
	return text != ""
}

// failed is news for an error; nil ends what was said.
func (r *repeats) failed(kind string, err error) bool {
	if err == nil {
		return r.news(kind, "")
	}
	return r.news(kind, err.Error())
}
