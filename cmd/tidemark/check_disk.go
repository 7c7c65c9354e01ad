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

// diskResult is what was measured.
type diskResult struct {
	Dir    string     `json:"dir"`
	Probes []probeRow `json:"probes"`
	Free   uint64     `json:"free,string"`
	Total  uint64     `json:"total,string"`
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
	if r.Worst <= r.Limit {
		t.line("fast enough for a member: p99 %s is within %s", r.Worst, r.Limit)
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

// judge looks whether the slowest of 100 syncs keeps a member from being as quick
// as its default timers. No disk costs the leadership, but all wait for it.
func (r *diskResult) judge(worst time.Duration) {
	r.Worst, r.Limit = us(worst), us(node.LAN().SyncLimit())
	if r.Worst > r.Limit {
		r.add("", "use a faster disk, or one that nothing else writes to", "p99 of a sync is %s: a commit waits for two to four of them, and so does an election after the loss of the leader", r.Worst)
	}
}
