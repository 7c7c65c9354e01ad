package bareraft

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// ErrAbsent tells that a key has no offset.
var ErrAbsent = errors.New("the key has no offset")

// Client asks the node that leads, over one connection that its callers share.
// A call looks for the leader until its context ends; what it sent to one that
// went away it sends again. All methods may be called from any goroutine.
type Client struct {
	addrs []string
	// dialing is held by the one who looks for the leader.
	dialing chan struct{}

	mu  sync.Mutex
	cur *link // of mu; nil while there is none
}

// New returns a client of the nodes at these addresses. It does no I/O.
func New(addrs []string) *Client {
	return &Client{addrs: addrs, dialing: make(chan struct{}, 1)}
}

// Put stores the pairs of a body made by AppendPair.
func (c *Client) Put(ctx context.Context, body []byte) error {
	_, err := c.call(ctx, opPut, body)
	return err
}

// Get gives the offset of a key, or ErrAbsent.
func (c *Client) Get(ctx context.Context, key string) (uint64, error) {
	return c.call(ctx, opGet, []byte(key))
}

// Leader is the address of the node that leads.
func (c *Client) Leader(ctx context.Context) (string, error) {
	if _, err := c.call(ctx, opLeads, nil); err != nil {
		return "", err
	}
	l, err := c.link(ctx)
	if err != nil {
		return "", err
	}
	return l.addr, nil
}

// Close ends the connection; calls under way fail.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cur != nil {
		c.cur.close()
	}
	return nil
}

func (c *Client) call(ctx context.Context, what op, body []byte) (uint64, error) {
	for {
		l, err := c.link(ctx)
		if err != nil {
			return 0, err
		}
		r, err := l.ask(ctx, what, body)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil || r.status == statusNotLeader || r.status == statusFailed:
			c.drop(l)
		case r.status == statusAbsent:
			return 0, ErrAbsent
		default:
			return r.offset, nil
		}
	}
}

func (c *Client) current() *link {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cur
}

// link gives the connection to the leader, and looks for it if there is none.
func (c *Client) link(ctx context.Context) (*link, error) {
	if l := c.current(); l != nil {
		return l, nil
	}
	select {
	case c.dialing <- struct{}{}:
		defer func() { <-c.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l := c.current() // somebody else may have found it
	for l == nil {
		for _, addr := range c.addrs {
			if l = find(ctx, addr); l != nil {
				break
			}
		}
		if l == nil {
			select {
			case <-time.After(5 * time.Millisecond):
			case <-ctx.Done():
				return nil, fmt.Errorf("no node leads: %w", ctx.Err())
			}
		}
	}
	c.mu.Lock()
	c.cur = l
	c.mu.Unlock()
	return l, nil
}

// find connects to a node if that leads.
func find(ctx context.Context, addr string) *link {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	l, err := dial(ctx, addr)
	if err != nil {
		return nil
	}
	if r, err := l.ask(ctx, opLeads, nil); err != nil || r.status != statusOK {
		l.close()
		return nil
	}
	return l
}

// drop ends a connection that is no use any more.
func (c *Client) drop(l *link) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cur == l {
		c.cur = nil
	}
	l.close()
}

// link is one connection. Two goroutines serve it; close waits for them.
type link struct {
	addr   string
	nc     net.Conn
	frames chan []byte
	done   chan struct{} // closed once nothing comes any more
	all    sync.WaitGroup

	mu      sync.Mutex
	next    uint64                // of mu
	waiting map[uint64]chan reply // of mu
}

func dial(ctx context.Context, addr string) (*link, error) {
	nc, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &link{addr: addr, nc: nc, frames: make(chan []byte, 1024), done: make(chan struct{}), waiting: map[uint64]chan reply{}}
	l.all.Go(func() { writeAll(nc, l.frames, l.done) })
	l.all.Go(l.read)
	return l, nil
}

func (l *link) read() {
	defer close(l.done)
	in := bufio.NewReaderSize(l.nc, 64<<10)
	for {
		r, err := readReply(in)
		if err != nil {
			return
		}
		l.mu.Lock()
		wait := l.waiting[r.id]
		delete(l.waiting, r.id)
		l.mu.Unlock()
		if wait != nil {
			wait <- r
		}
	}
}

var errBroken = errors.New("the connection broke")

func (l *link) ask(ctx context.Context, what op, body []byte) (reply, error) {
	wait := make(chan reply, 1)
	l.mu.Lock()
	l.next++
	id := l.next
	l.waiting[id] = wait
	l.mu.Unlock()
	select {
	case l.frames <- appendRequest(nil, id, what, body):
	case <-l.done:
		return reply{}, errBroken
	case <-ctx.Done():
		return reply{}, l.forget(ctx, id)
	}
	select {
	case r := <-wait:
		return r, nil
	case <-l.done:
		return reply{}, errBroken
	case <-ctx.Done():
		return reply{}, l.forget(ctx, id)
	}
}

// forget drops who waits for an answer.
func (l *link) forget(ctx context.Context, id uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.waiting, id)
	return ctx.Err()
}

func (l *link) close() {
	l.nc.Close() // which ends both
	l.all.Wait()
}
