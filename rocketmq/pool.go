package rocketmq

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Bounds of a Client.
const (
	// MaxCalls is how many calls of one client go on at once; further ones wait.
	MaxCalls = 16
	// DefaultTimeout is how long a peer may take for a connection, and for the
	// first byte of an answer.
	DefaultTimeout = 10 * time.Second
)

// dialFunc makes a connection.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// pool makes calls, each on a connection that no other call uses meanwhile,
// and keeps connections for the next.
type pool struct {
	dial    dialFunc
	timeout time.Duration
	slots   chan struct{} // one for each call under way

	mu     sync.Mutex
	closed bool
	idle   map[string][]*conn
	// kept counts the connections in idle; at most MaxCalls.
	kept int
	busy map[*conn]struct{}
}

func newPool(dial dialFunc, timeout time.Duration) *pool {
	return &pool{dial: dial, timeout: timeout, slots: make(chan struct{}, MaxCalls), idle: map[string][]*conn{}, busy: map[*conn]struct{}{}}
}

// call asks the peer at addr. A connection that was kept may have been closed
// by the peer since; the call is then made again on a new one, as all that is
// asked here may be asked twice.
func (p *pool) call(ctx context.Context, addr string, r request) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("asking %s for %s: %w", addr, r.what, err)
		}
	}()
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if c := p.take(addr); c != nil {
		err := p.use(ctx, addr, c, r)
		if err == nil || !c.unusable || c.in.got > 0 || ctx.Err() != nil {
			return err
		}
	}
	c, err := p.connect(ctx, addr)
	if err != nil {
		return err
	}
	return p.use(ctx, addr, c, r)
}

// use makes the call on a connection that take or connect gave.
func (p *pool) use(ctx context.Context, addr string, c *conn, r request) error {
	err := c.call(ctx, r)
	if p.giveBack(addr, c) && err != nil {
		return offset.Errorf(offset.ErrClosed, "the client was closed meanwhile")
	}
	return err
}

// connect makes a new connection.
func (p *pool) connect(ctx context.Context, addr string) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	nc, err := p.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", offset.ErrUnreachable, err)
	}
	c := newConn(nc, p.timeout)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		nc.Close()
		return nil, offset.Errorf(offset.ErrClosed, "the client is closed")
	}
	p.busy[c] = struct{}{}
	return c, nil
}

// take gives a connection that was kept, nil for none.
func (p *pool) take(addr string) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[addr]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	p.idle[addr] = list[:len(list)-1]
	p.kept--
	p.busy[c] = struct{}{}
	return c
}

// giveBack keeps a connection or closes it, and tells whether the pool is closed.
func (p *pool) giveBack(addr string, c *conn) (closed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.busy, c)
	if p.closed || c.unusable || p.kept == MaxCalls {
		c.nc.Close()
		return p.closed
	}
	p.idle[addr] = append(p.idle[addr], c)
	p.kept++
	return false
}

// close closes all connections; calls under way fail.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, list := range p.idle {
		for _, c := range list {
			c.nc.Close()
		}
	}
	for c := range p.busy {
		c.nc.Close()
	}
	p.idle, p.kept = nil, 0
}
