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

// sendTo sends a call to the node at addr, once, and to no other; with an empty addr
// it is sent until it has an answer, to whichever node serves.
func (c *Client) sendTo(ctx context.Context, addr string, t *trial, send func(ms uint32) error) error {
	if addr == "" {
		return c.retry(ctx, t, send)
	}
	err := send(c.patience(ctx, t.whole))
	if err != nil {
		t.sends = 1
		return c.fail(t, err, ctx.Err())
	}
	return nil
}

// errBrokeOff marks a stream that may not be begun again, since some of it was yielded.
var errBrokeOff = errors.New("the stream broke off")

// outflow is one stream whose parts are yielded to the caller.
type outflow struct {
	// begun: a part was yielded; came is how much came in all.
	begun bool
	came  uint64
	// stopped is the error with which the caller ended it.
	stopped error
}

// stream is sendTo for a call that is answered by a stream. It ends with the error of
// a caller that stops it, as it is, and is not begun again once a part was yielded;
// unit names what outflow.came counts.
func (c *Client) stream(ctx context.Context, addr string, t *trial, unit string, send func(ms uint32, o *outflow) error) error {
	var stopped error
	err := c.sendTo(ctx, addr, t, func(ms uint32) error {
		var o outflow
		err := send(ms, &o)
		switch {
		case o.stopped != nil:
			stopped = o.stopped
			return nil
		case err != nil && o.begun:
			return offset.Errorf(errBrokeOff, "after %d %s: %v", o.came, unit, err)
		}
		return err
	})
	if stopped != nil {
		return stopped
	}
	return err
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
