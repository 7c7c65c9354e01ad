package server

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

const (
	// freeBytes is how much of a message may be read before it counts against
	// Limits.Bytes: what a connection reads at once, and nearly every message. A
	// unary request over HTTP/2, of which a connection has many, counts from its
	// first byte.
	freeBytes = 64 << 10
	// freeElements is the size up to which a message is decoded without a look at
	// how many elements it has.
	freeElements = 16 << 10
	// maxElements is how many messages one message may hold: several times what a
	// request may name, since some travel together. elementMemory is what each is
	// reckoned to take decoded, beyond its bytes.
	maxElements   = 4 * offset.MaxCommits
	elementMemory = 128
)

// hold is what one request, or one stream for the message that it reads, holds of
// the bounds. It belongs to one goroutine at a time, except for begun.
type hold struct {
	admission *admission
	limits    *Limits
	// free is how many bytes may be read before they count.
	free int64
	// read is how many bytes have come, and size what is held for them, or for the call.
	read, size int64
	// expected: a place among the requests to come is held. counted: what is held is
	// a call that was admitted.
	expected, counted bool

	// begun: a message of a stream has begun to arrive, and may not be here whole.
	// slow wakes the stream's writer once the peer needs a sign of life meanwhile;
	// late ends the stream once its time is over, and is nil for frames, which see to
	// that themselves.
	begun      atomic.Bool
	slow, late *time.Timer
}

func (s *Server) newHold(free int64) *hold {
	return &hold{admission: &s.admission, limits: &s.limits, free: free}
}

type holdKey struct{} // of the hold of a request

func holdOf(ctx context.Context) *hold {
	h, _ := ctx.Value(holdKey{}).(*hold)
	return h
}

// expect counts a unary request of HTTP/2 until its call is admitted. The error
// wraps ErrBusy.
func (h *hold) expect() error {
	err := h.admission.expect()
	h.expected = err == nil
	return err
}

// begin notes that a message of a stream has begun to arrive.
func (h *hold) begin() {
	h.begun.Store(true)
	h.slow.Reset(h.limits.KeepAlive)
	if h.late != nil {
		h.late.Reset(h.limits.Body)
	}
}

// grow holds n more bytes, which come. The error wraps ErrBusy.
func (h *hold) grow(n int) error {
	h.read += int64(n)
	return h.reach(h.read)
}

// whole holds what the bytes that have come take once they are decoded, with so
// many elements. The error wraps ErrBusy. Until then a peer that announces much and
// does not send it takes no more of the bounds than it sends.
func (h *hold) whole(elements int) error {
	return h.reach(h.read*answerFactor + int64(elements)*elementMemory)
}

// reach raises what is held to total, if it is less; little is free.
func (h *hold) reach(total int64) error {
	size := total - h.size
	if h.read <= h.free || size <= 0 {
		return nil
	}
	if err := h.admission.reserve(size); err != nil {
		return err
	}
	h.size += size
	return nil
}

// call admits the call that was read, which holds size bytes from now on.
func (h *hold) call(size int64) error {
	h.drop()
	if err := h.admission.take(size); err != nil {
		return err
	}
	h.size, h.counted = size, true
	return nil
}

// drop gives back what is held.
func (h *hold) drop() {
	if h.begun.Load() {
		h.begun.Store(false)
		h.slow.Stop()
		if h.late != nil {
			h.late.Stop()
		}
	}
	if h.expected {
		h.admission.unexpect()
	}
	if h.counted {
		h.admission.release(h.size)
	} else if h.size > 0 {
		h.admission.unreserve(h.size)
	}
	h.read, h.size, h.expected, h.counted = 0, 0, false, false
}

// arrived looks at a message of a stream before it is decoded: it refuses one of
// too many elements, and holds what those of a large one take.
func (h *hold) arrived(b []byte, kind proto.Message) error {
	n, err := elements(b, kind)
	if err != nil {
		return err
	}
	return h.whole(n)
}

// elements counts those of an encoded message, and refuses too many; those of a
// small one do not matter.
func elements(b []byte, kind proto.Message) (n int, err error) {
	if len(b) <= freeElements {
		return 0, nil
	}
	if n = wire.Elements(kind, b, maxElements); n > maxElements {
		return n, errElements
	}
	return n, nil
}

var errElements = offset.Errorf(offset.ErrInvalid, "a message has more than %d elements, so split it", maxElements)

// metered is a body whose bytes are held as they arrive.
type metered struct {
	body io.Reader
	hold *hold
}

// Close leaves it open for drain; net/http closes it in the end.
func (metered) Close() error { return nil }

// errTooLong ends the reading of a message that Connect refuses by its length, and
// would read to its end, however long it is.
var errTooLong = errors.New("no more of it is read")

// Read reads, until there is no room for what is read, or it is more than a message
// may have.
func (m metered) Read(b []byte) (int, error) {
	h := m.hold
	n, err := m.body.Read(b)
	if h.slow != nil && h.read == 0 && n > 0 {
		h.begin()
	}
	if h.read+int64(n) > int64(h.limits.Message)+envelope {
		return 0, errTooLong
	}
	busy := h.grow(n)
	if busy == nil && err == io.EOF {
		busy = h.whole(0)
	}
	if busy != nil {
		return 0, wire.ToConnectError(busy)
	}
	return n, err
}
