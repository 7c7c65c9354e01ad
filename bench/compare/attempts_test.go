package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/bench/results"
)

// fakeDrive names the environment variable that makes this test binary a drive
// whose system is called etcd and fails; its value says in which attempts.
const fakeDrive = "BENCH_TEST_FAILS"

func TestMain(m *testing.M) {
	if fails := os.Getenv(fakeDrive); fails != "" {
		os.Exit(pretend(fails))
	}
	os.Exit(m.Run())
}

// pretend tells one result for each cell of the job. In attempts of etcd that
// fail it tells the first only. Attempts are counted in a file beside the job's
// folder, which is anew for each.
func pretend(fails string) int {
	var job results.Job
	line, err := bufio.NewReader(os.Stdin).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &job)
	}
	counted := filepath.Join(filepath.Dir(job.Dir), "attempts-"+job.Label)
	before, _ := os.ReadFile(counted) // there is none before the first
	if err == nil {
		err = os.WriteFile(counted, append(before, '.'), 0o600)
	}
	if old, _ := filepath.Glob(filepath.Join(job.Dir, "*")); len(old) > 0 || err != nil {
		fmt.Fprintln(os.Stderr, "drive: the folder is not empty:", old, err)
		return 1
	}
	for i, cell := range job.Cells {
		if i == 1 && job.System == "etcd" && strings.Contains(fails, fmt.Sprint(len(before)+1)) {
			os.WriteFile(filepath.Join(job.Dir, "n1.log"), []byte("it hurts"), 0o600)
			fmt.Fprintln(os.Stderr, "noise of a library\ndrive: preparing the work:\ndeadline exceeded")
			return 1
		}
		json.NewEncoder(os.Stdout).Encode(results.Result{Label: job.Label, Round: job.Round, Cell: cell, Durability: "synced", Values: []float64{100}})
	}
	return 0
}

// comparisonOf is a comparison of Tidemark and an etcd whose attempts fail as told.
func comparisonOf(t *testing.T, fails string) *comparison {
	t.Helper()
	t.Setenv(fakeDrive, fails)
	p := small(7)
	p.Rounds = 1
	p.Cells = append(p.Cells[:2:2], rate("two", write(2, 1)), rate("three", write(3, 1)))
	for i := range p.Subjects {
		p.Subjects[i].Drive = os.Args[0]
	}
	r, _ := open(t, filepath.Join(t.TempDir(), "usual"), p)
	for _, s := range p.Subjects {
		for _, cell := range tries(s) {
			must(t, r.write(result(s.Label, tuningRound, cell, 50)))
		}
	}
	return &comparison{record: r, run: t.TempDir(), probe: func(string, int) (Disk, error) { return Disk{}, nil }}
}

// attempted is how often a drive was started for a subject.
func (c *comparison) attempted(t *testing.T, label string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.run, "attempts-"+label))
	must(t, err)
	return len(text)
}

// A system that fails once is tried again with what is left, and nothing lacks.
func TestFailedAttemptIsTriedAgain(t *testing.T) {
	c := comparisonOf(t, "1 2")
	must(t, c.measure(t.Context()))
	if n := c.attempted(t, "etcd"); n != 3 {
		t.Errorf("etcd was tried %d times, want 3", n)
	}
	for _, r := range c.record.Results {
		if r.LeftOut != "" {
			t.Errorf("left out: %+v", r)
		}
	}
	if !c.record.whole() {
		t.Error("the comparison is not whole")
	}
	logs, _ := filepath.Glob(filepath.Join(c.run, "failed", "etcd-round-1", "n1.log"))
	if len(logs) != 1 {
		t.Error("the logs of what failed are gone")
	}
}

// A system that fails again and again is left out of the round, with the
// reason; what it gave before stays, others go on, and the table says so.
func TestSystemThatFailsIsLeftOut(t *testing.T) {
	c := comparisonOf(t, "1 2 3 4 5")
	must(t, c.measure(t.Context()))
	if n := c.attempted(t, "etcd"); n != attempts {
		t.Errorf("etcd was tried %d times, want %d", n, attempts)
	}
	if n := c.attempted(t, "tidemark"); n != 1 {
		t.Errorf("tidemark was tried %d times", n)
	}
	out := 0
	for _, r := range c.record.Results {
		if r.LeftOut == "" {
			continue
		}
		if out++; r.Label != "etcd" || r.LeftOut != "preparing the work:; deadline exceeded" || len(r.Values) > 0 {
			t.Errorf("left out: %+v", r)
		}
	}
	if out != 1 || !c.record.whole() { // each attempt gave one of four
		t.Errorf("%d cells left out; whole: %v", out, c.record.whole())
	}
	page := summarize(c.record).Markdown()
	for _, want := range []string{"LEFT OUT, see below", "\n- etcd, round 1: preparing the work:; deadline exceeded\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not in\n%s", want, page)
		}
	}
}

// Without a batch that was answered a system lacks that row, and has the others.
func TestNoBatchWasAnswered(t *testing.T) {
	c := comparisonOf(t, "none")
	c.record.Results = slices.DeleteFunc(c.record.Results, func(r results.Result) bool { return r.Label == "etcd" })
	for _, cell := range tries(c.record.Plan.Subjects[1]) {
		c.record.keep(result("etcd", tuningRound, cell, 0))
	}
	must(t, c.measure(t.Context()))
	for _, cell := range c.record.Plan.Cells {
		list, out := c.record.of("etcd", cell)
		if best := cell.Row == bestBatch; best != (len(out) == 1) || best != (len(list) == 0) {
			t.Errorf("%s: %v, left out: %v", cell.Row, list, out)
		}
	}
}

// Recovery is measured once, after the rounds, of the systems that are named.
func TestRecoveryComesLast(t *testing.T) {
	c := comparisonOf(t, "none")
	c.record.Plan.Fill, c.record.Plan.After = results.Fill{Work: write(2, 10), Offsets: 100}, after(100, 3)
	c.record.Plan.Recovering = []string{"tidemark", "etcd"}
	c.record.Plan.Subjects = append(c.record.Plan.Subjects, Subject{Label: "redis", System: "redis", Drive: os.Args[0]})
	for _, cell := range tries(c.record.Plan.Subjects[2]) {
		c.record.keep(result("redis", tuningRound, cell, 50))
	}
	must(t, c.measure(t.Context()))
	for _, cell := range c.record.Plan.After {
		for label, want := range map[string]int{"tidemark": 1, "etcd": 1, "redis": 0} {
			list, _ := c.record.of(label, cell)
			if len(list) != want || want == 1 && list[0].Round != afterRound {
				t.Errorf("%s of %s: %v", cell.Row, label, list)
			}
		}
	}
	page := summarize(c.record).Markdown()
	if want := "| after 100 commits: on the disk, all three together | Tidemark; synced | 0 MB |"; !c.record.whole() || !strings.Contains(page, want) {
		t.Errorf("whole: %v; %q is not in\n%s", c.record.whole(), want, page)
	}
}

// A comparison ends where it is its own failure: a drive that cannot be started.
func TestOwnFailureEnds(t *testing.T) {
	c := comparisonOf(t, "none")
	c.record.Plan.Subjects[0].Drive = filepath.Join(t.TempDir(), "nothing")
	if err := c.measure(t.Context()); err == nil {
		t.Error("nothing is said of a drive that there is not")
	}
}

func TestTailIsBounded(t *testing.T) {
	var said tail
	for range 1000 {
		fmt.Fprint(&said, "0123456789")
	}
	if said.Len() != tailBytes {
		t.Errorf("%d bytes are kept, want %d", said.Len(), tailBytes)
	}
}
