package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// patience bounds one request; afterRefusal is the pause after one that failed,
// so that a system that refuses is not asked as fast as it can refuse.
const (
	patience     = 10 * time.Second
	afterRefusal = 10 * time.Millisecond
)

// window is the time that counts.
type window struct {
	from time.Time
	long time.Duration
}

// holds tells whether a moment is in the window.
func (w window) holds(at time.Time) bool {
	in := at.Sub(w.from)
	return in >= 0 && in < w.long
}

// part is how much of a request fell into the window, from 0 to 1: one that is
// under way at an edge counts as far as it is inside.
func (w window) part(began, ended time.Time) float64 {
	inside := min(ended.Sub(w.from), w.long) - max(began.Sub(w.from), 0)
	if inside <= 0 {
		return 0
	}
	return float64(inside) / float64(ended.Sub(began))
}

// tally is what one caller counts.
type tally struct {
	// done are the requests in the window, those at its edges in part.
	done float64
	// took is of those that ended in it; not sorted yet.
	took    latency.Sorted
	failed  int
	failure error
}

// rate has all callers at work for warm and long, and counts what is done in
// the latter.
func rate(ctx context.Context, load systems.Load, warm, long time.Duration, r *results.Result) error {
	w := window{time.Now().Add(warm), long}
	tallies := make([]tally, r.Work.Callers)
	var all sync.WaitGroup
	for i := range tallies {
		all.Go(func() { tallies[i].work(ctx, load, i, w) })
	}
	all.Wait()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	return sum(tallies, long, r)
}

// heat has callers write and read for a while without counting.
func heat(ctx context.Context, system systems.System, long time.Duration) error {
	if long == 0 {
		return nil
	}
	for _, op := range []systems.Op{systems.Write, systems.Read} {
		load, err := prepare(ctx, system, systems.Work{Op: op, Callers: 64, Batch: 1})
		if err != nil {
			return err
		}
		r := results.Result{Cell: results.Cell{Work: systems.Work{Callers: 64, Batch: 1}}}
		if err := errors.Join(rate(ctx, load, 0, long/2, &r), load.Close()); err != nil {
			return err
		}
	}
	return nil
}

// work does requests of one caller until the window ends.
func (t *tally) work(ctx context.Context, load systems.Load, caller int, w window) {
	for at := time.Now(); at.Sub(w.from) < w.long && ctx.Err() == nil; {
		call, cancel := context.WithTimeout(ctx, patience)
		err := load.Do(call, caller)
		cancel()
		now := time.Now()
		if err != nil {
			t.failed, t.failure = t.failed+1, err
			time.Sleep(afterRefusal)
			now = time.Now()
		} else {
			t.note(w, at, now)
		}
		at = now
	}
}

// note counts a request that was answered.
func (t *tally) note(w window, began, ended time.Time) {
	t.done += w.part(began, ended)
	if w.holds(ended) {
		t.took = append(t.took, ended.Sub(began))
	}
}

// sum makes one result of what the callers counted. That nothing was answered
// in time is a rate of 0, and with failures an error, unless a batch is looked for.
func sum(tallies []tally, long time.Duration, r *results.Result) error {
	var took latency.Sorted
	done := 0.0
	for _, t := range tallies {
		took, done = append(took, t.took...), done+t.done
		if r.Failed += t.failed; t.failure != nil {
			r.Failure = t.failure.Error()
		}
	}
	if done == 0 && r.Failed > 0 && r.Kind != results.Tune {
		return fmt.Errorf("nothing was answered; %d requests failed, the last: %s", r.Failed, r.Failure)
	}
	slices.Sort(took)
	r.Values = []float64{done * float64(r.Work.Batch) / long.Seconds()}
	r.P50, r.P99, r.Most = took.Of(0.5), took.Of(0.99), took.Of(1)
	return nil
}
