package client

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// newHTTP makes the transport of the unary calls: HTTP/2 over the Client's
// connections.
func newHTTP(set settings) *http.Client {
	dial := func(ctx context.Context, _, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, set.dialTime)
		defer cancel()
		nc, err := set.connect(ctx, addr, forUnary)
		if err != nil {
			return nil, &dialError{err}
		}
		return nc, nil
	}
	t := &http.Transport{
		Protocols:          new(http.Protocols),
		DisableCompression: true,
		IdleConnTimeout:    time.Minute,
		DialContext:        dial,
		DialTLSContext:     dial,
	}
	t.Protocols.SetHTTP2(set.tls != nil)
	t.Protocols.SetUnencryptedHTTP2(set.tls == nil)
	// A connection that has died without a word is found out, and not used again.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: unaryQuiet, PingTimeout: unaryPing}
	return &http.Client{Transport: t}
}

// unaryQuiet is after how long without a frame the other side of a connection is
// asked for a sign of life, unaryPing how long that is awaited: longer than a
// busy machine takes, since a call that must not be sent twice ends with it.
const (
	unaryQuiet = time.Second
	unaryPing  = 5 * time.Second
)

// callOptions are those of every unary call.
func callOptions() []connect.ClientOption {
	return []connect.ClientOption{
		connect.WithAcceptCompression("gzip", nil, nil),
		connect.WithReadMaxBytes(32 * offset.MaxMessage),
	}
}

// to says which node a unary call goes to: one by its address, or whichever serves.
func (c *Client) to(addr string) string {
	if addr != "" {
		return addr
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.want
}

// begin counts a unary call under way; the context ends with the Client, too.
// The error wraps offset.ErrClosed.
func (c *Client) begin(ctx context.Context) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, errShut
	}
	c.unary.Add(1)
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.life, cancel)
	return ctx, func() {
		stop()
		cancel()
		c.unary.Done()
	}, nil
}

// unaryGrace is how long a node's own word on a call is awaited beyond the
// time it was given.
const unaryGrace = 500 * time.Millisecond

// once sends a unary call to addr once, and reads its error.
func once[Q, A any](ctx context.Context, c *Client, addr string, ms uint32, send func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), q *Q) (*A, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if ms > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond+unaryGrace)
		defer cancel()
	}
	a, err := send(ctx, connect.NewRequest(q))
	if err != nil {
		return nil, c.unaryError(addr, err)
	}
	return a.Msg, nil
}

// unaryError reads what a unary call to addr failed with, and takes what it
// says of where to go.
func (c *Client) unaryError(addr string, err error) error {
	if d := (*dialError)(nil); errors.As(err, &d) {
		c.leave(addr, true)
		return d
	}
	err = wire.FromConnectError(err)
	c.learnFrom(addr, err)
	return err
}
