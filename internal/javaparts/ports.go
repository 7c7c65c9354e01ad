package javaparts

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// freePort gives a port p so that p+d is free for each d of offsets: a server
// that is told p takes them all. It is below those that the system hands out,
// so that no connection of a test takes it meanwhile.
func freePort(tb testing.TB, offsets ...int) int {
	tb.Helper()
	for range 200 {
		p := 16_000 + rand.IntN(16_000)
		if allFree(p, offsets) {
			return p
		}
	}
	tb.Fatal("found no free ports between 16000 and 32000")
	return 0
}

func allFree(p int, offsets []int) bool {
	for _, d := range append([]int{0}, offsets...) {
		l, err := net.Listen("tcp", ":"+strconv.Itoa(p+d))
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
