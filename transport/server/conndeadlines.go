package server

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// connDeadlines sets how long the reads and writes of one HTTP request may take.
// A nil one does nothing, and so does one whose ResponseWriter has no
// deadlines; the server's own timeouts, and contexts, are the bound then.
type connDeadlines struct {
	control *http.ResponseController
	// done: the handler has returned, and its ResponseWriter must not be touched any
	// more. mu is held while a timer does so, since stopping a timer does not wait for it.
	mu   sync.Mutex
	done bool
}

type deadlinesKey struct{}

// deadlinesOf gives those of the request that ctx belongs to, or nil.
func deadlinesOf(ctx context.Context) *connDeadlines {
	d, _ := ctx.Value(deadlinesKey{}).(*connDeadlines)
	return d
}

func deadlinesFor(w http.ResponseWriter) *connDeadlines {
	return &connDeadlines{control: http.NewResponseController(w)}
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

// interrupt ends a read, and cutOff a write, that another goroutine waits in. Timers may
// call them at any time.
func (d *connDeadlines) interrupt() {
	if d != nil {
		d.end(d.control.SetReadDeadline)
	}
}

func (d *connDeadlines) cutOff() {
	if d != nil {
		d.end(d.control.SetWriteDeadline)
	}
}

func (d *connDeadlines) end(set func(time.Time) error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.done {
		_ = set(longAgo)
	}
}

// over is called when the handler returns: nothing is interrupted or cut off from then on.
func (d *connDeadlines) over() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.done = true
}

var longAgo = time.Unix(1, 0)
