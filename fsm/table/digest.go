package table

import (
	"encoding/binary"
	"math/bits"

	"github.com/zeebo/xxh3"

	"github.com/tidemark-mq/tidemark/offset"
)

// sum is a hash, or a sum of hashes: what is held in any order is added up, so
// that one change costs one subtraction and one addition (modulo 2^128).
type sum = xxh3.Uint128

func add(a, b sum) sum {
	lo, c := bits.Add64(a.Lo, b.Lo, 0)
	hi, _ := bits.Add64(a.Hi, b.Hi, c)
	return sum{Hi: hi, Lo: lo}
}

func sub(a, b sum) sum {
	lo, c := bits.Sub64(a.Lo, b.Lo, 0)
	hi, _ := bits.Sub64(a.Hi, b.Hi, c)
	return sum{Hi: hi, Lo: lo}
}

// encoding gathers what is hashed; each kind of thing begins with a byte of its
// own, and everything of varying length with its length.
type encoding []byte

func (e encoding) u64(v uint64) encoding { return binary.LittleEndian.AppendUint64(e, v) }
func (e encoding) u32(v uint32) encoding { return binary.LittleEndian.AppendUint32(e, v) }
func (e encoding) u8(v uint8) encoding   { return append(e, v) }

func (e encoding) flag(b bool) encoding {
	if b {
		return append(e, 1)
	}
	return append(e, 0)
}

func (e encoding) text(s string) encoding { return append(e.u32(uint32(len(s))), s...) }
func (e encoding) sum(s sum) encoding     { return e.u64(s.Hi).u64(s.Lo) }

func (e encoding) key(k offset.Key) encoding {
	return e.text(k.Group).text(k.Topic).text(k.Broker).u32(uint32(k.QueueID))
}

func (e encoding) stamp(s Stamp) encoding { return e.u64(s.Index).u64(uint64(s.Time)) }
func (e encoding) hash() sum              { return xxh3.Hash128(e) }

// What is hashed begins with one of these.
const (
	tagNames = 1 + iota
	tagPart
	tagFloor
	tagClaim
	tagAct
	tagState
)

// hash is what the digest knows a run by.
func (i *ident) hash() sum { return hashNames(i.group, i.topic, i.broker) }

func hashNames(group, topic, broker string) sum {
	return make(encoding, 0, 160).u8(tagNames).text(group).text(topic).text(broker).hash()
}

// hash of a position as it is stored. 48 bytes in one call: about 10 ns.
func (q *queue) hash(names sum) sum {
	var b [48]byte
	binary.LittleEndian.PutUint64(b[0:], names.Hi)
	binary.LittleEndian.PutUint64(b[8:], names.Lo)
	binary.LittleEndian.PutUint64(b[16:], uint64(q.offset))
	binary.LittleEndian.PutUint64(b[24:], q.x)
	binary.LittleEndian.PutUint64(b[32:], q.y)
	binary.LittleEndian.PutUint64(b[40:], q.z)
	return xxh3.Hash128(b[:])
}

func hashBase(id *ident, base Stamp) sum {
	if base == (Stamp{}) {
		return sum{}
	}
	return make(encoding, 0, 160).u8(tagPart).text(id.group).text(id.broker).stamp(base).hash()
}

func (f *Floor) hash() sum {
	return make(encoding, 0, 128).u8(tagFloor).flag(f.Topic).text(f.Name).u64(f.Index).u32(f.Order).hash()
}

func (c *Claim) hash() sum {
	return make(encoding, 0, 160).u8(tagClaim).flag(c.ByBroker).text(c.Name).text(c.Holder).u64(c.Index).hash()
}

func (r *ActRecord) hash() sum {
	e := make(encoding, 0, 256).u8(tagAct)
	e = append(append(e, r.ID[:]...), r.Content[:]...).u64(r.First).u32(r.Order).u8(uint8(r.Result.Code)).u64(r.Result.Index)
	e = e.flag(r.Result.Done).u32(r.Result.Next).u64(r.Result.Changed).u64(r.Result.Kept)
	e = e.u32(uint32(len(r.Result.Names)))
	for _, k := range r.Result.Names {
		e = e.key(k)
	}
	return e.key(r.Cursor).flag(r.Begun).flag(r.Seen).u32(r.Item).hash()
}
