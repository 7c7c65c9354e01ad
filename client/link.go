package client

import (
	"context"
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

// search is a search for a connection. It continues when those that wait for it give
// up: opening one may take longer than a caller has, and serves the next ones.
type search struct {
	// What follows is set before done is closed.
	done chan struct{}
	cn   *conn.Conn
	err  error
}

// link gives the connection for calls, opening it if need be. There is one search
// at a time; while there is a connection that works, callers that did not begin it
// use that, but not one to a node that cannot serve: that could keep each of them
// for a whole attempt.
// The error is a *conn.Error that says that nothing was sent.
func (c *Client) link(ctx context.Context) (*conn.Conn, error) {
	cn, fit, err := c.usable()
	if fit == right || err != nil {
		return cn, err
	}
	s, first := c.search()
	switch {
	case s == nil:
		return nil, errShut
	case fit == elsewhere && !first:
		return cn, nil
	}
	select {
	case <-s.done:
		return s.cn, s.err
	case <-ctx.Done():
		return nil, &conn.Error{Cause: ctx.Err()}
	case <-c.life.Done():
		return nil, errShut
	}
}

// linkNow is link for what many callers wait for: they use a connection to a node
// that serves, while a better one is opened.
func (c *Client) linkNow(ctx context.Context) (*conn.Conn, error) {
	cn, fit, err := c.usable()
	if fit != elsewhere || err != nil {
		return c.link(ctx)
	}
	c.search()
	return cn, nil
}

// search gives the search under way; if there is none it begins one, in a
// goroutine that Close ends and waits for. nil: the client is closed.
func (c *Client) search() (s *search, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.searching != nil {
		return c.searching, false
	}
	s = &search{done: make(chan struct{})}
	c.searching = s
	c.background.Go(func() {
		s.cn, s.err = c.open()
		c.mu.Lock()
		c.searching = nil
		c.mu.Unlock()
		close(s.done)
	})
	return s, true
}

// open opens a connection to where calls should go or, failing that, to any
// seed. Only a search calls it.
func (c *Client) open() (*conn.Conn, error) {
	cn, fit, err := c.usable() // another search may have opened it meanwhile
	if fit == right || err != nil {
		return cn, err
	}
	if cn == nil {
		if err := c.rest(); err != nil {
			return nil, err
		}
	}
	var last error
	for _, addr := range c.candidates() {
		if cn != nil && (addr == cn.Addr() || fit == leaving && c.failedLately(addr)) {
			continue // that one answers, at least
		}
		next, err := c.dial(addr)
		switch {
		case err == nil:
			return next, c.install(next)
		case c.life.Err() != nil:
			return nil, errShut
		}
		c.unreachable(addr, err)
		if fit == elsewhere {
			break
		}
		last = err
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
func (c *Client) rest() error {
	c.mu.Lock()
	left := c.pause.Sub(c.set.clock.Now())
	c.mu.Unlock()
	return c.sleep(context.Background(), left) // Close ends it
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

// dial opens a connection within the time for dialling, however long its callers wait.
func (c *Client) dial(addr string) (*conn.Conn, error) {
	ctx, cancel := context.WithTimeout(c.life, c.set.dialTime)
	defer cancel()
	header, err := c.set.authorization(ctx, true)
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

// disconnected reports a connection that takes no more calls.
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

// lost notes that cn takes no more calls; only the first note has an effect.
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
