package store

import (
	"context"
	"errors"
	"time"
)

// DiskFigures is what a Probe measured.
type DiskFigures struct {
	// Syncs is how many times 4 KiB were written and synced.
	Syncs int
	// P50, P99 and Max are the durations of one write with its sync.
	P50, P99, Max time.Duration
}

// Probe measures the disk under dir for at most a second: about 50 times 4 KiB
// written and synced, in a file that it removes.
func Probe(ctx context.Context, dir string) (DiskFigures, error) {
	return DiskFigures{}, errors.ErrUnsupported
}

// FreeSpace returns the bytes that this process may still write on dir's file
// system, and the bytes of the whole.
func FreeSpace(dir string) (free, total uint64, err error) {
	return 0, 0, errors.ErrUnsupported
}
