package memnet

import (
	"context"
	"net"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is one with hosts a and b, where b listens at port 1.
func network(t *testing.T) (*Network, net.Listener) {
	t.Helper()
	const seed = 7
	t.Logf("seed %d", seed)
	n := New(seed)
	n.Host("a")
	l, err := n.Host("b").Listen(":1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		l.Close()
		if open := n.Conns(); open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
	return n, l
}

// connect gives both sides of a connection from a to b.
func connect(t *testing.T, n *Network, l net.Listener) (a, b net.Conn) {
	t.Helper()
	a, err := n.Host("a").Dial(context.Background(), "b:1")
	if err != nil {
		t.Fatal(err)
	}
	b, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}
