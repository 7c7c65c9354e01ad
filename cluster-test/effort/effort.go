// Package effort tells tests how much to do: seconds' worth in every run, and
// the durations and counts of the reported faults when SOAK is set.
package effort

import "os"

// Soak tells whether this run takes its time.
func Soak() bool { return os.Getenv("SOAK") != "" }

// Of is short, or long when this run takes its time.
func Of[T any](short, long T) T {
	if Soak() {
		return long
	}
	return short
}

// Scenarios tells whether this run does what takes minutes, at the least in its
// short form: with SOAK, or SCENARIOS (make test-scenarios). The tests of every
// change leave it out.
func Scenarios() bool { return Soak() || os.Getenv("SCENARIOS") != "" }
