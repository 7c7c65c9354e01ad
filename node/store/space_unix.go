//go:build !windows

package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

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
