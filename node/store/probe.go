package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// Probing says what a Probe does.
type Probing struct {
	// Bytes is the size of a write, Syncs how many of them there are.
	Bytes, Syncs int
	// Time is when it stops with what it has by then.
	Time time.Duration
}

// StartProbing is what a node asks of its disk before it starts: 50 times 4 KiB,
// in a second.
var StartProbing = Probing{Bytes: 4 << 10, Syncs: 50, Time: time.Second}

// DiskFigures is what a Probe measured.
type DiskFigures struct {
	// Syncs is how many times the bytes were written and synced.
	Syncs int
	// P50, P99 and Max are the durations of one write with its sync. With
	// fewer than 100 syncs P99 is Max.
	P50, P99, Max time.Duration
}

// Probe measures the disk under dir: bytes written and synced one after another,
// as a log is, in a file that it removes. It stops when p's time is over, or
// ctx ends; one sync that hangs it cannot leave.
func Probe(ctx context.Context, dir string, p Probing) (DiskFigures, error) {
	f, err := os.CreateTemp(dir, "probe-*"+tmpSuffix)
	if err != nil {
		return DiskFigures{}, fmt.Errorf("probing disk: %w", err)
	}
	early := os.Remove(f.Name()) // so that a kill leaves nothing; not every system lets one
	took, err := p.file(ctx, f)
	err = errors.Join(err, f.Close())
	if early != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	if err != nil {
		return DiskFigures{}, fmt.Errorf("probing disk: %w", err)
	}
	slices.Sort(took)
	rank := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	return DiskFigures{Syncs: len(took), P50: rank(50), P99: rank(99), Max: took[len(took)-1]}, nil
}

// file writes and syncs at least once.
func (p Probing) file(ctx context.Context, f *os.File) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, p.Time)
	defer cancel()
	data := make([]byte, p.Bytes)
	var took []time.Duration
	for at := int64(0); ; at += int64(p.Bytes) {
		start := time.Now()
		if _, err := f.WriteAt(data, at); err != nil {
			return nil, err
		}
		if err := syncData(f); err != nil {
			return nil, err
		}
		if took = append(took, time.Since(start)); ctx.Err() != nil || len(took) >= p.Syncs {
			return took, nil
		}
	}
}
