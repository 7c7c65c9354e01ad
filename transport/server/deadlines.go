package server

import (
	"context"
	"net/http"
	"time"
)

// deadlines sets how long the reads and writes of one HTTP request may take.
// A nil one does nothing, and so does one whose ResponseWriter has no
// deadlines; the server's own timeouts, and contexts, are the bound then.
type deadlines struct{ control *http.ResponseController }

type deadlinesKey struct{}

// deadlinesOf gives those of the request that ctx belongs to, or nil.
func deadlinesOf(ctx context.Context) *deadlines {
	d, _ := ctx.Value(deadlinesKey{}).(*deadlines)
	return d
}

// request bounds a request whose body shall be here within read, and its
// answer taken within write. It also lifts what a request before on the same
// HTTP/1 connection has set.
func (d *deadlines) request(read, write time.Duration) {
	now := time.Now()
	_ = d.control.SetReadDeadline(now.Add(read))
	_ = d.control.SetWriteDeadline(now.Add(write))
}

// write bounds the next write.
func (d *deadlines) write(within time.Duration) {
	if d != nil {
		_ = d.control.SetWriteDeadline(time.Now().Add(within))
	}
}

// interrupt ends a read, and cutOff a write, that another goroutine waits in.
func (d *deadlines) interrupt() {
	if d != nil {
		_ = d.control.SetReadDeadline(longAgo)
	}
}

func (d *deadlines) cutOff() {
	if d != nil {
		_ = d.control.SetWriteDeadline(longAgo)
	}
}

var longAgo = time.Unix(1, 0)
