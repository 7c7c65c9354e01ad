package peer

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
	peerv1 "github.com/tidemark-mq/tidemark/transport/api/peer/v1"
	"github.com/tidemark-mq/tidemark/transport/api/peer/v1/peerv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// desk answers the calls of other members over HTTP/2.
type desk struct {
	peer   *Peer
	server *http.Server
	cancel context.CancelFunc // ends the contexts of all calls

	mu      sync.Mutex // guards what follows
	calls   int
	conns   int
	closing bool
	idle    chan struct{} // closed once closing is set and both counts are 0
}

func newDesk(ctx context.Context, p *Peer) *desk {
	// What Run's end does to the calls is finish's to decide, not ctx's.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	d := &desk{peer: p, cancel: cancel, idle: make(chan struct{})}
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	path, handler := peerv1connect.NewPeerServiceHandler(d,
		connect.WithCompression("gzip", nil, nil),
		connect.WithReadMaxBytes(maxFrame), connect.WithSendMaxBytes(maxFrame))
	mux := http.NewServeMux()
	mux.Handle(path, d.counted(handler))
	c := p.config
	d.server = &http.Server{
		Handler:           mux,
		Protocols:         protocols,
		ReadHeaderTimeout: c.HandshakeTimeout,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          c.Logger.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ConnContext: func(ctx context.Context, nc net.Conn) context.Context {
			return context.WithValue(ctx, greetingKey{}, &nc.(*conn).greeting)
		},
		ConnState: func(_ net.Conn, s http.ConnState) { d.count(s) },
		HTTP2: &http.HTTP2Config{
			// Callers wait themselves; at its limit the library breaks calls off.
			MaxConcurrentStreams: max(2*c.MaxCalls, 250),
			MaxReadFrameSize:     256 << 10,
			SendPingTimeout:      c.KeepAlive,
			PingTimeout:          c.KeepAlive,
			WriteByteTimeout:     2 * c.KeepAlive,
		},
	}
	return d
}

// greetingKey is the key of the context value that identifies the caller.
type greetingKey struct{}

// serve answers the calls of the connections that q brings, until finish.
func (d *desk) serve(q *queue) {
	if err := d.server.Serve(q); !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
		d.peer.config.Logger.Error("serving calls of members", "error", err)
	}
}

// grace is how long calls that are being answered may still take, once Run
// ends, before their contexts are cancelled.
const grace = 100 * time.Millisecond

// finish ends the calls and waits for them and for their connections.
func (d *desk) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	d.server.Shutdown(ctx) // informs the callers, and lets answers leave
	d.cancel()
	d.server.Close()
	d.mu.Lock()
	d.closing = true
	d.settleLocked()
	d.mu.Unlock()
	<-d.idle
}

func (d *desk) settleLocked() {
	if d.closing && d.calls == 0 && d.conns == 0 {
		select {
		case <-d.idle:
		default:
			close(d.idle)
		}
	}
}

// count keeps the number of connections that the server holds.
func (d *desk) count(s http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch s {
	case http.StateNew:
		d.conns++
	case http.StateClosed, http.StateHijacked:
		d.conns--
		d.settleLocked()
	}
}

// counted refuses calls once finish has begun, and lets it wait for the others.
func (d *desk) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d.mu.Lock()
		if d.closing {
			d.mu.Unlock()
			http.Error(w, "closing", http.StatusServiceUnavailable)
			return
		}
		d.calls++
		d.mu.Unlock()
		defer func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.calls--
			d.settleLocked()
		}()
		next.ServeHTTP(w, r)
	})
}

// caller identifies the caller; the error refuses calls that strangers may not make.
func (d *desk) caller(ctx context.Context, strangers bool) (*greeting, error) {
	g, ok := ctx.Value(greetingKey{}).(*greeting)
	if !ok || !strangers && g.kind != kindCall {
		return nil, wire.ToConnectError(offset.Errorf(offset.ErrDenied, "only Hello and Found can be asked over this connection"))
	}
	return g, nil
}

