package main

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// restartable is a fallible system whose processes can all be started again,
// and which counts what is written.
type restartable struct {
	fallible
	written atomic.Int64
}

func (r *restartable) Restart() (time.Time, error) {
	return r.Kill(context.Background())
}

// Workload answers once the system is back, as one that writes does.
func (r *restartable) Workload(ctx context.Context, _ systems.Work) (systems.Load, error) {
	return r, r.Do(ctx, 0)
}

func (r *restartable) Do(ctx context.Context, caller int) error {
	err := r.fallible.Do(ctx, caller)
	if err == nil {
		r.written.Add(1)
	}
	return err
}

// Offsets are stored before the first cell, and what follows a kill of all is
// known to the time between two clients.
func TestRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const away = 3200 * time.Millisecond
		f := &restartable{fallible: fallible{away: away}}
		cell := func(kind results.Kind) results.Cell { return results.Cell{Row: string(kind), Kind: kind, Kills: 2} }
		job := results.Job{
			Label: "restartable", Dir: t.TempDir(), Fill: results.Fill{Work: systems.Work{Op: systems.Write, Callers: 3, Batch: 10}, Offsets: 1000},
			Cells: []results.Cell{cell(results.AllBack), cell(results.NodeBack)},
		}
		var told []results.Result
		err := drive(t.Context(), f, job, func(r any) error {
			if told = append(told, r.(results.Result)); f.written.Load() < 100 {
				t.Errorf("%d requests of ten were answered before the first cell was, want 100", f.written.Load())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all, node := told[0].Values, told[1].Values
		if len(all) != 2 || len(node) != 2 || f.killed != 4 || f.revived != 2 {
			t.Fatalf("%v, %v after %d kills and %d starts", all, node, f.killed, f.revived)
		}
		for _, v := range all {
			if v < away.Seconds() || v > (away+2*another).Seconds() {
				t.Errorf("away for %v, and told %v s", away, v)
			}
		}
	})
}

// A system that nobody can start again lacks that row.
func TestRecoveryIsNotOffered(t *testing.T) {
	r := results.Result{Cell: results.Cell{Kind: results.AllBack, Kills: 1}}
	if err := measure(t.Context(), &fallible{}, results.Job{}, &r); err != nil || len(r.Values) > 0 || r.Failure == "" {
		t.Errorf("%+v, %v", r, err)
	}
}

// The size is that of the processes' folders, not of the logs beside them.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "n1", "deep"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, bytes := range map[string]int{"n1.log": 1 << 20, "n1/a": 100_000, "n1/deep/b": 50_000} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, bytes), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := size(dir)
	if err != nil || len(got) != 1 || got[0] < 150_000 || got[0] > 250_000 {
		t.Errorf("%v, %v; 150,000 bytes are there", got, err)
	}
}
