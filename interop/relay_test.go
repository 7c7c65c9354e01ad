package interop

import (
	"io"
	"net"
	"sync"
	"testing"
)

// relay hands on what comes at one address to another, until it is cut.
type relay struct {
	listener net.Listener
	to       string
	all      sync.WaitGroup

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

// relayAt listens at an address, for the length of the test.
func relayAt(tb testing.TB, address, to string) *relay {
	tb.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	r := &relay{listener: l, to: to}
	r.all.Go(r.accept)
	tb.Cleanup(func() {
		_ = l.Close()
		r.Cut()
		r.all.Wait()
	})
	return r
}

// Cut ends all connections; new ones are closed at once.
func (r *relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	for _, c := range r.open {
		_ = c.Close()
	}
	r.open = nil
}

// Heal lets connections through again.
func (r *relay) Heal() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = false
}

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil || !r.admit(near, far) {
			_ = near.Close()
			if err == nil {
				_ = far.Close()
			}
			continue
		}
		r.all.Go(func() { pipe(near, far) })
		r.all.Go(func() { pipe(far, near) })
	}
}

// admit takes the two ends of a connection in, unless the relay is cut.
func (r *relay) admit(near, far net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.cut {
		r.open = append(r.open, near, far)
	}
	return !r.cut
}

// pipe hands on one direction, and ends both with it.
func pipe(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}
