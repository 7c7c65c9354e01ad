package main

import (
	"context"
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/bench/paced"
	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

const (
	// every is how often a write begins while gaps are measured, also while
	// earlier ones have no answer; a gap is known to that. A write is given up
	// after gapPatience: in that time fewer begin than there are callers.
	every       = 10 * time.Millisecond
	gapPatience = 2 * time.Second
	// settled is how many writes are answered before a kill.
	settled = 100
	// longestGap is how long a system may be away.
	longestGap = 2 * time.Minute
)

// gaps kills the leader again and again. A gap is the time from just before
// the kill to the first answer to a write that began after it.
func gaps(ctx context.Context, system systems.System, load systems.Load, r *results.Result) (err error) {
	answered := make(chan answer, 4096)
	callers := turnsOf(r.Work.Callers)
	l := paced.Start(ctx, every, func(ctx context.Context, _ int) error {
		return callers.take(func(caller int) error { return write(ctx, load, caller, answered) })
	})
	defer func() {
		if _, last := l.Stop(); err != nil && last != nil {
			err = fmt.Errorf("%w (the last write that failed: %w)", err, last)
		}
	}()
	for n := range r.Kills {
		if n > 0 {
			if err := system.Revive(ctx); err != nil {
				return fmt.Errorf("starting the killed one again: %w", err)
			}
		}
		took, err := gap(ctx, system, answered)
		if err != nil {
			return err
		}
		r.Values = append(r.Values, took.Seconds())
	}
	return nil
}

// answer is a write that was answered.
type answer struct{ began, ended time.Time }

// write does one write, and notes it if it is answered.
func write(ctx context.Context, load systems.Load, caller int, answered chan<- answer) error {
	a := answer{began: time.Now()}
	call, cancel := context.WithTimeout(ctx, gapPatience)
	defer cancel()
	if err := load.Do(call, caller); err != nil {
		return err
	}
	a.ended = time.Now()
	select {
	case answered <- a:
	default: // enough are noted for whoever waits
	}
	return nil
}

func gap(ctx context.Context, system systems.System, answered <-chan answer) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*longestGap)
	defer cancel()
	whole := time.Now()
	for range settled {
		if _, err := after(ctx, answered, whole); err != nil {
			return 0, fmt.Errorf("before the kill: %w", err)
		}
	}
	at, err := system.Kill(ctx)
	if err != nil {
		return 0, fmt.Errorf("killing the leader: %w", err)
	}
	ended, err := after(ctx, answered, time.Now())
	if err != nil {
		return 0, fmt.Errorf("after the kill: %w", err)
	}
	return ended.Sub(at), nil
}

// after waits for the answer to a write that began after a moment.
func after(ctx context.Context, answered <-chan answer, moment time.Time) (time.Time, error) {
	wait := time.NewTimer(longestGap)
	defer wait.Stop()
	for {
		select {
		case a := <-answered:
			if a.began.After(moment) {
				return a.ended, nil
			}
		case <-wait.C:
			return time.Time{}, fmt.Errorf("no write was answered for %v", longestGap)
		case <-ctx.Done():
			return time.Time{}, context.Cause(ctx)
		}
	}
}
