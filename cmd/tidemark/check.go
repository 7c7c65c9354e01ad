package main

import (
	"fmt"
	"time"
)

// checkCmd holds what looks for trouble.
type checkCmd struct {
	Health      healthCmd      `cmd:"" help:"Look at all members, and report what is wrong and what to do."`
	Performance performanceCmd `cmd:"" help:"Measure reads and commits on the live cluster from here, on keys of its own."`
	Backup      checkBackupCmd `cmd:"" help:"Read a whole backup, and report whether it is as it was written, and what it holds."`
	Disk        diskCmd        `cmd:"" help:"Measure the disk under a folder."`
}

// finding is something that is wrong.
type finding struct {
	// Member is whose it is; empty for the cluster's.
	Member string `json:"member,omitempty"`
	What   string `json:"what"`
	// Do is what to do about it.
	Do string `json:"do"`
}

// findings are what a check found wrong, and what is only worth knowing.
type findings struct {
	Findings []finding `json:"findings"`
	Notes    []string  `json:"notes"`
}

func newFindings() findings { return findings{Findings: []finding{}, Notes: []string{}} }

func (f *findings) add(member, do, format string, args ...any) {
	f.Findings = append(f.Findings, finding{Member: member, What: fmt.Sprintf(format, args...), Do: do})
}

func (f *findings) note(format string, args ...any) {
	f.Notes = append(f.Notes, fmt.Sprintf(format, args...))
}

func (f *findings) table(t *table) {
	for _, n := range f.Notes {
		t.line("note: %s", n)
	}
	for _, x := range f.Findings {
		who := ""
		if x.Member != "" {
			who = shown(x.Member) + " "
		}
		t.line("FINDING: %s%s; %s", who, x.What, x.Do)
	}
	if len(f.Findings) == 0 {
		t.line("nothing is wrong")
	}
}

// err ends a check that has findings with exit code 5. The result says them all.
func (f *findings) err() error {
	switch n := len(f.Findings); n {
	case 0:
		return nil
	default:
		return exitf(exitUnhealthy, "%s; the result says what to do", plural(n, "finding", "findings"))
	}
}

// span gives a duration for people, to three digits or so.
func span(d time.Duration) string {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(time.Microsecond).String()
}

// bytesOf gives a number of bytes for people.
func bytesOf(n uint64) string {
	const units = "KMGTPE"
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	i, f := 0, float64(n)/(1<<10)
	for ; f >= 1<<10 && i < len(units)-1; i++ {
		f /= 1 << 10
	}
	return fmt.Sprintf("%.1f %ciB", f, units[i])
}
