package main

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// fallible is a system without a disk whose leader can be killed: its writes
// are answered after a millisecond, and not at all for a while after a kill.
type fallible struct {
	away time.Duration

	mu      sync.Mutex
	back    time.Time
	alive   bool
	killed  int
	revived int
}

func (f *fallible) Durability() systems.Durability {
	return systems.Durability{Write: "none", Read: "none"}
}
func (f *fallible) Batches() []systems.Work { return nil }
func (f *fallible) Start(context.Context, string) error {
	f.alive = true
	return nil
}
func (f *fallible) Workload(context.Context, systems.Work) (systems.Load, error) { return f, nil }
func (f *fallible) Kill(context.Context) (time.Time, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	f.back = now.Add(f.away)
	f.killed++
	return now, nil
}
func (f *fallible) Revive(context.Context) error { f.revived++; return nil }
func (f *fallible) Stop() error                  { f.alive = false; return nil }
func (f *fallible) Close() error                 { return nil }

// Do answers a write that reaches a leader; others hang until they are given up.
func (f *fallible) Do(ctx context.Context, _ int) error {
	time.Sleep(time.Millisecond)
	f.mu.Lock()
	away := time.Now().Before(f.back)
	f.mu.Unlock()
	if away {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

// A gap is known to the time between two writes, however long writes hang that
// began before it ended.
func TestGaps(t *testing.T) {
	for _, away := range []time.Duration{0, 350 * time.Millisecond, 7 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			f := &fallible{away: away}
			job := results.Job{Label: "fallible", Cells: []results.Cell{{Row: "gap", Kind: results.Gap, Kills: 3, Work: systems.Work{Op: systems.Write, Callers: 256, Batch: 1}}}}
			var told []results.Result
			if err := drive(t.Context(), f, job, func(r any) error { told = append(told, r.(results.Result)); return nil }); err != nil {
				t.Fatal(err)
			}
			if f.killed != 3 || f.revived != 2 || f.alive {
				t.Errorf("killed %d times, revived %d, alive %v", f.killed, f.revived, f.alive)
			}
			if len(told) != 1 || len(told[0].Values) != 3 {
				t.Fatalf("told %+v", told)
			}
			least, most := slices.Min(told[0].Values), slices.Max(told[0].Values)
			if least < away.Seconds() || most > (away+2*every).Seconds() {
				t.Errorf("away for %v; gaps from %v to %v s", away, least, most)
			}
		})
	}
}
