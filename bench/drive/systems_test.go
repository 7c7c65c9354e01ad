package main

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/bench/programs"
	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
)

// TestSystems has each system that is compared do each kind of work for a
// moment, with a kill of its leader, as three real processes.
func TestSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("short: servers would be built and run")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	t.Setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1") // the quick compiler alone: servers start sooner
	b := programs.Builder{Root: "../..", Out: t.TempDir()}
	peers, err := b.Peers(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := b.Current(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(systems.All)) {
		t.Run(name, func(t *testing.T) {
			kind := systems.All[name]
			if lacking := kind.Lacking(); lacking != "" {
				t.Skipf("needs %s: not installed", lacking)
			}
			if name == "kafka-default" && !effort.Soak() {
				t.Skip("as kafka, but for one setting; SOAK=1 runs it")
			}
			jars, err := b.Jars(ctx, kind)
			if err != nil {
				t.Fatal(err)
			}
			p := systems.Programs{Tidemark: ours.Dir, Peers: peers, Jars: jars}
			system, err := systems.Named(name, p)
			if err != nil {
				t.Fatal(err)
			}
			job := results.Job{Label: name, System: name, Programs: p, Dir: t.TempDir(), For: 500 * time.Millisecond, Cells: momentary(system)}
			job.Fill = results.Fill{Work: systems.Work{Op: systems.Write, Callers: 4, Batch: 20}, Offsets: 1000}
			kills := 2
			if kind.Set != "" && !effort.Soak() {
				kills = 1 // Kafka needs ten seconds to notice one
			}
			job.Cells = append(job.Cells, results.Cell{Row: "gap", Kind: results.Gap, Kills: kills, Work: systems.Work{Op: systems.Write, Callers: 256, Batch: 1, OneGroup: true}})
			oneRound(ctx, t, system, job)
		})
	}
}

// momentary are cells of each kind but for gaps, each way of a batch in small among them.
func momentary(system systems.System) []results.Cell {
	work := func(op systems.Op, batch int) systems.Work { return systems.Work{Op: op, Callers: 4, Batch: batch} }
	list := []systems.Work{work(systems.Write, 1), work(systems.Read, 1), work(systems.ReadGroup, 20), {Op: systems.Write, Callers: 4, Batch: 1, Separate: true}}
	ways := map[string]bool{}
	for _, w := range system.Batches() {
		if !ways[w.Way] {
			ways[w.Way], w.Callers, w.Batch = true, 2, 20
			list = append(list, w)
		}
	}
	var cells []results.Cell
	for _, w := range list {
		cells = append(cells, results.Cell{Row: string(w.Op), Kind: results.Rate, Work: w})
	}
	return append(cells, results.Cell{Row: "open", Kind: results.Open, Work: work(systems.Write, 1)},
		results.Cell{Row: "size", Kind: results.Size, Work: work(systems.Write, 0)},
		results.Cell{Row: "all back", Kind: results.AllBack, Kills: 1, Work: work(systems.Write, 0)})
}

// oneRound drives a job and checks that each of its results has figures.
func oneRound(ctx context.Context, t *testing.T, system systems.System, job results.Job) {
	t.Helper()
	var told []results.Result
	if err := drive(ctx, system, job, func(r any) error { told = append(told, r.(results.Result)); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(told) != len(job.Cells) {
		t.Fatalf("%d results of %d cells", len(told), len(job.Cells))
	}
	for i, r := range told {
		t.Logf("%s (%s): %v, p50 %v, failed %d %s", r.Row, r.Work, r.Values, r.P50, r.Failed, r.Failure)
		if r.Cell != job.Cells[i] || r.Label != job.Label || r.Durability == "" {
			t.Errorf("result %d is %+v", i, r)
		}
		if len(r.Values) == 0 && r.Failure != systems.ErrNotOffered.Error() {
			t.Errorf("%s (%s) has no figure", r.Row, r.Work)
		}
		for _, v := range r.Values {
			if v <= 0 {
				t.Errorf("%s (%s) gave %v", r.Row, r.Work, r.Values)
			}
		}
	}
	if last := told[len(told)-1]; len(last.Values) != last.Kills && last.Failure != systems.ErrNotOffered.Error() {
		t.Errorf("%d kills left %d gaps", last.Kills, len(last.Values))
	}
}
