package server

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// limitConnections bounds the connections of l: open counts them against total,
// and those of one address are at most perAddress.
func (s *Server) limitConnections(l net.Listener, open *atomic.Int64, total, perAddress int) net.Listener {
	return &listener{Listener: l, srv: s, open: open, total: int64(total), perAddress: perAddress, byHost: map[string]int{}}
}

type listener struct {
	net.Listener
	srv        *Server
	open       *atomic.Int64
	total      int64
	perAddress int

	mu     sync.Mutex
	byHost map[string]int
}

// Accept returns the next connection within the bounds; others are closed at
// once, so that a peer learns of it without a wait.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c.RemoteAddr())
		bound := l.admit(host)
		if bound == "" {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.release(host) })}, nil
		}
		l.srv.refused(host, bound)
		_ = c.Close() // it was never used
	}
}

// admit counts a connection, or names the bound that is in the way.
func (l *listener) admit(host string) (bound string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byHost[host] >= l.perAddress {
		return "connections per address"
	}
	if l.open.Add(1) > l.total {
		l.open.Add(-1)
		return "connections"
	}
	l.byHost[host]++
	return ""
}

func (l *listener) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open.Add(-1)
	if l.byHost[host]--; l.byHost[host] == 0 {
		delete(l.byHost, host)
	}
}

type conn struct {
	net.Conn
	release func()
}

// Close closes the connection and gives its place back.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

// refused counts a connection over a bound, and logs at most one a second.
func (s *Server) refused(host, bound string) {
	n := s.counters.refusedConnections.Add(1)
	now, last := time.Now().UnixNano(), s.counters.loggedRefusal.Load()
	if now-last < int64(time.Second) || !s.counters.loggedRefusal.CompareAndSwap(last, now) {
		return
	}
	s.log.Warn("a connection was closed at once: too many are open", "from", quote(host), "limit", bound, "refused", n)
}

// hostOf gives the address of a peer without its port.
func hostOf(a net.Addr) string {
	if a == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	return host
}
