package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
)

// Server serves the API of one member. Its methods may be called from any
// goroutine.
type Server struct {
	cfg     Config
	service Service
	// together is the service, if it is one; else nil.
	together Together
	limits   Limits
	log      hclog.Logger
	handler  http.Handler
	http     *http.Server // of the API
	pagesOn  *http.Server // of ServePages

	admission admission
	exports   chan struct{}
	counters  counters
	// overHTTP2 bounds the streams that share connections.
	overHTTP2 *places

	// closing is closed when Shutdown begins: streams say so and end.
	closing chan struct{}
	once    sync.Once
	// cutting ends when connections are cut; cut ends it.
	cutting context.Context
	cut     context.CancelFunc
	// running counts the requests being served, streams included.
	running running
}

type counters struct {
	connections, streams, overHTTP2           atomic.Int64
	refusedConnections, busy, panics, stalled atomic.Int64
	loggedRefusal                             atomic.Int64
}

// New makes a Server; it does no I/O and starts no goroutine.
func New(cfg Config) *Server {
	cfg = cfg.withDefaults()
	s := &Server{
		cfg:     cfg,
		service: cfg.Service,
		limits:  cfg.Limits,
		log:     cfg.Logger,
		exports: make(chan struct{}, cfg.Limits.Exports),
		closing: make(chan struct{}),
	}
	s.together, _ = cfg.Service.(Together)
	s.cutting, s.cut = context.WithCancel(context.Background())
	s.overHTTP2 = newPlaces(&s.counters.overHTTP2, cfg.Limits.Connections, cfg.Limits.PerAddress)
	s.admission = admission{maxCalls: int64(cfg.Limits.Calls), maxBytes: cfg.Limits.Bytes, busy: &s.counters.busy}
	s.handler = s.routes()
	s.http = s.newHTTP(s.handler)
	s.pagesOn = s.newHTTP(nil)
	return s
}

// newHTTP sets what bounds connections. Without TLS, HTTP/1.1 and HTTP/2 are
// told apart by the first bytes of a connection; with it, by what both sides agreed on.
func (s *Server) newHTTP(h http.Handler) *http.Server {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	if s.cfg.TLS == nil {
		protocols.SetUnencryptedHTTP2(true)
	} else {
		protocols.SetHTTP2(true)
	}
	return &http.Server{
		TLSConfig:         s.cfg.TLS.Clone(),
		ConnContext:       func(ctx context.Context, c net.Conn) context.Context { return remember(ctx, refusalOf(c)) },
		Handler:           h,
		Protocols:         protocols,
		ReadHeaderTimeout: s.limits.Header,
		IdleTimeout:       s.limits.Idle,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          s.log.StandardLogger(&hclog.StandardLoggerOptions{ForceLevel: hclog.Debug}),
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: s.limits.CallsPerStream,
			SendPingTimeout:      s.limits.Idle / 2,
			PingTimeout:          s.limits.Stall,
			WriteByteTimeout:     s.limits.Stall,
		},
	}
}

// Handler returns what serves the API, /livez, /readyz, /metrics and the page
// at the root, for callers with an http.Server of their own, which must allow HTTP/2.
func (s *Server) Handler() http.Handler { return s.handler }

// Serve accepts connections on l until Shutdown, and then returns nil. It
// closes l. Several listeners may be served at once.
func (s *Server) Serve(l net.Listener) error {
	bounded := s.limitConnections(l, &s.counters.connections, s.limits.Connections, s.limits.PerAddress)
	return served("the API", l, s.serveOn(s.http, bounded))
}

// serveOn serves with TLS or without. The bound on connections also counts those
// that still shake hands, each of which has the time of a header for it.
func (s *Server) serveOn(h *http.Server, l net.Listener) error {
	if s.cfg.TLS == nil {
		return h.Serve(l)
	}
	return h.ServeTLS(l, "", "")
}

// pageConnections bounds the connections of ServePages, which do not count
// against those of the API: operators can look in when it is full.
const pageConnections = 64

// ServePages serves h, or Pages where it is nil, on an address for operators
// alone, until Shutdown has ended the API; then it returns nil. It closes l.
// It is called at most once.
func (s *Server) ServePages(l net.Listener, h http.Handler) error {
	if h == nil {
		h = s.Pages()
	}
	s.pagesOn.Handler = s.steadily(h)
	return served("the pages", l, s.serveOn(s.pagesOn, s.limitConnections(l, new(atomic.Int64), pageConnections, pageConnections)))
}

func served(what string, l net.Listener, err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serving %s on %s: %w", what, l.Addr(), err)
}

// Shutdown stops the server: listeners are closed, streams say that they are
// closing, what was taken is answered, and all that served has returned. When
// ctx ends before, connections are cut, which the error says; the outcome of
// the calls cut off is unknown to their callers. It may be called again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.once.Do(func() { close(s.closing) })
	err := s.http.Shutdown(ctx)
	if err == nil {
		err = s.running.wait(ctx)
	}
	if err == nil {
		err = s.pagesOn.Shutdown(ctx)
	}
	if err == nil {
		return nil
	}
	cut := s.running.count()
	s.cut()
	// The listeners are closed already; what else fails has no consequence.
	_, _ = s.http.Close(), s.pagesOn.Close()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if s.running.wait(grace) != nil {
		return fmt.Errorf("stopping the API: %d requests were cut off and some are still running: %w", cut, err)
	}
	return fmt.Errorf("stopping the API: %d requests were cut off: %w", cut, err)
}

// Stats returns the counts as they are.
func (s *Server) Stats() Stats {
	c := &s.counters
	return Stats{
		Connections:        c.connections.Load(),
		Streams:            c.streams.Load(),
		Calls:              s.admission.inFlight.Load(),
		Bytes:              s.admission.reserved.Load() + s.admission.refused.Load(),
		RefusedConnections: c.refusedConnections.Load(),
		Busy:               c.busy.Load(),
		Panics:             c.panics.Load(),
		Stalled:            c.stalled.Load(),
	}
}

// stopping reports whether Shutdown has begun.
func (s *Server) stopping() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}
