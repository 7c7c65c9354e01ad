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
	return &listener{Listener: l, srv: s, places: newPlaces(open, total, perAddress)}
}

type listener struct {
	net.Listener
	srv    *Server
	places *places
	// refusing is how many connections beyond the bounds are open, for their calls to
	// be refused.
	refusing atomic.Int64
}

// Accept returns the next connection within the bounds, or one whose calls are
// refused, so that a peer learns at once that it is refused, and why: one whose
// connection is only closed could not tell what became of its call. Those beyond
// that bound too are closed at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		host := hostOf(c.RemoteAddr())
		bound := l.places.admit(host)
		if bound == (limit{}) {
			return &conn{Conn: c, release: sync.OnceFunc(func() { l.places.release(host) })}, nil
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

// refuse makes a connection each call of which is refused, since there are too many.
func (l *listener) refuse(c net.Conn, bound limit) net.Conn {
	late := time.AfterFunc(refuseTime, func() { _ = c.Close() }) // a peer that has closed it is as good
	return &conn{
		Conn:    c,
		refusal: bound.refusal("connections"),
		release: sync.OnceFunc(func() { late.Stop(); l.refusing.Add(-1) }),
	}
}

// places bounds how many of something are open at once, in total and from one
// address.
type places struct {
	open       *atomic.Int64
	total      int64
	perAddress int

	mu     sync.Mutex
	byHost map[string]int
}

func newPlaces(open *atomic.Int64, total, perAddress int) *places {
	return &places{open: open, total: int64(total), perAddress: perAddress, byHost: map[string]int{}}
}

// limit is one of the two bounds, and the option that sets it.
type limit struct{ from, option string }

var (
	fromOneAddress = limit{" from this address", "--limit-per-address"}
	inTotal        = limit{"", "--limit-connections"}
)

// refusal is the answer to one too many.
func (l limit) refusal(what string) error {
	return offset.Errorf(offset.ErrBusy, "too many %s%s are open: close some, share one client in a process, ask another node, or raise %s", what, l.from, l.option)
}

// admit counts one more, or names the bound that is in the way.
func (p *places) admit(host string) (bound limit) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.byHost[host] >= p.perAddress {
		return fromOneAddress
	}
	if p.open.Add(1) > p.total {
		p.open.Add(-1)
		return inTotal
	}
	p.byHost[host]++
	return limit{}
}

func (p *places) release(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open.Add(-1)
	if p.byHost[host]--; p.byHost[host] == 0 {
		delete(p.byHost, host)
	}
}

type conn struct {
	net.Conn
	// refusal is what each call is answered with; nil: calls are served.
	refusal error
	release func()
}

// refusalOf gives the reason that the calls of a connection are refused for, or nil.
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
	return withoutPort(a.String())
}

func withoutPort(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
