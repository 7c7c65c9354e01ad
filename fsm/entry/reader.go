package entry

import (
	"encoding/binary"
	"math"
)

// reader walks over an entry. After its first error it stays at the end and
// gives zeros, so that callers need to look at err only where a count or a
// reference comes out of it.
type reader struct {
	data []byte
	pos  int
	err  error
}

// rest is the number of bytes not yet read.
func (r *reader) rest() int { return len(r.data) - r.pos }

// fail keeps the first error and moves to the end.
func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.pos = len(r.data)
}

func (r *reader) byte() byte {
	if r.pos >= len(r.data) {
		r.fail(damaged("it ends at byte %d in the middle of a request", len(r.data)))
		return 0
	}
	b := r.data[r.pos]
	r.pos++
	return b
}

// bool reads a byte that is 0 or 1.
func (r *reader) bool() bool {
	b := r.byte()
	if b > 1 {
		r.fail(unknown("flag %#x at byte %d", b, r.pos-1))
	}
	return b == 1
}

// bytes returns the next n bytes in place.
func (r *reader) bytes(n int) []byte {
	if n > r.rest() {
		r.fail(damaged("%d bytes are announced at byte %d, %d are left", n, r.pos, r.rest()))
		return nil
	}
	b := r.data[r.pos : r.pos+n]
	r.pos += n
	return b
}

func (r *reader) uvarint() uint64 {
	if r.pos < len(r.data) {
		if b := r.data[r.pos]; b < 0x80 {
			r.pos++
			return uint64(b)
		}
	}
	return r.uvarintLong()
}

func (r *reader) uvarintLong() uint64 {
	v, n := binary.Uvarint(r.data[r.pos:])
	if n <= 0 {
		r.fail(damaged("no number at byte %d", r.pos))
		return 0
	}
	r.pos += n
	return v
}

// varint reads a zigzag number.
func (r *reader) varint() int64 { return unzigzag(r.uvarint()) }

// upTo reads a number of at most limit.
func (r *reader) upTo(what string, limit uint64) uint64 {
	v := r.uvarint()
	if v > limit {
		r.fail(damaged("%s %d before byte %d is above %d", what, v, r.pos, limit))
		return 0
	}
	return v
}

func (r *reader) uint32(what string) uint32 { return uint32(r.upTo(what, math.MaxUint32)) }

func (r *reader) queueID() int32 { return int32(r.upTo("queue id", math.MaxInt32)) }

func (r *reader) offset() int64 { return int64(r.upTo("offset", math.MaxInt64)) }

// count reads how many parts of at least size bytes follow, at most limit. It
// is not believed unless they can still be there.
func (r *reader) count(what string, limit, size int) int {
	n := r.uvarint()
	if n > uint64(limit) || n > uint64(r.rest()/size) {
		r.fail(damaged("%d %s are announced before byte %d; at most %d are allowed, and %d bytes are left", n, what, r.pos, limit, r.rest()))
		return 0
	}
	return int(n)
}
