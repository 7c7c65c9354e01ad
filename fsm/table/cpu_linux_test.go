package table

import (
	"syscall"
	"time"
)

// cpuTime is what the calling thread has used so far: on a machine that others
// use too it says more of the code than the clock. The caller has locked its thread.
func cpuTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var u syscall.Rusage
	if err := syscall.Getrusage(thread, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
