package server

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
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
	// refusing is how many connections beyond the bounds are open, to be told so.
	refusing atomic.Int64

	mu     sync.Mutex
	byHost map[string]int
}

// Accept returns the next connection within the bounds, or one whose calls are
// refused, so that a peer learns of it without a wait, and why: a connection that
// is only closed would leave it in doubt what became of its call. Those beyond
// either are closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c.RemoteAddr())
		bound := l.admit(host)
		if bound == (limit{}) {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.release(host) })}, nil
		}
		l.srv.refused(host, bound)
		if l.refusing.Add(1) <= maxRefusing {
			return l.refuse(c, bound), nil
		}
		l.refusing.Add(-1)
		_ = c.Close() // it was never used
	}
}

const (
	// maxRefusing is how many connections beyond the bounds are open at once,
	// refuseTime for how long at most.
	maxRefusing = 64
	refuseTime  = time.Second
)

// refuse makes a connection on which each call is told that there are too many.
func (l *listener) refuse(c net.Conn, bound limit) net.Conn {
	late := time.AfterFunc(refuseTime, func() { _ = c.Close() }) // a peer that has closed it is as good
	return &conn{
		Conn: c,
		refusal: offset.Errorf(offset.ErrBusy, "too many %s are open: close some, share one client in a process, ask another node, or raise %s",
			bound.what, bound.option),
		release: sync.OnceFunc(func() { late.Stop(); l.refusing.Add(-1) }),
	}
}

// limit is a bound on connections, and the option that sets it.
type limit struct{ what, option string }

var (
	fromOneAddress = limit{"connections from this address", "--limit-per-address"}
	inTotal        = limit{"connections", "--limit-connections"}
)

// admit counts a connection, or names the bound that is in the way.
func (l *listener) admit(host string) (bound limit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byHost[host] >= l.perAddress {
		return fromOneAddress
	}
	if l.open.Add(1) > l.total {
		l.open.Add(-1)
		return inTotal
	}
	l.byHost[host]++
	return limit{}
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
	// refusal is what each call is answered with; nil: it is served.
	refusal error
	release func()
}

// refusalOf tells why the calls of a connection are refused, nil if they are not.
func refusalOf(c net.Conn) error {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	if c, ok := c.(*conn); ok {
		return c.refusal
	}
	return nil
}

// Close closes the connection and gives its place back.
func (c *conn) Close() error {
	err := c.Conn.Close()
	c.release()
	return err
}

// refused counts a connection over a bound, and logs at most one a second.
func (s *Server) refused(host string, bound limit) {
	n := s.counters.refusedConnections.Add(1)
	now, last := time.Now().UnixNano(), s.counters.loggedRefusal.Load()
	if now-last < int64(time.Second) || !s.counters.loggedRefusal.CompareAndSwap(last, now) {
		return
	}
	s.log.Warn("a connection was refused: too many are open", "from", quote(host), "limit", bound.option, "refused", n)
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
