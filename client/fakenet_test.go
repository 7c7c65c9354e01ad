package client

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// fakeNet is a network in memory: a listener for each address that is up.
type fakeNet struct {
	mu    sync.Mutex
	up    map[string]*fakeListener
	dials []string
}

func newFakeNet() *fakeNet { return &fakeNet{up: make(map[string]*fakeListener)} }

type fakeListener struct {
	net    *fakeNet
	addr   string
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

type fakeAddr string

func (fakeAddr) Network() string  { return "fake" }
func (a fakeAddr) String() string { return string(a) }

// listen makes addr reachable until the listener is closed.
func (n *fakeNet) listen(addr string) *fakeListener {
	l := &fakeListener{net: n, addr: addr, accept: make(chan net.Conn), closed: make(chan struct{})}
	n.mu.Lock()
	n.up[addr] = l
	n.mu.Unlock()
	return l
}

func (l *fakeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *fakeListener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.net.mu.Lock()
		if l.net.up[l.addr] == l {
			delete(l.net.up, l.addr)
		}
		l.net.mu.Unlock()
	})
	return nil
}

func (l *fakeListener) Addr() net.Addr { return fakeAddr(l.addr) }

var errRefused = errors.New("connection refused")

// dial is a Dialer. An address that begins with "void" never answers.
func (n *fakeNet) dial(ctx context.Context, addr string) (net.Conn, error) {
	n.mu.Lock()
	l := n.up[addr]
	n.dials = append(n.dials, addr)
	n.mu.Unlock()
	if strings.HasPrefix(addr, "void") {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if l == nil {
		return nil, &net.OpError{Op: "dial", Net: "fake", Addr: fakeAddr(addr), Err: errRefused}
	}
	a, b := net.Pipe()
	select {
	case l.accept <- namedConn{b, addr}:
		return namedConn{a, addr}, nil
	case <-l.closed:
		return nil, &net.OpError{Op: "dial", Net: "fake", Addr: fakeAddr(addr), Err: errRefused}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *fakeNet) dialled() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string(nil), n.dials...)
}

// namedConn gives a pipe the address it was dialled by.
type namedConn struct {
	net.Conn
	addr string
}

func (c namedConn) RemoteAddr() net.Addr          { return fakeAddr(c.addr) }
func (c namedConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(t) }
