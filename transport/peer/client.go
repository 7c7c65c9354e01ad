package peer

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/api/peer/v1/peerv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// handedOver is the key of the context value that brings a connection, after its
// handshake, into the HTTP library.
type handedOver struct{}

// newTransport makes what turns connections into HTTP/2 clients. It keeps
// none, dials none and sends nothing again.
func newTransport(c Config) *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{
		Protocols:          protocols,
		DisableCompression: true,
		TLSNextProto:       map[string]func(string, *tls.Conn) http.RoundTripper{},
		HTTP2: &http.HTTP2Config{
			SendPingTimeout:  c.KeepAlive,
			PingTimeout:      c.KeepAlive,
			WriteByteTimeout: 2 * c.KeepAlive,
			MaxReadFrameSize: 256 << 10,
		},
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			if c, ok := ctx.Value(handedOver{}).(net.Conn); ok {
				return c, nil
			}
			return nil, errors.New("a call without its connection")
		},
	}
}

// caller is one connection for calls.
type caller struct {
	conn    *conn
	http    *http.ClientConn
	service peerv1connect.PeerServiceClient
}

// newCaller makes a client of a connection; it closes it on failure.
func (p *Peer) newCaller(ctx context.Context, c *conn) (*caller, error) {
	h, err := p.transport.NewClientConn(context.WithValue(ctx, handedOver{}, net.Conn(c)), "http", "peer:80")
	if err != nil {
		c.Close()
		return nil, err
	}
	out := &caller{conn: c, http: h}
	out.service = peerv1connect.NewPeerServiceClient(out, "http://peer",
		connect.WithAcceptCompression("gzip", nil, nil),
		connect.WithReadMaxBytes(maxFrame), connect.WithSendMaxBytes(maxFrame))
	return out, nil
}

// Do sends one request; it is what the Connect client calls.
func (c *caller) Do(r *http.Request) (*http.Response, error) { return c.http.RoundTrip(r) }

func (c *caller) usable() bool { return c.http.Err() == nil }

func (c *caller) close() {
	c.http.Close()
	c.conn.Close()
}

// call makes one call over the connection. sent is false only where it is
// certain that nothing of it left.
func (c *caller) call(ctx context.Context, f func(context.Context, peerv1connect.PeerServiceClient) error) (sent bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { wrote.Store(true) }})
	err = f(ctx, c.service)
	// Where ctx ended the call, it may be writing the headers just now.
	return wrote.Load() || ctx.Err() != nil, err
}

// unanswered makes the error of a call that left and brought no answer that
// could be read.
func unanswered(err error) error {
	if err == nil || offset.CodeOf(err) == offset.CodeOutcomeUnknown {
		return err
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "the answer cannot be read: %v", err)
}

// answeredError is what the other side answered, as opposed to what went wrong on
// the way.
type answeredError struct{ error }

// answered marks an error that came as an answer; nil stays nil.
func answered(err error) error {
	if err == nil {
		return nil
	}
	return answeredError{err}
}

// fromCall reads what a call that was sent failed with.
func fromCall(err error) error {
	if a, ok := err.(answeredError); ok {
		return a.error
	}
	return wire.FromConnectError(err)
}
