package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/bench/results"
	"github.com/tidemark-mq/tidemark/bench/systems"
)

// summed is a record of three rounds with known medians and ratios.
func summed() *Record {
	r := &Record{Plan: small(7)}
	r.Plan.Rounds = 3
	r.Plan.Began = time.Date(2027, 1, 2, 3, 4, 5, 0, time.UTC)
	one, best, gap := r.Plan.Cells[0], r.Plan.Cells[1], r.Plan.Cells[2]
	best.Work = write(8, 1000)
	for i := range 3 {
		r.keep(result("tidemark", i, one, []float64{1000, 600, 1200}[i]))
		r.keep(result("etcd", i, one, []float64{500, 200, 300}[i]))
		r.keep(result("tidemark", i, best, []float64{1e6, 2e6, 1234567}[i]))
		r.keep(result("tidemark", i, gap, 0.3, 0.4))
		r.keep(result("etcd", i, gap, 1, 2))
		r.keep(line{Disk: &Disk{Round: i, P50: time.Duration(100+i) * time.Microsecond, P99: 2 * time.Millisecond, Load: []string{"0.10", "2.50", ""}[i]}})
	}
	r.Results[0].P50, r.Results[0].P99, r.Results[0].Failed = 1234567, 5*time.Millisecond, 3
	return r
}

func TestSummary(t *testing.T) {
	s := summarize(summed())
	if len(s.Rows) != 5 {
		t.Fatalf("%d rows: %+v", len(s.Rows), s.Rows)
	}
	one := s.Rows[0]
	if one.Median != 1000 || one.Least != 600 || one.Most != 1200 || one.Times != 0 || one.Failed != 3 || one.Unit != "offsets/s" {
		t.Errorf("the first row is %+v", one)
	}
	// The ratios of the rounds are 2, 3 and 4.
	if etcd := s.Rows[1]; etcd.Label != "etcd" || etcd.Median != 300 || etcd.Times != 3 {
		t.Errorf("the second row is %+v", etcd)
	}
	// Of kills all count, and the longer gap is the worse one.
	if gap := s.Rows[4]; gap.Unit != "s" || len(gap.Values) != 6 || gap.Median != 1.5 || gap.Least != 1 || gap.Times != 1.5/0.35 {
		t.Errorf("the last row is %+v", gap)
	}
}

func TestTable(t *testing.T) {
	page := summarize(summed()).Markdown()
	for _, want := range []string{
		"2027-01-02 03:04 UTC, 2 CPUs", "load average 0.1 to 2.5", "fdatasync of 4 KiB: p50 101µs, p99 2ms (medians of 3 probes; 100µs to 102µs and 2ms to 2ms)", "3 rounds of 1s a row in drawn order (seed 7)",
		"\n| one | Tidemark; synced | 1,000/s (600 to 1,200); 3 requests failed |",
		"\n| one | etcd; synced | 300/s (200 to 500) |  |  | 3.0 |\n",
		"\n| best batch: 8 callers, 1000 a request | Tidemark; synced | 1,234,567/s (1,000,000 to 2,000,000) |  |  |  |\n",
		"\n| gap after kill -9 of the leader | etcd; synced | 1.50 s (1.00 to 2.00, 6 kills) |  |  | 4.3 |\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999.4: "999", 999.6: "1,000", 12345: "12,345", 1234567.8: "1,234,568"} {
		if got := thousands(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
	if got := figures(results.Gap, []float64{0.345, 2}); got != "0.34 s, 2.00 s" && got != "0.35 s, 2.00 s" {
		t.Errorf("gaps are told as %s", got)
	}
	if got := (Row{Times: 12.4}).times(); got != "12" {
		t.Errorf("12.4 times is written %s", got)
	}
}

// The disk of a folder can be probed, and the probe leaves nothing.
func TestProbe(t *testing.T) {
	d, err := probe(t.TempDir(), 3)
	if err != nil || d.Round != 3 || d.Writes < 1 || d.Writes > probeWrites || d.P50 <= 0 || d.P99 < d.P50 {
		t.Errorf("got %+v, %v", d, err)
	}
}

// Sizes are those that the help names, and rows have names of their own.
func TestSizes(t *testing.T) {
	for _, name := range []string{"short", "usual", "full"} {
		p, err := newPlan(name, 1, nil, Machine{})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, c := range p.Cells {
			if seen[c.Row] {
				t.Errorf("%s: two rows are called %q", name, c.Row)
			}
			seen[c.Row] = true
		}
		for _, system := range p.Recovering {
			if _, ok := systems.All[system].New(systems.Programs{}).(systems.Restarter); !ok || !slices.Contains(sizes[name].systems, system) {
				t.Errorf("%s: the recovery of %s cannot be measured", name, system)
			}
		}
	}
	if _, err := newPlan("huge", 1, nil, Machine{}); err == nil {
		t.Error("a size that does not exist is taken")
	}
}
