package node

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// raftPort is where raft's connections come in and go out: the stream layer
// of the peer port. It outlives one life of raft.
type raftPort interface {
	AcceptRaft() (net.Conn, error)
	DialRaft(ctx context.Context, id, addr string) (net.Conn, error)
}

// stream is raft's StreamLayer for one life of raft. Closing it closes every
// connection it gave out, so that no goroutine of the library outlives it.
type stream struct {
	addr net.Addr
	port raftPort
	in   chan net.Conn

	// ctx ends with Close.
	ctx context.Context
	end context.CancelFunc

	mu    sync.Mutex
	conns map[*streamConn]struct{} // guarded by mu; nil once closed
}

func newStream(port raftPort, advertise string) *stream {
	ctx, end := context.WithCancel(context.Background())
	return &stream{addr: memberAddr(advertise), port: port, in: make(chan net.Conn), ctx: ctx, end: end, conns: map[*streamConn]struct{}{}}
}

// offer hands over an accepted connection, or closes it when the stream ends first.
func (s *stream) offer(c net.Conn) {
	select {
	case s.in <- c:
	case <-s.ctx.Done():
		c.Close()
	}
}

// Accept waits for a connection of a member.
func (s *stream) Accept() (net.Conn, error) {
	select {
	case c := <-s.in:
		return s.own(c)
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Dial reaches the member that address names as "id@host:port".
func (s *stream) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(s.ctx, timeout)
	defer cancel()
	id, addr := splitPeerAddress(address)
	c, err := s.port.DialRaft(ctx, id, addr)
	if err != nil {
		return nil, err
	}
	return s.own(c)
}

// Addr is the advertised address, which raft takes for its own.
func (s *stream) Addr() net.Addr { return s.addr }

// Close closes every connection; Accept and Dial fail from then on.
func (s *stream) Close() error {
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()
	if conns == nil {
		return nil
	}
	s.end()
	for c := range conns {
		c.Conn.Close()
	}
	return nil
}

func (s *stream) own(c net.Conn) (net.Conn, error) {
	k := &streamConn{Conn: c, of: s}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conns == nil {
		c.Close()
		return nil, net.ErrClosed
	}
	s.conns[k] = struct{}{}
	return k, nil
}

// streamConn forgets itself when it is closed.
type streamConn struct {
	net.Conn
	of *stream
}

func (c *streamConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// memberAddr is an advertised host:port, with a name that is not resolved.
type memberAddr string

func (memberAddr) Network() string  { return "tcp" }
func (a memberAddr) String() string { return string(a) }
