package main

import (
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// timerSlack is how late, in nanoseconds, a thread of this process may be woken
	// from a sleep. While one waits for the disk, the Go runtime's monitor sleeps 20 µs
	// at a time, and each of its turns costs a timer and a switch: an eighth of what a
	// commit takes of the processors (docs/performance.md). No time that a node keeps
	// is so short that this much matters.
	timerSlack = 200_000
	// usualSlack is what a process has that nobody has told otherwise.
	usualSlack = 50_000
)

// slacken has this program run with timerSlack. The slack is a thread's, and goes to
// those that it starts, so the monitor has it only if the process began with it: the
// program is executed once more, in the same process. Who has set a slack
// (TimerSlackNSec= of systemd) keeps it, and where it can't be done nothing is lost
// but time.
func slacken() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err != nil || slack != usualSlack {
		return
	}
	path, err := os.Executable()
	if err != nil || unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0) != nil {
		return
	}
	_ = syscall.Exec(path, os.Args, os.Environ()) // it returns only if it has failed
}
