package memnet

import (
	"context"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	firstEphemeral = 40000
	// backlog is how many connections wait to be accepted; further ones are refused.
	backlog = 128
)

// Host is one machine. Its methods may be called from any goroutine.
type Host struct {
	network *Network
	name    string

	// guarded by network.mu
	listeners map[string]*listener // by port
	next      int                  // the last port that nobody asked for
}

// Name returns the host's name.
func (h *Host) Name() string { return h.name }

// Listen listens at addr, "host:port" or ":port"; port 0 is a free one. The
// host part must be a name of this host, or none.
func (h *Host) Listen(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if host == "0.0.0.0" || host == "" {
		host = "::"
	}
	if host != "::" {
		if owner, err := h.network.resolve(host); err != nil || owner != h.name {
			return nil, h.fail("listen", addr(address), syscall.EADDRNOTAVAIL)
		}
	}
	h.network.mu.Lock()
	defer h.network.mu.Unlock()
	if port == "0" {
		port = h.ephemeralLocked()
	}
	at := addr(net.JoinHostPort(host, port))
	if h.listeners[port] != nil {
		return nil, h.fail("listen", at, syscall.EADDRINUSE)
	}
	l := &listener{host: h, port: port, at: at, queue: make(chan *conn, backlog), closed: make(chan struct{})}
	h.listeners[port] = l
	return l, nil
}

func (h *Host) ephemeralLocked() string {
	h.next++
	return strconv.Itoa(h.next)
}

// Dial connects to addr, "host:port"; the name is resolved at each call. It
// takes the time of the way there and back, and waits while either is cut.
func (h *Host) Dial(ctx context.Context, address string) (net.Conn, error) {
	name, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	to, err := h.network.resolve(name)
	if err != nil {
		return nil, h.fail("dial", addr(address), err)
	}
	if err := h.travel(ctx, to); err != nil {
		return nil, h.fail("dial", addr(address), err)
	}
	c, err := h.connect(h.network.Host(to), addr(address), port)
	if err != nil {
		return nil, h.fail("dial", addr(address), err)
	}
	return c, nil
}

// travel takes the time that a packet needs to a host and back.
func (h *Host) travel(ctx context.Context, to string) error {
	there, back := h.network.link(h.name, to), h.network.link(to, h.name)
	slept := false
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		out, outChanged := there.state()
		in, inChanged := back.state()
		var timer *time.Timer
		var tick <-chan time.Time
		switch delay := out.delay + in.delay; {
		case out.cut || in.cut:
		case slept || delay == 0:
			return nil
		default:
			timer = time.NewTimer(delay)
			tick, outChanged, inChanged = timer.C, nil, nil
		}
		select {
		case <-tick:
			slept = true
		case <-outChanged:
		case <-inChanged:
		case <-ctx.Done():
		}
		if timer != nil {
			timer.Stop()
		}
	}
}

// connect hands the other side of a new connection to the listener there.
func (h *Host) connect(to *Host, remote addr, port string) (net.Conn, error) {
	h.network.mu.Lock()
	l := to.listeners[port]
	local := addr(net.JoinHostPort(h.name, h.ephemeralLocked()))
	h.network.mu.Unlock()
	if l == nil {
		return nil, syscall.ECONNREFUSED
	}
	mine, theirs := newConns(h.network, h, to, local, remote)
	if !l.offer(theirs) {
		mine.Close()
		theirs.Close()
		return nil, syscall.ECONNREFUSED
	}
	return mine, nil
}

// Down closes the host's listeners and all its connections, as the death of
// its processes does: the other sides learn of it when their link allows.
func (h *Host) Down() {
	h.network.mu.Lock()
	var listeners []*listener
	for _, l := range h.listeners {
		listeners = append(listeners, l)
	}
	h.network.mu.Unlock()
	for _, l := range listeners {
		l.Close()
	}
	for _, w := range h.network.wires(func(w *wire) bool { return w.dialler == h.name || w.acceptor == h.name }) {
		w.die(h.name)
	}
}

func (h *Host) fail(op string, at addr, err error) error {
	return &net.OpError{Op: op, Net: "mem", Addr: at, Err: err}
}

// listener accepts connections at one port of a host.
type listener struct {
	host *Host
	port string
	at   addr

	queue  chan *conn
	mu     sync.Mutex // so that nothing is queued once closed is
	closed chan struct{}
}

// offer queues a connection; false refuses it.
func (l *listener) offer(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return false
	default:
	}
	select {
	case l.queue <- c:
		return true
	default:
		return false
	}
}

// Accept waits for the next connection.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
	case c := <-l.queue:
		return c, nil
	}
	return nil, l.host.fail("accept", l.at, net.ErrClosed)
}

// Close frees the port and resets what was not accepted.
func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return l.host.fail("close", l.at, net.ErrClosed)
	default:
	}
	close(l.closed)
	l.host.network.mu.Lock()
	delete(l.host.listeners, l.port)
	l.host.network.mu.Unlock()
	for {
		select {
		case c := <-l.queue:
			c.kill()
		default:
			return nil
		}
	}
}

// Addr returns where it listens.
func (l *listener) Addr() net.Addr { return l.at }
