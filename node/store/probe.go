package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	probeSyncs = 50
	probeBytes = 4 << 10
	probeTime  = time.Second
)

// DiskFigures is what a Probe measured.
type DiskFigures struct {
	// Syncs is how many times 4 KiB were written and synced.
	Syncs int
	// P50, P99 and Max are the durations of one write with its sync. With
	// fewer than 100 syncs P99 is Max.
	P50, P99, Max time.Duration
}

// Probe measures the disk under dir: 50 times 4 KiB written and synced, in a file
// that it removes. It stops after a second, or when ctx ends, with what it has
// by then; one sync that hangs it cannot leave.
func Probe(ctx context.Context, dir string) (DiskFigures, error) {
	f, err := os.CreateTemp(dir, "probe-*"+tmpSuffix)
	if err != nil {
		return DiskFigures{}, fmt.Errorf("probing disk: %w", err)
	}
	took, err := probeFile(ctx, f)
	err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	if err != nil {
		return DiskFigures{}, fmt.Errorf("probing disk: %w", err)
	}
	slices.Sort(took)
	rank := func(percent int) time.Duration { return took[(len(took)*percent+99)/100-1] }
	return DiskFigures{Syncs: len(took), P50: rank(50), P99: rank(99), Max: took[len(took)-1]}, nil
}

func probeFile(ctx context.Context, f *os.File) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	page := make([]byte, probeBytes)
	var took []time.Duration
	for i := range int64(probeSyncs) {
		start := time.Now()
		if _, err := f.WriteAt(page, i*probeBytes); err != nil {
			return nil, err
		}
		if err := syncData(f); err != nil {
			return nil, err
		}
		took = append(took, time.Since(start))
		if ctx.Err() != nil {
			break
		}
	}
	return took, nil
}

// FreeSpace returns the bytes that this process may still write on dir's file
// system, and the bytes of the whole.
func FreeSpace(dir string) (free, total uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, 0, fmt.Errorf("asking for free space: %w", &os.PathError{Op: "statfs", Path: dir, Err: err})
	}
	unit := uint64(st.Bsize)
	return st.Bavail * unit, st.Blocks * unit, nil
}
