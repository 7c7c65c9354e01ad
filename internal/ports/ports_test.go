package ports

import (
	"net"
	"strconv"
	"testing"
)

// TestHeldPortsAreNotGivenTwice, though nobody listens on them, until the test
// that holds them has ended; and never those where somebody listens.
func TestHeldPortsAreNotGivenTwice(t *testing.T) {
	p := Free(t, -2, 1)
	for _, d := range []int{-2, 0, 1} {
		if hold(t, p+d, []int{0}) {
			t.Errorf("port %d is given twice", p+d)
		}
	}
	var inner int
	t.Run("a test that ends", func(t *testing.T) { inner = Free(t) })
	if !hold(t, inner, []int{0}) {
		t.Errorf("port %d is still held behind its test", inner)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if n, _ := strconv.Atoi(port); hold(t, n, []int{0}) {
		t.Errorf("port %s is given, where somebody listens", port)
	}
}
