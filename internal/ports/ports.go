// Package ports finds TCP ports for servers that a test starts as processes,
// which have to be told theirs. A port is held for the test from when it is
// found: other tests, of this process and of others on this machine, do not
// get it before the test has ended, although nobody may listen there yet.
package ports

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports are given from first on, below those that the system hands out by
// itself, so that no connection of a test takes one meanwhile.
const (
	first = 12_000
	last  = 32_000
)

// Free gives a port p, a multiple of ten, such that p and p+d for each d of
// offsets are free on every address of this machine.
func Free(tb testing.TB, offsets ...int) int {
	tb.Helper()
	for range 1_000 {
		p := first + 10*rand.IntN((last-first)/10)
		if hold(tb, p, append([]int{0}, offsets...)) {
			return p
		}
	}
	tb.Fatalf("found no free ports between %d and %d", first, last)
	return 0
}

// hold reserves all or none.
func hold(tb testing.TB, p int, offsets []int) bool {
	var held []func()
	for _, d := range offsets {
		release, ok := reserve(p + d)
		if ok {
			held = append(held, release)
		}
		if !ok || !free(p+d) {
			for _, release := range held {
				release()
			}
			return false
		}
	}
	for _, release := range held {
		tb.Cleanup(release)
	}
	return true
}

func free(port int) bool {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return false
	}
	return l.Close() == nil
}
