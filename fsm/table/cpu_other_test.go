//go:build !linux

package table

import "time"

var started = time.Now()

// cpuTime is the clock where a thread's time is not to be had.
func cpuTime() time.Duration { return time.Since(started) }
