package store

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// FreeSpace returns the bytes that this process may still write on dir's file
// system, and the bytes of the whole.
func FreeSpace(dir string) (free, total uint64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err == nil {
		err = windows.GetDiskFreeSpaceEx(name, &free, &total, nil)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("asking for free space: %w", &os.PathError{Op: "GetDiskFreeSpaceEx", Path: dir, Err: err})
	}
	return free, total, nil
}
