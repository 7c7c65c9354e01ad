package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// pausing is a load whose requests take 10 ms, but for those that fall into a pause.
type pausing struct {
	steady
	from, to time.Time
}

func (p *pausing) Do(ctx context.Context, caller int) error {
	if now := time.Now(); now.After(p.from) && now.Before(p.to) {
		time.Sleep(p.to.Sub(now))
	}
	return p.steady.Do(ctx, caller)
}

// A request that fails is counted, before the loop is open and after.
func TestOpenLoopCountsFailures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		load := &steady{takes: 10 * time.Millisecond, fails: 7}
		r := results.Result{Cell: results.Cell{Kind: results.Open, Work: systems.Work{Op: systems.Write, Callers: 4, Batch: 1}}}
		if err := open(t.Context(), load, results.Job{Warm: time.Second, For: 4 * time.Second}, &r); err != nil {
			t.Fatal(err)
		}
		if want := load.done / load.fails; r.Failed != want || r.Failure != errRefused.Error() {
			t.Errorf("%d requests failed, the last with %q; want %d", r.Failed, r.Failure, want)
		}
	})
}

// A pause of a second shows in a tenth of what is asked for in ten seconds,
// and not only in the one request that each caller has under way.
func TestOpenLoopSeesAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		load := &pausing{steady: steady{takes: 10 * time.Millisecond}, from: begin.Add(8 * time.Second), to: begin.Add(9 * time.Second)}
		job := results.Job{Warm: time.Second, For: 10 * time.Second}
		r := results.Result{Cell: results.Cell{Kind: results.Open, Work: systems.Work{Op: systems.Write, Callers: 4, Batch: 1}}}
		if err := open(t.Context(), load, job, &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Values) != 1 || r.Values[0] < 199 || r.Values[0] > 201 {
			t.Errorf("4 callers of 10 ms each are offered %v/s, want half of 400", r.Values)
		}
		if r.P50 != 10*time.Millisecond || r.P99 < 800*time.Millisecond || r.Most < time.Second || r.Most > 1100*time.Millisecond {
			t.Errorf("p50 %v, p99 %v, most %v", r.P50, r.P99, r.Most)
		}
	})
}
