package server

import (
	"net/http"
	"runtime/debug"
	"strconv"

	"github.com/tidemark-mq/tidemark/offset"
)

// caught counts and logs a panic of a handler, and gives the answer to its
// call: whether something was done is unknown.
func (s *Server) caught(where string, v any) error {
	n := s.counters.panics.Add(1)
	s.log.Error("a handler panicked; this is a fault of the server", "call", where, "panic", v, "count", n, "stack", string(debug.Stack()))
	return offset.Errorf(offset.ErrOutcomeUnknown, "a fault inside the server (%s); see its log", where)
}

// recovering keeps a panic outside of the calls from the process; the
// request's connection or HTTP/2 stream is broken off.
func (s *Server) recovering(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if v != http.ErrAbortHandler { //nolint:errorlint // net/http compares likewise
				_ = s.caught(quote(r.URL.Path), v)
			}
			panic(http.ErrAbortHandler)
		}()
		next.ServeHTTP(w, r)
	})
}

// quote makes a text from the network fit for a log line or a page.
func quote(s string) string {
	for _, r := range s {
		if r <= ' ' || r == '"' || r > '~' {
			return strconv.Quote(s)
		}
	}
	return s
}
