package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestCheckOnARealCluster: on a sound cluster nothing is wrong but what the
// machine is to blame for, measuring leaves nothing behind, and a member that is
// gone is found.
func TestCheckOnARealCluster(t *testing.T) {
	r := &real{Cluster: served.Start(t, 3)}
	r.tidemark(t, "commit", "g", "t", "0", "1", "--execute").want(t, 0, "-> 1", "")
	r.untilHealth(t, "three sound members", func(h *healthResult) bool {
		sound := func(m healthRow) bool {
			return m.Ready && m.Digest != "" && m.DiskTotal > 0 && m.DiskFree <= m.DiskTotal && m.Longest > 0 && m.LeaseMS > 0 && m.SkewMS <= 1000 && m.SkewMS >= -1000 && m.Lag <= mostLag
		}
		machines := func(x finding) bool { // that is not the cluster's fault
			return strings.Contains(x.What, "free") || strings.Contains(x.What, "on average")
		}
		return len(h.Members) == 3 && h.Leader != "" && h.Level == offset.FormatLevel &&
			!slices.ContainsFunc(h.Members, func(m healthRow) bool { return !sound(m) }) &&
			!slices.ContainsFunc(h.Findings, func(x finding) bool { return !machines(x) })
	})
	before := r.tidemark(t, "export", "--format", "csv").out
	out := r.tidemark(t, "check", "performance", "--count", "20", "--for", "4m", "-o", "json")
	var p performanceResult
	if err := json.Unmarshal([]byte(out.out), &p); err != nil || out.code != 0 && out.code != exitUnhealthy {
		t.Fatalf("%v in %+v", err, out)
	}
	if len(p.Rows) != 3 || p.Rows[2].Calls != 20 || p.Rows[2].P50 <= 0 || p.Rows[2].P50 > p.Rows[2].P99 || p.Rows[2].P99 > p.Rows[2].Max {
		t.Errorf("latencies are %+v", p.Rows)
	}
	if s := p.Share; s.Entries < 20 || s.Log <= 0 || s.Quorum <= 0 || s.Apply < 0 || s.Way <= 0 {
		t.Errorf("the time of a commit is parted into %+v", s)
	}
	if after := r.tidemark(t, "export", "--format", "csv").out; after != before {
		t.Errorf("measuring left\n%s", after)
	}
	leader := r.Leader()
	gone := leader.Name
	leader.Kill()
	r.untilHealth(t, gone+" found to be gone", func(h *healthResult) bool {
		return h.Leader != "" && slices.ContainsFunc(h.Findings, func(x finding) bool {
			return strings.HasPrefix(x.Member, gone) && strings.Contains(x.What, "does not answer")
		})
	})
}

// untilHealth looks until the members are as they should be.
func (r *real) untilHealth(t *testing.T, what string, is func(*healthResult) bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		h := r.health(t)
		switch {
		case is(&h):
			return
		case time.Now().After(deadline):
			t.Fatalf("no %s: %+v", what, h)
		}
	}
}

func (r *real) health(t *testing.T) (h healthResult) {
	t.Helper()
	out := r.tidemark(t, "check", "health", "-o", "json")
	if out.out == "" { // between two leaders
		return h
	}
	if err := json.Unmarshal([]byte(out.out), &h); err != nil {
		t.Fatalf("%v in %+v", err, out)
	}
	if want := map[bool]int{true: 0, false: exitUnhealthy}[len(h.Findings) == 0]; h.Leader != "" && out.code != want {
		t.Errorf("exit code %d with the findings %+v", out.code, h.Findings)
	}
	return h
}

// TestCheckPerformanceRemovesItsKey: also when it is interrupted, or a call fails.
func TestCheckPerformanceRemovesItsKey(t *testing.T) {
	f := newFake()
	f.set(t, 1, key(checkGroup, "somebody", "", 0))
	f.tidemark(t, "check", "performance", "--count", "5").want(t, 0, "commit", "")
	if want := checkGroup + "/somebody/0=1\n"; f.all() != want {
		t.Errorf("there is\n%s", f.all())
	}
	ctx, cancel := context.WithCancel(t.Context())
	f.committed = func() { cancel() }
	f.tidemarkCtx(ctx, "check", "performance").want(t, exitFailed, "", "measuring the commit")
	f.committed = nil
	if want := checkGroup + "/somebody/0=1\n"; f.all() != want {
		t.Errorf("after an interruption there is\n%s", f.all())
	}
	if a := f.acts[len(f.acts)-1]; a.Remove == nil || a.Remove.Scope.Group != checkGroup || a.Remove.Scope.Topic == "" || a.Remove.Scope.Topic == "somebody" {
		t.Errorf("the last act is %+v", a)
	}
	f.before = func() { f.down = errors.New("no more") }
	f.tidemark(t, "check", "performance", "--count", "5").want(t, exitFailed, "commit", "no more")
	for _, args := range [][]string{{"--count", "0"}, {"--count", "10001"}, {"--for", "0s"}} {
		newFake().tidemark(t, append([]string{"check", "performance"}, args...)...).want(t, exitBadInput, "", "--count is 1 to")
	}
}

