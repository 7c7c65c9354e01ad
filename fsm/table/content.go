package table

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/tidemark-mq/tidemark/offset"
)

// What the content of an act begins with.
const (
	contentReset = 1 + iota
	contentRemove
	contentClone
	contentExpire
	contentTake
	contentImport
)

// contentOf is what the record of an act knows its content by, so that an id that
// is used again for something else is noticed. It covers what the act is to do,
// and of an import what its first entry says; cluster, base and claim say when it
// may.
func contentOf(a *offset.Act) [16]byte {
	c := contentHash{hash: xxh3.New(), buf: make(encoding, 0, 1024)}
	switch {
	case a.Reset != nil:
		c.add(c.buf.u8(contentReset))
		for i := range a.Reset.Targets {
			x := &a.Reset.Targets[i]
			c.add(c.buf.key(x.Key).u64(uint64(x.Offset)))
		}
	case a.Remove != nil:
		s := &a.Remove.Scope
		c.add(c.buf.u8(contentRemove).text(s.Group).text(s.Topic).flag(s.HasBroker).text(s.Broker).flag(s.HasQueue).u32(uint32(s.QueueID)))
	case a.Clone != nil:
		x := a.Clone
		c.add(c.buf.u8(contentClone).text(x.From).text(x.To).text(x.Topic).flag(x.HasBroker).text(x.Broker))
	case a.Expire != nil:
		c.add(c.buf.u8(contentExpire))
		for i := range a.Expire.Groups {
			c.add(c.buf.text(a.Expire.Groups[i].Group).u64(a.Expire.Groups[i].Seen))
		}
	case a.Take != nil:
		c.add(c.buf.u8(contentTake).flag(a.Take.ByBroker).text(a.Take.Name).text(a.Take.Holder))
	case a.Import != nil:
		i := a.Import
		c.add(append(c.buf.u8(contentImport).u8(uint8(i.Mode)).text(i.Group).u32(i.Chunks).u64(i.Offsets), i.Hash[:]...))
	}
	return c.sum()
}

// contentHash hashes what is too long to be gathered first.
type contentHash struct {
	hash *xxh3.Hasher
	buf  encoding
}

// add hashes e, which was appended to the empty buf, and empties it.
func (c *contentHash) add(e encoding) {
	c.hash.Write(e)
	c.buf = e[:0]
}

func (c *contentHash) sum() (out [16]byte) {
	s := c.hash.Sum128()
	binary.BigEndian.PutUint64(out[:8], s.Hi)
	binary.BigEndian.PutUint64(out[8:], s.Lo)
	return out
}
