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

// paced is the ResponseWriter of an answer each piece of which may take a while: so
// who reads a long one steadily is not cut off.
type paced struct {
	http.ResponseWriter
	deadlines *deadlines
	within    time.Duration
}

// pace is how much of an answer a peer has to take within Limits.Stall.
const pace = 64 << 10

// Write writes piece by piece.
func (p paced) Write(b []byte) (n int, err error) {
	for {
		p.deadlines.write(p.within)
		m, err := p.ResponseWriter.Write(b[:min(len(b), pace)])
		n, b = n+m, b[m:]
		if err != nil || len(b) == 0 {
			return n, err
		}
	}
}

// Flush sends what was written.
func (p paced) Flush() { _ = p.deadlines.control.Flush() } // a connection that fails says so when it is written to

// Unwrap lets an http.ResponseController through.
func (p paced) Unwrap() http.ResponseWriter { return p.ResponseWriter }

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