func TestPerformanceVerdict(t *testing.T) {
	const u = time.Microsecond
	for _, c := range []struct {
		way, read, commit time.Duration
		entry             offset.Stages
		slow              bool
		words             string
	}{
		{100 * u, 300 * u, 4000 * u, offset.Stages{Queue: 9000 * u, Log: 3000 * u, Quorum: 900 * u}, false, "the leader's disk"},
		{100 * u, 300 * u, 4000 * u, offset.Stages{Log: 900 * u, Quorum: 3000 * u}, false, "the followers' disks"},
		{100 * u, 2900 * u, 4000 * u, offset.Stages{Log: 900 * u, Quorum: 3000 * u}, false, "the way between the members"},
		{100 * u, 300 * u, 4000 * u, offset.Stages{Log: 900 * u, Handover: 3000 * u}, false, "raft's loop"},
		{100 * u, 300 * u, 4000 * u, offset.Stages{Log: 900 * u, Apply: 3000 * u}, false, "the state machine"},
		{5000 * u, 6000 * u, 8000 * u, offset.Stages{Log: 900 * u}, false, "the way from here"},
		{1000 * u, 2000 * u, 150_000 * u, offset.Stages{Log: 140_000 * u}, true, "the leader's disk (tidemark check disk)"},
		{200_000 * u, 201_000 * u, 202_000 * u, offset.Stages{Log: 900 * u}, true, "it is not the cluster that is slow"},
		{2000 * u, 1000 * u, 1000 * u, offset.Stages{}, false, "the way from here"}, // a read was faster
	} {
		r := &performanceResult{findings: newFindings()}
		for _, d := range []time.Duration{c.way, c.read, c.commit} {
			r.Rows = append(r.Rows, latencyRow{P50: us(d), P99: us(d)})
		}
		before, after := offset.Status{}, offset.Status{}
		before.Vitals.Entries, before.Vitals.Stages.Log = 10, time.Hour
		after.Vitals.Entries, after.Vitals.Stages = 14, offset.Stages{
			Queue: 4 * c.entry.Queue, Log: time.Hour + 4*c.entry.Log, Quorum: 4 * c.entry.Quorum, Handover: 4 * c.entry.Handover, Apply: 4 * c.entry.Apply,
		}
		r.judge(&before, &after)
		b, err := json.Marshal(r)
		if err != nil || (len(r.Findings) > 0) != c.slow || !strings.Contains(string(b), c.words) || r.LimitUS != 100_000 {
			t.Errorf("%v gives %s, %v", c, b, err)
		}
		if r.Share.Entries != 4 || r.Share.Log != us(c.entry.Log) || r.Share.Queue != us(c.entry.Queue) {
			t.Errorf("%v gives the share %+v", c, r.Share)
		}
	}
	if got := shareOf(&offset.Vitals{Entries: 9}, &offset.Vitals{Entries: 3}); got != (commitShare{}) {
		t.Errorf("of two members: %+v", got)
	}
}

func TestCheckDisk(t *testing.T) {
	dir := t.TempDir()
	r := newFake().tidemark(t, "check", "disk", dir, "-o", "json")
	var got diskResult
	if err := json.Unmarshal([]byte(r.out), &got); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	if len(got.Probes) != 2 || got.Probes[0].Bytes != 4096 || got.Probes[1].Bytes != 128<<10 || got.Probes[0].Syncs < 1 || got.Probes[0].P50 <= 0 {
		t.Errorf("probes are %+v", got.Probes)
	}
	if got.Total == 0 || got.Free > got.Total || (got.Worst > got.Limit) != (r.code == exitUnhealthy) {
		t.Errorf("got %+v, exit code %d", got, r.code)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	newFake().tidemark(t, "check", "disk", filepath.Join(dir, "none")).want(t, exitBadInput, "", "check the path")
	newFake().tidemark(t, "check", "disk", os.Args[0]).want(t, exitBadInput, "", "is no folder")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	newFake().tidemarkCtx(ctx, "check", "disk", dir).want(t, exitFailed, "", "did not end")
}

func TestDiskVerdict(t *testing.T) {
	for worst, slow := range map[time.Duration]bool{0: false, 100 * time.Millisecond: false, 101 * time.Millisecond: true} {
		r := &diskResult{findings: newFindings()}
		if r.judge(worst); (len(r.Findings) > 0) != slow {
			t.Errorf("%s gives %+v, want slow=%v", worst, r, slow)
		}
	}
}

func TestSpanAndBytes(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0s", 1234567: "1.235ms", 12345678: "12.3ms", 1234567890: "1.23s"} {
		if got := span(d); got != want {
			t.Errorf("%d is %q, want %q", d, got, want)
		}
	}
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1.0 KiB", 131072: "128.0 KiB", 5 << 30: "5.0 GiB", 1<<64 - 1: "16.0 EiB"} {
		if got := bytesOf(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
