package server

import (
	"net/http"
	"time"
)

// paced is the ResponseWriter of an answer each piece of which may take a while, so
// that a peer that reads a long one steadily is not cut off.
type paced struct {
	http.ResponseWriter
	deadlines *connDeadlines
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
