package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tidemark-mq/tidemark/bench/latency"
)

// Disk is what the disk took for 4 KiB at the end of a file and an fdatasync,
// just before a system was measured, and how busy the machine was then.
type Disk struct {
	Round  int           `json:"round"`
	Writes int           `json:"writes"`
	P50    time.Duration `json:"p50"`
	P99    time.Duration `json:"p99"`
	// Load is the load average of the last minute.
	Load string `json:"load"`
}

const (
	probeWrites = 300
	probeTime   = time.Second
)

// probe measures the disk of a folder for a second at most.
func probe(dir string, round int) (d Disk, err error) {
	f, err := os.CreateTemp(dir, "probe")
	if err != nil {
		return d, err
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(f.Name())) }()
	var took latency.Samples
	block := make([]byte, 4096)
	for began := time.Now(); d.Writes < probeWrites && time.Since(began) < probeTime; d.Writes++ {
		at := time.Now()
		if _, err := f.Write(block); err != nil {
			return d, err
		}
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return d, err
		}
		took.Add(time.Since(at))
	}
	sorted := took.Take()
	d.Round, d.P50, d.P99, d.Load = round, sorted.Of(0.5), sorted.Of(0.99), loadAverage()
	return d, nil
}

// loadAverage is that of the last minute, as the kernel writes it; empty if it
// does not tell.
func loadAverage() string {
	text, _ := os.ReadFile(filepath.Join("/proc", "loadavg")) // it is for information only
	first, _, _ := strings.Cut(string(text), " ")
	return first
}

// disks tells all probes in one sentence.
func disks(list []Disk) string {
	var p50, p99 latency.Sorted
	for _, d := range list {
		p50, p99 = append(p50, d.P50), append(p99, d.P99)
	}
	return fmt.Sprintf("p50 %s, p99 %s (medians of %d probes; %s and %s)", middle(p50), middle(p99), len(list), span(p50), span(p99))
}
