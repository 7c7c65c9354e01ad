package server

import (
	"context"
	"net/http"
	"time"
)

// connDeadlines sets how long the reads and writes of one HTTP request may take.
// A nil one does nothing, and so does one whose ResponseWriter has no
// deadlines; the server's own timeouts, and contexts, are the bound then.
type connDeadlines struct{ control *http.ResponseController }

type deadlinesKey struct{}

// deadlinesOf gives those of the request that ctx belongs to, or nil.
func deadlinesOf(ctx context.Context) *connDeadlines {
	d, _ := ctx.Value(deadlinesKey{}).(*connDeadlines)
	return d
}

func deadlinesFor(w http.ResponseWriter) *connDeadlines {
	return &connDeadlines{http.NewResponseController(w)}
}

// body bounds how long the body of a request may take to arrive. Where there is
// none, net/http reads on already, to notice when an HTTP/1 connection breaks: a
// deadline would look like that.
func (d *connDeadlines) body(r *http.Request, within time.Duration) {
	if r.Body != http.NoBody {
		_ = d.control.SetReadDeadline(time.Now().Add(within))
	}
}

// write bounds the next write.
func (d *connDeadlines) write(within time.Duration) {
	if d != nil {
		_ = d.control.SetWriteDeadline(time.Now().Add(within))
	}
}

// lift takes away the bound on writes that an earlier request on the same HTTP/1
// connection has set.
func (d *connDeadlines) lift() { _ = d.control.SetWriteDeadline(time.Time{}) }

// interrupt ends a read, and cutOff a write, that another goroutine waits in.
func (d *connDeadlines) interrupt() {
	if d != nil {
		_ = d.control.SetReadDeadline(longAgo)
	}
}

func (d *connDeadlines) cutOff() {
	if d != nil {
		_ = d.control.SetWriteDeadline(longAgo)
	}
}

var longAgo = time.Unix(1, 0)