// Forward answers a client's request that a member passes on.
func (d *desk) Forward(ctx context.Context, r *connect.Request[peerv1.ForwardRequest]) (*connect.Response[peerv1.ForwardResponse], error) {
	if _, err := d.caller(ctx, false); err != nil {
		return nil, err
	}
	ctx, cancel := wire.FromTimeout(ctx, r.Msg.TimeoutMs, d.peer.config.CallTimeout)
	defer cancel()
	out, err := serveForward(ctx, d.peer.config.Handler, r.Msg)
	if err != nil {
		out = &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Error{Error: wire.ToError(err)}}
	}
	return connect.NewResponse(out), nil
}

// ReadIndex answers a follower that reads.
func (d *desk) ReadIndex(ctx context.Context, r *connect.Request[peerv1.ReadIndexRequest]) (*connect.Response[peerv1.ReadIndexResponse], error) {
	if _, err := d.caller(ctx, false); err != nil {
		return nil, err
	}
	ctx, cancel := wire.FromTimeout(ctx, r.Msg.TimeoutMs, d.peer.config.CallTimeout)
	defer cancel()
	index, err := d.peer.config.Handler.ReadIndex(ctx)
	if err != nil {
		return connect.NewResponse(&peerv1.ReadIndexResponse{Error: wire.ToError(err)}), nil
	}
	return connect.NewResponse(&peerv1.ReadIndexResponse{Index: index}), nil
}

// Hello says what this node is.
func (d *desk) Hello(ctx context.Context, _ *connect.Request[peerv1.HelloRequest]) (*connect.Response[peerv1.HelloResponse], error) {
	g, err := d.caller(ctx, true)
	if err != nil {
		return nil, err
	}
	h, err := d.peer.config.Handler.Hello(ctx, g.id)
	if err != nil {
		return nil, wire.ToConnectError(err)
	}
	return connect.NewResponse(toHello(h)), nil
}

// Found takes the draw of the first founder.
func (d *desk) Found(ctx context.Context, r *connect.Request[peerv1.FoundRequest]) (*connect.Response[peerv1.FoundResponse], error) {
	g, err := d.caller(ctx, true)
	if err != nil {
		return nil, err
	}
	f, err := fromFounding(r.Msg)
	if err == nil {
		err = d.peer.config.Handler.Found(ctx, g.id, f)
	}
	out := new(peerv1.FoundResponse)
	if err != nil {
		out.Error = wire.ToError(err)
	}
	return connect.NewResponse(out), nil
}

// Announce takes what a member announces of itself.
func (d *desk) Announce(ctx context.Context, r *connect.Request[peerv1.AnnounceRequest]) (*connect.Response[peerv1.AnnounceResponse], error) {
	g, err := d.caller(ctx, false)
	if err != nil {
		return nil, err
	}
	out := new(peerv1.AnnounceResponse)
	if err := d.announce(ctx, g, r.Msg); err != nil {
		out.Error = wire.ToError(err)
	}
	return connect.NewResponse(out), nil
}

func (d *desk) announce(ctx context.Context, g *greeting, m *peerv1.AnnounceRequest) error {
	if m.Id != g.id {
		return offset.Errorf(offset.ErrDenied, "%s announces %q: a member speaks for itself alone", g.id, m.Id)
	}
	if err := wire.CheckAddress("api_address", m.ApiAddress); err != nil {
		return err
	}
	level, err := wire.FromLevel("max_level", m.MaxLevel)
	if err != nil {
		return err
	}
	return d.peer.config.Handler.Announce(ctx, offset.Member{ID: m.Id, API: m.ApiAddress, MaxLevel: level})
}

// Digest gives the digest noted at a checkpoint.
func (d *desk) Digest(ctx context.Context, r *connect.Request[peerv1.DigestRequest]) (*connect.Response[peerv1.DigestResponse], error) {
	if _, err := d.caller(ctx, false); err != nil {
		return nil, err
	}
	c, err := d.peer.config.Handler.Digest(ctx, r.Msg.Index)
	if err != nil {
		return nil, wire.ToConnectError(err)
	}
	return connect.NewResponse(toDigest(c)), nil
}

var _ peerv1connect.PeerServiceHandler = (*desk)(nil)
