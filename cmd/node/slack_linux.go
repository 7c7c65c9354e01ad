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
	// slackened in the environment says that the program was executed once more. It is
	// none of TIDEMARK_, of which each unknown one is warned about.
	slackened = "_TIDEMARKD_SLACKENED"
)

// slacken has this program run with timerSlack. The slack is a thread's, and goes to
// those that it starts, so the monitor has it only if the process began with it: the
// program is executed once more, in the same process, and never twice. Who has set
// another slack than the usual one (TimerSlackNSec= of systemd) keeps it; the usual one,
// set on purpose, can't be told from none. Where it can't be done nothing is lost but
// time.
func slacken() {
	if _, again := os.LookupEnv(slackened); again {
		_ = os.Unsetenv(slackened) // it fails for no name like this
		return
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	path, err := os.Executable()
	if err != nil || slackIs() != usualSlack || unix.Prctl(unix.PR_SET_TIMERSLACK, timerSlack, 0, 0, 0) != nil || slackIs() != timerSlack {
		return
	}
	_ = syscall.Exec(path, os.Args, append(os.Environ(), slackened+"=1")) // it returns only if it has failed
}

// slackIs is the timer slack of this thread, negative if that is not known.
func slackIs() int {
	slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return -1
	}
	return slack
}
