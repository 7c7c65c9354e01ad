package server

import (
	"net"
	"sync"
	"time"
)

// limitConnections bounds the connections of l, in total and per address. The
// bound per address is l's own, that on all of them the server's.
func (s *Server) limitConnections(l net.Listener) net.Listener {
	return &listener{Listener: l, srv: s, byHost: map[string]int{}}
}

type listener struct {
	net.Listener
	srv *Server

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
	if l.byHost[host] >= l.srv.limits.PerAddress {
		return "connections per address"
	}
	open := &l.srv.counters.connections
	if open.Add(1) > int64(l.srv.limits.Connections) {
		open.Add(-1)
		return "connections"
	}
	l.byHost[host]++
	return ""
}

func (l *listener) release(host string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.srv.counters.connections.Add(-1)
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
