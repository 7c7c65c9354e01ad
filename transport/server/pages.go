package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode"
)

// Pages serves /livez, /readyz, /metrics and the page at the root, without the
// API: what an address for operators alone shows. None of it touches the disk.
func (s *Server) Pages() http.Handler { return s.recovering(s.pages()) }

// steadily serves pages, however long they take to make and to be sent, to peers
// that read them steadily.
func (s *Server) steadily(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := deadlinesFor(w)
		d.body(r, s.limits.Body)
		d.lift()
		pages.ServeHTTP(paced{w, d, s.limits.Stall}, r)
	})
}

func (s *Server) pages() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { health(w, s.service.Live()) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { health(w, s.ready()) })
	if s.cfg.Metrics != nil {
		mux.Handle("GET /metrics", s.cfg.Metrics)
	}
	mux.HandleFunc("GET /{$}", s.root)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		text(w, http.StatusNotFound, fmt.Sprintf("There is nothing at %s %s; the page at / names what there is.\n", quote(r.Method), quote(r.URL.Path)))
	})
	return mux
}

func (s *Server) ready() error {
	if s.stopping() {
		return errStopping
	}
	return s.service.Ready()
}

// health answers 200 and ok, or 503 and the cause in one line.
func health(w http.ResponseWriter, err error) {
	if err == nil {
		text(w, http.StatusOK, "ok\n")
		return
	}
	text(w, http.StatusServiceUnavailable, oneLine(err.Error())+"\n")
}

func text(w http.ResponseWriter, status int, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // a peer that is gone needs no answer
}

// oneLine keeps a text to one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}

// notes are what people should see.
func (s *Server) notes() (lines string) {
	for _, n := range s.cfg.Notes() {
		lines += "\n  !! " + oneLine(n) + "\n"
	}
	return lines
}

func (s *Server) root(w http.ResponseWriter, r *http.Request) {
	leader := s.service.Leader()
	if leader == "" {
		leader = "(not known)"
	}
	metrics := "  GET  /metrics  figures for Prometheus\n"
	if s.cfg.Metrics == nil {
		metrics = ""
	}
	text(w, http.StatusOK, `Tidemark `+oneLine(s.cfg.Version)+` keeps the offsets of message consumers.
The leader's address is `+oneLine(leader)+`; every node takes every request.
`+s.notes()+`
  GET  /livez    200 while the process works
  GET  /readyz   200 while this node serves; else 503 and why
`+metrics+`
The API takes POST with Content-Type: application/json (Connect), and gRPC:

  POST /tidemark.v1.OffsetService/   Commit Set Fetch Stream
  POST /tidemark.v1.GroupService/    List Reset Remove Clone Expire Claim Claims Import Export
  POST /tidemark.v1.ClusterService/  Status AddMember PromoteMember RemoveMember Transfer Snapshot Backup RaiseLevel

For a start:

  curl -d '{}' -H 'Content-Type: application/json' `+scheme(r)+`://`+hostAsked(r)+`/tidemark.v1.ClusterService/Status
`)
}

func scheme(r *http.Request) string {
	if r.TLS != nil {
		return "https"
	}
	return "http"
}

// hostAsked is the address that the page was asked at, if it is a plain one.
func hostAsked(r *http.Request) string {
	plain := func(c rune) bool {
		return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune(".:-[]", c)
	}
	if r.Host == "" || len(r.Host) > 255 || strings.ContainsFunc(r.Host, func(c rune) bool { return !plain(c) }) {
		return "ADDRESS"
	}
	return r.Host
}
