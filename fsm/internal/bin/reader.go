// Package bin has what the formats of log entries and snapshots share: a
// reader that believes no length before it has checked it, numbers of variable
// length, and memory that is used again. It is pure.
package bin

import (
	"encoding/binary"
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

// Reader walks over bytes. After its first error it stays at the end and gives
// zeros, so that callers need to look at Err only where a count or a reference
// comes out of it.
type Reader struct {
	// What is being read, for errors.
	What string
	Data []byte
	Pos  int
	Err  error
}

// Rest is the number of bytes not yet read.
func (r *Reader) Rest() int { return len(r.Data) - r.Pos }

// Fail keeps the first error and moves to the end.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.Pos = len(r.Data)
}

// Damaged fails with an error that wraps offset.ErrDamaged.
func (r *Reader) Damaged(format string, args ...any) {
	r.Fail(offset.Errorf(offset.ErrDamaged, r.What+": "+format, args...))
}

// Unknown fails with an error that wraps offset.ErrLevel.
func (r *Reader) Unknown(format string, args ...any) {
	args = append(args, offset.FormatLevel)
	r.Fail(offset.Errorf(offset.ErrLevel, r.What+": "+format+" is unknown; this build reads up to level %d, run a newer one", args...))
}

// End fails if anything is left.
func (r *Reader) End() {
	if r.Err == nil && r.Rest() > 0 {
		r.Damaged("%d bytes follow its end at byte %d", r.Rest(), r.Pos)
	}
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if r.Pos >= len(r.Data) {
		r.Damaged("it ends too early, after %d bytes", len(r.Data))
		return 0
	}
	b := r.Data[r.Pos]
	r.Pos++
	return b
}

// Bool reads a byte that is 0 or 1.
func (r *Reader) Bool() bool {
	b := r.Byte()
	if b > 1 {
		r.Unknown("flag %#x at byte %d", b, r.Pos-1)
	}
	return b == 1
}

// Bytes returns the next n bytes in place.
func (r *Reader) Bytes(n int) []byte {
	if n > r.Rest() {
		r.Damaged("%d bytes are announced before byte %d, %d are left", n, r.Pos, r.Rest())
		return nil
	}
	b := r.Data[r.Pos : r.Pos+n]
	r.Pos += n
	return b
}

// Uvarint reads a number.
func (r *Reader) Uvarint() uint64 {
	if r.Pos < len(r.Data) {
		if b := r.Data[r.Pos]; b < 0x80 {
			r.Pos++
			return uint64(b)
		}
	}
	return r.long()
}

func (r *Reader) long() uint64 {
	v, n := binary.Uvarint(r.Data[r.Pos:])
	if n <= 0 {
		r.Damaged("no number at byte %d", r.Pos)
		return 0
	}
	r.Pos += n
	return v
}

// Varint reads a number that AppendVarint wrote.
func (r *Reader) Varint() int64 { return Unzigzag(r.Uvarint()) }

// UpTo reads a number of at most limit.
func (r *Reader) UpTo(what string, limit uint64) uint64 {
	v := r.Uvarint()
	if v > limit {
		r.Damaged("%s %d before byte %d is above %d", what, v, r.Pos, limit)
		return 0
	}
	return v
}

// Uint32 reads a number of 32 bits.
func (r *Reader) Uint32(what string) uint32 { return uint32(r.UpTo(what, math.MaxUint32)) }

// QueueID reads a queue id.
func (r *Reader) QueueID() int32 { return int32(r.UpTo("queue id", math.MaxInt32)) }

// Offset reads an offset.
func (r *Reader) Offset() int64 { return int64(r.UpTo("offset", math.MaxInt64)) }

// Count reads how many parts of at least size bytes follow, at most limit. It
// is not believed unless they can still be there.
func (r *Reader) Count(what string, limit, size int) int {
	n := r.Uvarint()
	if n > uint64(limit) || n > uint64(r.Rest()/size) {
		r.Damaged("%d %s are announced before byte %d; at most %d are allowed, and %d bytes are left", n, what, r.Pos, limit, r.Rest())
		return 0
	}
	return int(n)
}
