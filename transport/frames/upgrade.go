package frames

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Protocol is the name of this protocol in the header Upgrade.
const Protocol = "tidemark-stream"

// Path is where a server is asked for it.
const Path = tidemarkv1connect.OffsetServiceStreamProcedure

// Client is the end of a stream that sends calls. One goroutine sends, one
// receives; the rest may be called from any.
type Client struct{ framed }

// Open asks the server at the other end of nc, addr, for a stream, within ctx.
// The stream owns nc; after an error nc is closed, and nothing was sent.
// limit bounds a message that is taken, in bytes.
func Open(ctx context.Context, nc net.Conn, addr, authorization string, limit int) (*Client, error) {
	stop := context.AfterFunc(ctx, func() { _ = nc.SetDeadline(longAgo) })
	r, err := ask(ctx, nc, addr, authorization)
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = nc.Close() // it is of no use
		return nil, err
	}
	return &Client{framed{nc: nc, r: r, limit: limit}}, nil
}

func ask(ctx context.Context, nc net.Conn, addr, authorization string) (*bufio.Reader, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+Path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", Protocol)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if err := req.Write(nc); err != nil {
		return nil, fmt.Errorf("asking for a stream: %w", err)
	}
	r := bufio.NewReaderSize(nc, buffer)
	resp, err := http.ReadResponse(r, req)
	if err != nil {
		return nil, fmt.Errorf("asking for a stream: %w", err)
	}
	if resp.StatusCode != http.StatusSwitchingProtocols || !strings.EqualFold(resp.Header.Get("Upgrade"), Protocol) {
		return nil, fmt.Errorf("the other side gives no stream (HTTP status %s): is this the API of a node, or a proxy that lets no upgrade through?", resp.Status)
	}
	return r, nil
}

// Send sends a message; it may block while the other side does not read.
func (c *Client) Send(m *tidemarkv1.StreamRequest) error { return c.send(0, m) }

// Recv waits for the next message, which the caller owns. The error is io.EOF
// after a regular end, or what the server ended with; all else says that the
// connection broke.
func (c *Client) Recv() (*tidemarkv1.StreamResponse, error) {
	m := new(tidemarkv1.StreamResponse)
	return m, c.receive(m)
}

// Server is the other end. One goroutine receives, one sends; the rest may be
// called from any.
type Server struct{ framed }

// Wanted reports whether a request asks for a stream.
func Wanted(r *http.Request) bool {
	return r.ProtoMajor == 1 && r.Method == http.MethodGet && r.URL.Path == Path && strings.EqualFold(r.Header.Get("Upgrade"), Protocol)
}

// Accept gives the sender of a request that is Wanted its stream; w must not be used
// any more. limit bounds a message that is taken, in bytes; patience how long one that
// has begun may take to arrive.
func Accept(w http.ResponseWriter, limit int, patience time.Duration) (*Server, error) {
	nc, rw, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, fmt.Errorf("taking over the connection: %w", err)
	}
	_ = nc.SetDeadline(time.Now().Add(patience)) // of what http.Server has set, and of this answer
	_, err = io.WriteString(nc, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+Protocol+"\r\n\r\n")
	if err != nil {
		_ = nc.Close()
		return nil, fmt.Errorf("agreeing to a stream: %w", err)
	}
	_ = nc.SetDeadline(time.Time{})
	return &Server{framed{nc: nc, r: bufio.NewReaderSize(rw.Reader, buffer), limit: limit, patience: patience}}, nil
}

// Receive waits for the next message, which the caller owns. The error is io.EOF
// after a regular end, and wraps offset.ErrInvalid for what is not a message, and
// offset.ErrBusy for one that there was no room for, which has the ids of its calls
// and nothing else; all else says that the connection broke.
func (s *Server) Receive() (*tidemarkv1.StreamRequest, error) {
	m := new(tidemarkv1.StreamRequest)
	return m, s.receive(m)
}

// Send sends a message; it may block while the peer does not read.
func (s *Server) Send(m *tidemarkv1.StreamResponse) error { return s.send(0, m) }

// End tells the peer that the stream has ended, and why if err is not nil, and
// closes the connection. After a send that failed it only closes: the peer would
// take what follows for the rest of that message. It is called by the goroutine
// that sends.
func (s *Server) End(err error, within time.Duration) {
	m := new(tidemarkv1.Error)
	if err != nil && offset.CodeOf(err) != offset.CodeOK {
		m = wire.ToError(err)
	}
	if !s.torn {
		_ = s.nc.SetWriteDeadline(time.Now().Add(within))
		_ = s.send(End, m) // a peer that is gone needs no reason
	}
	_ = s.nc.Close()
}
