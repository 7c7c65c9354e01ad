// Package framestest serves streams in tests that need no whole node.
package framestest

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/frames"
)

// Handler serves streams by serve, and all else by next.
type Handler struct {
	next    http.Handler
	serve   func(context.Context, *frames.Server) error
	ctx     context.Context
	end     context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	open map[*frames.Server]struct{} // nil once closed
}

// New makes a Handler. serve's error is what the stream ends with; its context
// ends with Close.
func New(next http.Handler, serve func(context.Context, *frames.Server) error) *Handler {
	h := &Handler{next: next, serve: serve, open: map[*frames.Server]struct{}{}}
	h.ctx, h.end = context.WithCancel(context.Background())
	return h
}

// ServeHTTP serves a request.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !frames.Wanted(r) {
		h.next.ServeHTTP(w, r)
		return
	}
	h.running.Add(1)
	defer h.running.Done()
	s, err := frames.Accept(w, offset.MaxMessage, 10*time.Second)
	if err != nil {
		return // the peer has gone
	}
	h.note(s)
	err = h.serve(h.ctx, s)
	h.mu.Lock()
	delete(h.open, s)
	h.mu.Unlock()
	s.End(err, time.Second)
}

// note keeps s for Close, or closes it if that has been.
func (h *Handler) note(s *frames.Server) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		_ = s.Close()
		return
	}
	h.open[s] = struct{}{}
}

// Close breaks the connections of all streams, now and later.
func (h *Handler) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.open {
		_ = s.Close()
	}
	h.open = nil
	h.end()
}

// Wait waits until serve has returned for each stream.
func (h *Handler) Wait() { h.running.Wait() }
