package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync/atomic"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
)

// Stream carries messages both ways. Send is called from one goroutine, Recv
// from another; Close from any, also while both run, and more than once.
type Stream interface {
	// Send returns once the message is handed over; it may block while the
	// other side does not read. The message is not used after it has returned.
	Send(*tidemarkv1.StreamRequest) error
	// Recv waits for the next message; the caller owns it.
	Recv() (*tidemarkv1.StreamResponse, error)
	// Close ends the stream at once; Send and Recv return with an error.
	Close() error
}

// connectStream is OffsetService.Stream of Connect, alone on its connection.
type connectStream struct {
	stream    *connect.BidiStreamForClient[tidemarkv1.StreamRequest, tidemarkv1.StreamResponse]
	cancel    context.CancelFunc
	nc        net.Conn
	transport *http.Transport
}

// openConnect makes nc an HTTP/2 connection that carries one stream.
func openConnect(nc net.Conn, addr, authorization string) Stream {
	t := &http.Transport{
		Protocols:          new(http.Protocols),
		DialContext:        once(nc),
		DialTLSContext:     once(nc),
		DisableCompression: true,
	}
	_, secure := nc.(*tls.Conn)
	t.Protocols.SetHTTP2(secure)
	t.Protocols.SetUnencryptedHTTP2(!secure)
	scheme := "http://"
	if secure {
		scheme = "https://"
	}
	c := tidemarkv1connect.NewOffsetServiceClient(&http.Client{Transport: t}, scheme+addr,
		connect.WithAcceptCompression("gzip", nil, nil),
		connect.WithReadMaxBytes(maxResponse))
	ctx, cancel := context.WithCancel(context.Background())
	s := &connectStream{stream: c.Stream(ctx), cancel: cancel, nc: nc, transport: t}
	if authorization != "" {
		s.stream.RequestHeader().Set("Authorization", authorization)
	}
	return s
}

// maxResponse bounds one message from the server, in bytes: the largest answer
// repeats the keys of a request with their states, and several travel together.
const maxResponse = 8 * offset.MaxMessage

// once hands out nc to the first who dials.
func once(nc net.Conn) func(context.Context, string, string) (net.Conn, error) {
	var taken atomic.Bool
	return func(context.Context, string, string) (net.Conn, error) {
		if taken.Swap(true) {
			return nil, errors.New("the connection broke")
		}
		return nc, nil
	}
}

func (s *connectStream) Send(m *tidemarkv1.StreamRequest) error { return s.stream.Send(m) }

func (s *connectStream) Recv() (*tidemarkv1.StreamResponse, error) { return s.stream.Receive() }

func (s *connectStream) Close() error {
	s.cancel()
	s.transport.CloseIdleConnections()
	return s.nc.Close()
}
