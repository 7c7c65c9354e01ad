package client

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/conn"
)

// errShut is what a call gets from a Client that was closed.
var (
	errShut      error = &conn.Error{Cause: errShutCause}
	errShutCause       = offset.Errorf(offset.ErrClosed, "this client was closed")
)

// fitness is how well the connection that there is serves calls.
type fitness uint8

const (
	// absent: there is none.
	absent fitness = iota
	// leaving: the node there cannot serve; another has to be found first.
	leaving
	// elsewhere: it serves, though calls should go to another node.
	elsewhere
	// right: it is where calls should go.
	right
)

// usable gives the connection for calls, and how well it serves them. It is
// nil if there is none.
func (c *Client) usable() (cn *conn.Conn, fit fitness, err error) {
	c.mu.Lock()
	closed, cn, want, left := c.closed, c.cur, c.want, c.leaving
	c.mu.Unlock()
	switch {
	case closed:
		return nil, absent, errShut
	case cn == nil:
		return nil, absent, nil
	}
	if err := cn.Err(); err != nil {
		c.lost(cn, err)
		return nil, absent, nil
	}
	switch {
	case cn.Addr() == want:
		return cn, right, nil
	case left:
		return cn, leaving, nil
	}
	return cn, elsewhere, nil
}

// link gives the connection for calls, opening it if need be. One caller opens
// at a time; while there is a connection that works, the others go on with it,
// but not with one to a node that cannot serve: that could keep each of them
// for a whole attempt.
// The error is a *conn.Error that says that nothing was sent.
func (c *Client) link(ctx context.Context) (*conn.Conn, error) {
	cn, fit, err := c.usable()
	if fit == right || err != nil {
		return cn, err
	}
	if fit == elsewhere {
		select {
		case c.dialing <- struct{}{}:
		default:
			return cn, nil
		}
	} else {
		select {
		case c.dialing <- struct{}{}:
		case <-ctx.Done():
			return nil, &conn.Error{Cause: ctx.Err()}
		case <-c.life.Done():
			return nil, errShut
		}
	}
	defer func() { <-c.dialing }()
	return c.open(ctx)
}

// linkNow is link for what many callers wait for: they go on with a connection to a
// node that serves, while a better one is opened in a goroutine of its own.
func (c *Client) linkNow(ctx context.Context) (*conn.Conn, error) {
	cn, fit, err := c.usable()
	if fit != elsewhere || err != nil {
		return c.link(ctx)
	}
	select {
	case c.dialing <- struct{}{}:
		if !c.beginShared() {
			<-c.dialing
			return nil, errShut
		}
		go func() {
			defer c.sharing.Done()
			defer func() { <-c.dialing }()
			_, _ = c.open(c.life) // what fails is noted there
		}()
	default:
	}
	return cn, nil
}

// open opens a connection to where calls should go or, failing that, to any
// seed. It is called with dialing held.
func (c *Client) open(ctx context.Context) (*conn.Conn, error) {
	cn, fit, err := c.usable() // another may have opened it meanwhile
	if fit == right || err != nil {
		return cn, err
	}
	if cn == nil {
		if err := c.rest(ctx); err != nil {
			return nil, err
		}
	}
	var last error
	for _, addr := range c.candidates() {
		if cn != nil && (addr == cn.Addr() || fit == leaving && c.failedLately(addr)) {
			continue // that one answers, at least
		}
		next, err := c.dial(ctx, addr)
		if err == nil {
			return next, c.install(next)
		}
		c.unreachable(addr, err)
		if fit == elsewhere {
			break
		}
		if last = err; ctx.Err() != nil {
			return nil, &conn.Error{Cause: fmt.Errorf("%w: %w", ctx.Err(), err)}
		}
	}
	if cn != nil { // it still works, though it is not the leader's
		c.stay(cn)
		return cn, nil
	}
	c.mu.Lock()
	c.rounds++
	c.pause = c.set.clock.Now().Add(c.set.backoff(c.rounds))
	c.mu.Unlock()
	return nil, last
}

// rest waits until the next search for a node may begin.
func (c *Client) rest(ctx context.Context) error {
	c.mu.Lock()
	left := c.pause.Sub(c.set.clock.Now())
	c.mu.Unlock()
	return c.sleep(ctx, left)
}

// sleep waits for d. The error says that nothing was sent.
func (c *Client) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-c.set.clock.After(d):
		return nil
	case <-ctx.Done():
		return &conn.Error{Cause: ctx.Err()}
	case <-c.life.Done():
		return errShut
	}
}

func (c *Client) dial(ctx context.Context, addr string) (*conn.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.set.dialTime)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	header, err := c.set.authorization(true)
	if err != nil {
		return nil, &conn.Error{Cause: err}
	}
	c.show(header)
	return conn.Dial(ctx, conn.Config{
		Addr:          addr,
		Dialer:        func(ctx context.Context, addr string) (net.Conn, error) { return c.set.connect(ctx, addr, forStream) },
		Authorization: header,
		Silence:       c.set.silence,
		InFlight:      c.set.inFlight,
	})
}

// install makes cn the connection that calls go to. The one before answers
// what it was sent, and ends.
func (c *Client) install(cn *conn.Conn) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		_ = cn.Close()
		return errShut
	}
	before := c.cur
	c.cur, c.want, c.leaving = cn, cn.Addr(), false
	c.rounds, c.pause = 0, time.Time{}
	delete(c.shunned, cn.Addr())
	_, again := c.unreached[cn.Addr()]
	delete(c.unreached, cn.Addr())
	ended := c.putAwayLocked(before)
	c.mu.Unlock()
	if again {
		c.set.logger.Info("a node is reached again", "addr", cn.Addr())
	}
	if before != nil {
		before.Retire()
		c.disconnected(before)
	}
	for _, e := range ended {
		_ = e.Close()
	}
	if m := c.set.metrics; m != nil {
		m.Connection(true)
	}
	if h := c.set.hooks.Connected; h != nil {
		h(cn.Addr())
	}
	return nil
}

// disconnected tells of a connection that takes no more calls.
func (c *Client) disconnected(cn *conn.Conn) {
	if m := c.set.metrics; m != nil {
		m.Connection(false)
	}
	if h := c.set.hooks.Disconnected; h != nil {
		h(cn.Addr(), cn.Err())
	}
}

// stay makes the connection that works the one that calls should go to.
func (c *Client) stay(cn *conn.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cur == cn {
		c.want, c.leaving = cn.Addr(), false
	}
}

// putAwayLocked keeps a connection that takes no more calls until it has
// ended, and gives those that have.
func (c *Client) putAwayLocked(cn *conn.Conn) (ended []*conn.Conn) {
	if cn != nil {
		c.old = append(c.old, cn)
	}
	kept := c.old[:0]
	for _, o := range c.old {
		select {
		case <-o.Ended():
			ended = append(ended, o)
		default:
			kept = append(kept, o)
		}
	}
	clear(c.old[len(kept):])
	c.old = kept
	return ended
}

// lost notes that cn takes no more calls; only the first who notes it has an effect.
func (c *Client) lost(cn *conn.Conn, cause error) {
	c.mu.Lock()
	first := c.cur == cn
	if first {
		c.cur, c.leaving = nil, false
		c.old = append(c.old, cn)
	}
	c.mu.Unlock()
	if !first {
		return
	}
	c.leave(cn.Addr(), true)
	c.set.logger.Info("a connection takes no more calls", "addr", cn.Addr(), "cause", cause)
	c.disconnected(cn)
}
