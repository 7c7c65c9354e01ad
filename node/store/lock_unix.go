//go:build !windows

package store

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// LockFile takes a lock on an open file, for one alone or for many, which the
// kernel gives free when the process ends. busy: another process has it.
func LockFile(f *os.File, alone bool) (busy bool, err error) {
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	return errors.Is(err, unix.EWOULDBLOCK), err
}

// alive reports whether there is a process of this id.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
