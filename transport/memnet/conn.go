package memnet

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// conn is one side of a connection.
type conn struct {
	network       *Network
	wire          *wire
	in, out       *pipe
	local, remote addr

	closing sync.Once
	closed  chan struct{}
	open    *atomic.Int32 // sides that are not closed, shared by both
	readBy  *deadline
	writeBy *deadline
	// writeTok has a token while nobody writes, so that no write is torn. It is not a
	// mutex: a goroutine that waits for it must not keep a bubble of synctest from
	// advancing its time.
	writeTok chan struct{}
}

// addr is an address, "host:port".
type addr string

func (addr) Network() string  { return "mem" }
func (a addr) String() string { return string(a) }

// newConns makes both sides of a connection.
func newConns(n *Network, from, to *Host, local, remote addr) (dialler, acceptor *conn) {
	there, back := n.link(from.name, to.name), n.link(to.name, from.name)
	w := &wire{
		dialler: from.name, acceptor: to.name,
		toAcceptor: newPipe(there, back), toDialler: newPipe(back, there),
	}
	open := new(atomic.Int32)
	open.Store(2)
	side := func(in, out *pipe, local, remote addr) *conn {
		c := &conn{
			writeTok: make(chan struct{}, 1), network: n, wire: w, in: in, out: out, local: local, remote: remote,
			closed: make(chan struct{}), open: open, readBy: newDeadline(), writeBy: newDeadline(),
		}
		c.writeTok <- struct{}{}
		return c
	}
	dialler = side(w.toDialler, w.toAcceptor, local, remote)
	acceptor = side(w.toAcceptor, w.toDialler, remote, local)
	w.sides = [2]*conn{dialler, acceptor}
	n.mu.Lock()
	n.conns[w] = struct{}{}
	n.mu.Unlock()
	return dialler, acceptor
}

// Read takes what has arrived, waiting for at least one byte.
func (c *conn) Read(b []byte) (int, error) {
	for {
		if err := c.stopped(c.readBy); err != nil {
			return 0, c.fail("read", err)
		}
		n, due, wakes, err := c.in.read(b)
		if err == io.EOF {
			return 0, io.EOF
		}
		if err != nil {
			return 0, c.fail("read", err)
		}
		if n > 0 || len(b) == 0 {
			return n, nil
		}
		c.sleep(c.readBy, due, wakes)
	}
}

// Write sends all of b, waiting for room.
func (c *conn) Write(b []byte) (sent int, err error) {
	<-c.writeTok
	defer func() { c.writeTok <- struct{}{} }()
	if len(b) > 0 && c.out.out.roll() {
		c.wire.reset()
	}
	for {
		if err := c.stopped(c.writeBy); err != nil {
			return sent, c.fail("write", err)
		}
		if sent == len(b) {
			return sent, nil
		}
		n, wake, err := c.out.write(b[sent:])
		if err != nil {
			return sent, c.fail("write", err)
		}
		if sent += n; n == 0 {
			// That the peer has closed beyond a cut link shows once the link heals.
			_, healed := c.out.back.state()
			c.sleep(c.writeBy, time.Time{}, [2]<-chan struct{}{wake, healed})
		}
	}
}

// stopped says why a call ends before it has begun.
func (c *conn) stopped(d *deadline) error {
	select {
	case <-c.closed:
		return net.ErrClosed
	case <-d.wait():
		return os.ErrDeadlineExceeded
	default:
		return nil
	}
}

// sleep waits until something may have changed.
func (c *conn) sleep(d *deadline, due time.Time, wakes [2]<-chan struct{}) {
	var timer <-chan time.Time
	if !due.IsZero() {
		t := time.NewTimer(time.Until(due))
		defer t.Stop()
		timer = t.C
	}
	select {
	case <-wakes[0]:
	case <-wakes[1]:
	case <-timer:
	case <-d.wait():
	case <-c.closed:
	}
}

func (c *conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "mem", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends this side; the other reads what is under way, and then io.EOF.
func (c *conn) Close() error { return c.shut(io.EOF) }

// shut closes this side, with what the other is to read after the bytes.
func (c *conn) shut(end error) error {
	err := c.fail("close", net.ErrClosed)
	c.closing.Do(func() {
		err = nil
		close(c.closed)
		c.out.finish(end)
		c.in.abandon()
		c.readBy.stop()
		c.writeBy.stop()
		if c.open.Add(-1) == 0 {
			c.network.forget(c.wire)
		}
	})
	return err
}

// kill closes this side as the death of its process does.
func (c *conn) kill() { c.shut(syscall.ECONNRESET) }

// LocalAddr returns this side's address.
func (c *conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the other side's address.
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines.
func (c *conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline bounds Read, also one that waits already.
func (c *conn) SetReadDeadline(t time.Time) error { return c.setDeadline(c.readBy, t) }

// SetWriteDeadline bounds Write, also one that waits already.
func (c *conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(c.writeBy, t) }

func (c *conn) setDeadline(d *deadline, t time.Time) error {
	select {
	case <-c.closed:
		return c.fail("set", net.ErrClosed)
	default:
	}
	d.set(t)
	return nil
}
