package main

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tidemark-mq/tidemark/bench/paced"
	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

const (
	// storing bounds how long it may take to store what a recovery begins from.
	storing = 20 * time.Minute
	// recovery bounds how long a system may be away after all were killed, and
	// another is how often a client begins to look for it.
	recovery = 5 * time.Minute
	another  = 250 * time.Millisecond
)

// store writes many offsets, as fast as the callers of the work can.
func store(ctx context.Context, system systems.System, f results.Fill) error {
	if f.Offsets == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storing)
	defer cancel()
	load, err := prepare(ctx, system, f.Work)
	if err != nil {
		return err
	}
	defer load.Close()
	var left atomic.Int64
	left.Store(int64(f.Offsets))
	var all sync.WaitGroup
	for caller := range f.Work.Callers {
		all.Go(func() {
			for ctx.Err() == nil && left.Load() > 0 {
				if err := once(ctx, load, caller); err == nil {
					left.Add(-int64(f.Work.Batch))
				} else {
					time.Sleep(afterRefusal)
				}
			}
		})
	}
	all.Wait()
	if n := left.Load(); n > 0 {
		return fmt.Errorf("%d are left: %w", n, context.Cause(ctx))
	}
	return nil
}

// once does one request.
func once(ctx context.Context, load systems.Load, caller int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return load.Do(ctx, caller)
}

// size is what the files in the folders of a job's processes take on the disk,
// which is more than they hold where room is reserved.
func size(dir string) ([]float64, error) {
	total := 0.0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Dir(path) == dir { // logs and settings lie beside the folders
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += float64(info.Sys().(*syscall.Stat_t).Blocks * 512)
		}
		return err
	})
	return []float64{total}, err
}

// nodeBack kills the leader and starts it again, some times.
func nodeBack(ctx context.Context, system systems.System, times int) (took []float64, err error) {
	for range times {
		if _, err := system.Kill(ctx); err != nil {
			return nil, fmt.Errorf("killing the leader: %w", err)
		}
		began := time.Now()
		if err := system.Revive(ctx); err != nil {
			return nil, fmt.Errorf("starting the killed one again: %w", err)
		}
		took = append(took, time.Since(began).Seconds())
	}
	return took, nil
}

// allBack kills all processes and starts them again, some times.
func allBack(ctx context.Context, system systems.System, times int) (took []float64, err error) {
	r, ok := system.(systems.Restarter)
	if !ok {
		return nil, systems.ErrNotOffered
	}
	for range times {
		began, err := r.Restart()
		if err != nil {
			return nil, fmt.Errorf("killing all and starting them again: %w", err)
		}
		answered, err := answers(ctx, system)
		if err != nil {
			return nil, err
		}
		took = append(took, answered.Sub(began).Seconds())
	}
	return took, nil
}

// answers waits until a write is answered, and tells when. Clients that have
// failed wait longer and longer before they look again, so new ones begin all
// the while.
func answers(ctx context.Context, system systems.System) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	came := make(chan time.Time, 1)
	clients := paced.Start(ctx, another, func(ctx context.Context, _ int) error {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		load, err := system.Workload(ctx, systems.Work{Op: systems.Write, Callers: 1, Batch: 1}) // which writes
		if err != nil {
			return err
		}
		select {
		case came <- time.Now():
		default: // another was first
		}
		return load.Close()
	})
	select {
	case at := <-came:
		cancel() // the others are not needed
		clients.Stop()
		return at, nil
	case <-ctx.Done():
		_, last := clients.Stop()
		return time.Time{}, fmt.Errorf("no write was answered (%w): %w", context.Cause(ctx), last)
	}
}
