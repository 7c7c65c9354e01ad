package server

import (
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Limits bounds what peers can take of a server. What is beyond a bound on
// things in flight is answered with offset.ErrBusy at once; nothing waits in a
// queue of its own.
type Limits struct {
	// Connections is how many connections are open at once, and PerAddress how
	// many of them from one IP address; the calls of a further one are
	// answered with ErrBusy, for up to a second, and 64 such connections at once.
	// Streams over HTTP/2, many of which may share a connection, are as many; a
	// further one is answered with ErrBusy.
	Connections, PerAddress int
	// Calls is how many calls are under way at once, on all connections. As many
	// unary requests over HTTP/2 may be arriving.
	Calls int
	// CallsPerStream is how many of one stream, and how many unary calls of one HTTP/2 connection.
	CallsPerStream int
	// Bytes bounds the memory of calls under way: the size of each request,
	// and what its answer may take. Refusals that wait to be sent may take as much.
	Bytes int64
	// Message is the largest message taken, in bytes. It must not be below
	// offset.MaxRequest.
	Message int
	// Exports is how many exports and backups run at once.
	Exports int

	// Timeout is how long a call waits that names no timeout_ms, and
	// MaxTimeout the most that it can name; more counts as that.
	Timeout, MaxTimeout time.Duration
	// ExportTimeout is the same for an export that names none.
	ExportTimeout time.Duration
	// KeepAlive is the longest silence on a stream while calls are under way.
	KeepAlive time.Duration

	// Header is how long the header of a request may take to arrive, Body how
	// long the rest of a unary request, and a message of a stream that has begun.
	Header, Body time.Duration
	// Idle is how long a connection may be open without a request, and a stream over
	// HTTP/2 without a call.
	Idle time.Duration
	// Stall is how long a peer may leave an answer unread before it is cut off: a
	// message of a stream, and 64 KiB of any other.
	Stall time.Duration
}

// DefaultLimits returns the limits that a zero field stands for.
func DefaultLimits() Limits {
	return Limits{
		Connections:    4096,
		PerAddress:     1024,
		Calls:          16384,
		CallsPerStream: 1024,
		Bytes:          256 << 20,
		Message:        offset.MaxMessage,
		Exports:        4,
		Timeout:        5 * time.Second,
		MaxTimeout:     time.Minute,
		ExportTimeout:  10 * time.Minute,
		KeepAlive:      100 * time.Millisecond,
		Header:         5 * time.Second,
		Body:           10 * time.Second,
		Idle:           2 * time.Minute,
		Stall:          10 * time.Second,
	}
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits()
	fill(&l.Connections, d.Connections)
	fill(&l.PerAddress, d.PerAddress)
	fill(&l.Calls, d.Calls)
	fill(&l.CallsPerStream, d.CallsPerStream)
	fill(&l.Bytes, d.Bytes)
	fill(&l.Message, d.Message)
	fill(&l.Exports, d.Exports)
	fill(&l.Timeout, d.Timeout)
	fill(&l.MaxTimeout, d.MaxTimeout)
	fill(&l.ExportTimeout, d.ExportTimeout)
	fill(&l.KeepAlive, d.KeepAlive)
	fill(&l.Header, d.Header)
	fill(&l.Body, d.Body)
	fill(&l.Idle, d.Idle)
	fill(&l.Stall, d.Stall)
	return l
}

func fill[T int | int64 | time.Duration](field *T, byDefault T) {
	if *field == 0 {
		*field = byDefault
	}
}

// Validate checks limits whose fields are all set; the error wraps
// offset.ErrInvalid and names the field.
func (l Limits) Validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"connections", int64(l.Connections)},
		{"connections per address", int64(l.PerAddress)},
		{"calls", int64(l.Calls)},
		{"calls per stream", int64(l.CallsPerStream)},
		{"bytes", l.Bytes},
		{"message", int64(l.Message)},
		{"exports", int64(l.Exports)},
		{"timeout", int64(l.Timeout)},
		{"max timeout", int64(l.MaxTimeout)},
		{"export timeout", int64(l.ExportTimeout)},
		{"keep-alive", int64(l.KeepAlive)},
		{"header", int64(l.Header)},
		{"body", int64(l.Body)},
		{"idle", int64(l.Idle)},
		{"stall", int64(l.Stall)},
	} {
		if f.value <= 0 {
			return offset.Errorf(offset.ErrInvalid, "the limit on %s is %d; it must be above 0", f.name, f.value)
		}
	}
	if l.Message < offset.MaxRequest {
		return offset.Errorf(offset.ErrInvalid, "the limit on message is %d bytes; a request may have %d", l.Message, offset.MaxRequest)
	}
	if most := l.most(); l.Bytes < most {
		return offset.Errorf(offset.ErrInvalid, "the limit on bytes is %d; a single call can need %d", l.Bytes, most)
	}
	if l.Timeout > l.MaxTimeout {
		return offset.Errorf(offset.ErrInvalid, "the default timeout of %s is above the greatest, %s", l.Timeout, l.MaxTimeout)
	}
	return nil
}

// requests is how many are served at once: streams of either kind, calls, and 1,024
// that are refused, or ask for pages. A single connection of HTTP/2 may bring many,
// and those beyond this bound are broken off.
func (l Limits) requests() int { return 2*l.Connections + l.Calls + 1024 }

// callsPerMessage is how many calls one message of a stream may bring. A client
// may have 1,024 under way, whatever is set here.
func (l Limits) callsPerMessage() int { return 2 * max(l.CallsPerStream, 1024) }

// most is the memory that a single call can be reckoned to take, or the message that
// brings it, before it is decoded.
func (l Limits) most() int64 {
	return int64(answerFactor*l.Message + max(offset.MaxCommits*readMemory, maxElements*elementMemory))
}

// timeout gives the wait of a call that names ms (0: none, which is byDefault).
func (l Limits) timeout(ms uint32, byDefault time.Duration) time.Duration {
	if ms == 0 {
		return byDefault
	}
	return min(time.Duration(ms)*time.Millisecond, max(l.MaxTimeout, byDefault))
}
