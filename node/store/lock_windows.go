package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lockedByte is the high half of the place of the byte that is locked: far beyond the
// content, which others may then read.
const lockedByte = 1 << 30

// LockFile takes a lock on an open file, for one alone or for many, which the
// kernel gives free when the process ends. busy: another process has it.
func LockFile(f *os.File, alone bool) (busy bool, err error) {
	how := uint32(windows.LOCKFILE_FAIL_IMMEDIATELY)
	if alone {
		how |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err = windows.LockFileEx(windows.Handle(f.Fd()), how, 0, 1, 0, &windows.Overlapped{OffsetHigh: lockedByte})
	return errors.Is(err, windows.ERROR_LOCK_VIOLATION), err
}

// alive reports whether there is a process of this id.
func alive(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // that of no such process
	}
	_ = windows.CloseHandle(h)
	return true
}
