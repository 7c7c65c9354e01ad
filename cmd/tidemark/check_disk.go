package main

import (
	"fmt"
	"os"
	"time"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// diskCmd measures a disk.
type diskCmd struct {
	Dir string `arg:"" help:"A folder on the disk to measure, such as that of --data. A file is written there and removed." type:"path"`
}

// diskProbes are the sizes that are written: what a commit alone takes, and the
// largest entry that many make. Together they take six seconds at most, but for
// a sync that hangs.
var diskProbes = []store.Probing{
	{Bytes: 4 << 10, Syncs: 500, Time: 3 * time.Second},
	{Bytes: 128 << 10, Syncs: 200, Time: 3 * time.Second},
}

// presets are the timers that a node may be started with, the fastest first.
var presets = []string{"lan", "slow-disk"}

// diskResult is what was measured.
type diskResult struct {
	Dir    string     `json:"dir"`
	Probes []probeRow `json:"probes"`
	Free   uint64     `json:"free,string"`
	Total  uint64     `json:"total,string"`
	Timers string     `json:"timers"`
	Limit  durationUS `json:"limitUs"`
	Worst  durationUS `json:"worstUs"`
	findings
}

// durationUS is a duration, in microseconds where it is a number.
type durationUS int64

func us(d time.Duration) durationUS { return durationUS(d.Microseconds()) }

// String gives it for people.
func (d durationUS) String() string { return span(time.Duration(d) * time.Microsecond) }

// probeRow is one size.
type probeRow struct {
	Bytes int        `json:"bytes"`
	Syncs int        `json:"syncs"`
	P50   durationUS `json:"p50Us"`
	P99   durationUS `json:"p99Us"`
	Max   durationUS `json:"maxUs"`
}

func (r *diskResult) table(t *table) {
	t.line("%s: %s of %s free", shown(r.Dir), bytesOf(r.Free), bytesOf(r.Total))
	t.row("WRITE+SYNC", "TIMES", "P50", "P99", "MAX")
	for _, p := range r.Probes {
		t.row(bytesOf(uint64(p.Bytes)), num(p.Syncs), p.P50.String(), p.P99.String(), p.Max.String())
	}
	if r.Timers != "" {
		t.line("start every member with --timers %s: p99 %s is within the %s that they bear", r.Timers, r.Worst, r.Limit)
	}
	r.findings.table(t)
}

// Run measures and judges.
func (c *diskCmd) Run(s *session) error {
	if info, err := os.Stat(c.Dir); err != nil {
		return err
	} else if !info.IsDir() {
		return offset.Errorf(offset.ErrInvalid, "%s is no folder; name one on the disk to measure", shown(c.Dir))
	}
	r := &diskResult{Dir: c.Dir, findings: newFindings()}
	var worst time.Duration
	for _, p := range diskProbes {
		f, err := store.Probe(s.ctx, c.Dir, p)
		if err != nil {
			return err
		}
		if err := s.ctx.Err(); err != nil {
			return fmt.Errorf("the probe did not end: %w", err)
		}
		r.Probes = append(r.Probes, probeRow{p.Bytes, f.Syncs, us(f.P50), us(f.P99), us(f.Max)})
		worst = max(worst, f.P99)
	}
	var err error
	if r.Free, r.Total, err = store.FreeSpace(c.Dir); err != nil {
		return err
	}
	r.judge(worst)
	if err := s.print(r); err != nil {
		return err
	}
	return r.err()
}

// judge finds the fastest timers that bear the slowest of 100 syncs.
func (r *diskResult) judge(worst time.Duration) {
	r.Worst = us(worst)
	for _, name := range presets {
		timers, err := node.TimersNamed(name)
		if err != nil {
			panic("tidemark: a preset of timers is gone: " + err.Error())
		}
		r.Limit = us(timers.SyncLimit())
		if worst <= timers.SyncLimit() {
			r.Timers = name
			break
		}
	}
	if r.Timers == "" {
		r.add("", "use a faster disk, or one that nothing else writes to", "p99 of a sync is %s, and the slowest timers (%s) bear %s: leaders would lose their leadership under load", r.Worst, presets[len(presets)-1], r.Limit)
	}
	if r.Timers == presets[0] {
		return
	}
	r.note("all members take the same timers: with slow-disk a failover takes about three times as long as with lan")
}
