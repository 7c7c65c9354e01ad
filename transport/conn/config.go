package conn

import (
	"context"
	"net"
	"time"
)

// The defaults of a Config.
const (
	DefaultSilence  = 500 * time.Millisecond
	DefaultInFlight = 1024
	DefaultBatch    = 256 << 10
)

// Config says where a connection goes and what bounds it. Only Addr is
// required; the zero value of everything else is its default.
type Config struct {
	// Addr is the node's API address, host:port.
	Addr string
	// Dialer opens the connection under the stream; nil is TCP. One that is a
	// *tls.Conn has shaken hands and agreed on "http/1.1".
	Dialer func(ctx context.Context, addr string) (net.Conn, error)
	// Open makes a stream of an open connection within ctx. It owns nc from then on,
	// and has closed it if it fails. Nil is package frames, with Authorization.
	Open func(ctx context.Context, nc net.Conn, addr string) (Stream, error)
	// Authorization is the header of that name, which says who the client is;
	// empty: none.
	Authorization string
	// Silence is after how long without a byte from the server, while calls are
	// open, the connection is given up. It should be several times the server's keep-alive.
	Silence time.Duration
	// InFlight is how many calls may be open. A server refuses what is above its own bound.
	InFlight int
	// Batch is how many bytes of calls are taken into one message; a larger call travels alone.
	Batch int
}

func (c Config) withDefaults() Config {
	if c.Dialer == nil {
		c.Dialer = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
	if c.Open == nil {
		c.Open = func(ctx context.Context, nc net.Conn, addr string) (Stream, error) {
			return openFrames(ctx, nc, addr, c.Authorization)
		}
	}
	if c.Silence <= 0 {
		c.Silence = DefaultSilence
	}
	if c.InFlight <= 0 {
		c.InFlight = DefaultInFlight
	}
	if c.Batch <= 0 {
		c.Batch = DefaultBatch
	}
	return c
}
