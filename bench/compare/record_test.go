package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// small is a plan of two systems, two rounds and three cells, one with kills.
func small(seed uint64) Plan {
	p, err := newPlan("short", seed, []Subject{{Label: "tidemark", Title: "Tidemark", System: "tidemark", Sums: "1"}, {Label: "etcd", Title: "etcd", System: "etcd", Sums: "2"}}, Machine{CPUs: 2})
	if err != nil {
		panic(err)
	}
	p.Rounds = 2
	p.Cells = []results.Cell{rate("one", write(1, 1)), rate(bestBatch, systems.Work{Op: systems.Write}), p.Cells[len(p.Cells)-1]}
	return p
}

func result(label string, round int, cell results.Cell, values ...float64) line {
	return line{Result: &results.Result{Label: label, Round: round, Cell: cell, Durability: "synced", Values: values}}
}

func open(t *testing.T, dir string, p Plan) (*Record, string) {
	t.Helper()
	r, aside, err := openRecord(dir, p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, aside
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A comparison that was ended goes on with its seed, and measures nothing twice.
func TestRecordGoesOn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usual")
	p := small(7)
	r, aside := open(t, dir, p)
	if aside != "" {
		t.Errorf("an empty folder was moved to %s", aside)
	}
	must(t, r.write(line{Disk: &Disk{Writes: 5}}))
	must(t, r.write(result("tidemark", 0, p.Cells[0], 100)))
	must(t, r.Close())
	path := filepath.Join(dir, recordName)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(slices.Clone(text), `{"result":{"label":"etcd","rou`...), 0o600)) // torn by a crash

	other := small(8)
	other.Subjects[0].Title = "Tidemark, called otherwise"
	again, aside := open(t, dir, other)
	if aside != "" || again.Plan.Seed != 7 || len(again.Results) != 1 || len(again.Disks) != 1 || again.Results[0].Values[0] != 100 {
		t.Fatalf("moved to %q; goes on with %+v", aside, again)
	}
	if !again.has("tidemark", 0, p.Cells[0]) || again.has("tidemark", 1, p.Cells[0]) || again.has("etcd", 0, p.Cells[0]) || again.has("tidemark", 0, p.Cells[1]) {
		t.Error("what it has is not what was written")
	}
	must(t, again.write(result("etcd", 0, p.Cells[0], 50)))
	if third, _ := open(t, dir, small(9)); len(third.Results) != 2 {
		t.Errorf("after the torn line there are %d results, want 2", len(third.Results))
	}
}

// Another build, and a comparison that is whole, begin anew; what was there is kept aside.
func TestRecordBeginsAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "usual")
	p := small(7)
	r, _ := open(t, dir, p)
	must(t, r.write(result("tidemark", 0, p.Cells[0], 100)))
	other := small(8)
	other.Subjects[0].Sums = "3"
	other.Began = other.Began.AddDate(0, 0, 1)
	r, aside := open(t, dir, other)
	if old, err := readRecord(filepath.Join(aside, recordName)); err != nil || len(old.Results) != 1 || old.Plan.Seed != 7 {
		t.Errorf("in %q is %+v, %v", aside, old, err)
	}
	if len(r.Results) != 0 || r.Plan.Seed != 8 {
		t.Errorf("begins with %+v", r)
	}
	for round := range other.Rounds {
		for _, s := range other.Subjects {
			for _, c := range other.Cells {
				if r.whole() {
					t.Fatal("it is whole too early")
				}
				must(t, r.write(result(s.Label, round, c, 1)))
			}
		}
	}
	if !r.whole() {
		t.Error("it is not whole with all cells")
	}
	other.Began = other.Began.AddDate(0, 0, 1)
	if next, aside := open(t, dir, other); aside == "" || len(next.Results) != 0 {
		t.Errorf("a whole one goes on with %d results (moved to %q)", len(next.Results), aside)
	}
}

// Who asks for a system that there is not, or that is not installed, is told.
func TestChosen(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nothing is installed
	c := &comparison{}
	if list, err := c.chosen(flags{Size: "full"}); err != nil || slices.ContainsFunc(list, func(name string) bool { return systems.All[name].Module == "" }) || len(list) != len(sizes["full"].systems)-4 {
		t.Errorf("without redis-server and java the full size has %q, %v", list, err)
	}
	if list, err := c.chosen(flags{Size: "full", Systems: []string{"etcd", "nats"}}); err != nil || !slices.Equal(list, []string{"etcd", "nats"}) {
		t.Errorf("got %q, %v", list, err)
	}
	for name, want := range map[string]string{"mysql": "no system is called", "redis": "redis-server is not installed", "kafka": "java is not installed"} {
		if _, err := c.chosen(flags{Size: "full", Systems: []string{"etcd", name}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("asked for %s: %v", name, err)
		}
	}
}

// The orders are those of the seed, kills come last, and the best batch is the
// one whose try gave the most.
func TestCellsOfARound(t *testing.T) {
	r := &Record{Plan: small(7)}
	c := &comparison{record: r}
	if best, ok := r.best("tidemark"); ok {
		t.Errorf("without tries the best batch is %v", best)
	}
	for i, w := range []systems.Work{write(4, 100), write(8, 1000), write(16, 10)} {
		r.keep(result("tidemark", tuningRound, results.Cell{Row: bestBatch, Kind: results.Tune, Work: w}, []float64{10, 30, 20}[i]))
	}
	seen := map[string]bool{}
	for round := range 20 {
		cells, again := c.cells(r.Plan.Subjects[0], round, 0), c.cells(r.Plan.Subjects[0], round, 0)
		if !slices.Equal(cells, again) {
			t.Errorf("round %d has two orders: %v and %v", round, cells, again)
		}
		if len(cells) != 3 || cells[2].Kind != results.Gap {
			t.Fatalf("round %d has %v", round, cells)
		}
		i := slices.IndexFunc(cells, func(c results.Cell) bool { return c.Row == bestBatch })
		if cells[i].Work != write(8, 1000) {
			t.Errorf("the best batch is %v", cells[i].Work)
		}
		seen[cells[0].Row] = true
	}
	if len(seen) != 2 {
		t.Errorf("in 20 rounds %v came first", seen)
	}
}
