package store

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"

	"github.com/tidemark-mq/tidemark/offset"
)

// sumBytes is the length of a sum: CRC32C, little-endian.
const sumBytes = 4

// summed returns copies of entries that carry a sum over all that raft acts on,
// after their Extensions, which are left to whoever uses them. bbolt's pages
// have no sums, and a changed bit in an offset is an entry like any other: it
// would be applied, here alone.
func summed(entries []*raft.Log) []*raft.Log {
	copies, out := make([]raft.Log, len(entries)), make([]*raft.Log, len(entries))
	for i, e := range entries {
		copies[i] = *e
		n := len(e.Extensions)
		copies[i].Extensions = binary.LittleEndian.AppendUint32(e.Extensions[:n:n], entrySum(e))
		out[i] = &copies[i]
	}
	return out
}

// checkEntry compares an entry as it was stored at index with its sum, and takes
// the sum away. An entry that an earlier build has stored has none, which is below
// index from; 0: any may be. Its error wraps offset.ErrDamaged.
func checkEntry(index uint64, e *raft.Log, from uint64) error {
	if e.Index != index {
		return offset.Errorf(offset.ErrDamaged, "entry %d is in the place of entry %d", e.Index, index)
	}
	n := len(e.Extensions) - sumBytes
	switch {
	case len(e.Extensions) == 0 && from > 0 && index >= from:
		return offset.Errorf(offset.ErrDamaged, "entry %d has no sum, and was written with one", index)
	case len(e.Extensions) == 0:
		return nil
	case n < 0:
		return offset.Errorf(offset.ErrDamaged, "entry %d has %d bytes of a sum, not %d", index, len(e.Extensions), sumBytes)
	}
	want := binary.LittleEndian.Uint32(e.Extensions[n:])
	if e.Extensions = e.Extensions[:n]; n == 0 {
		e.Extensions = nil
	}
	if got := entrySum(e); got != want {
		return offset.Errorf(offset.ErrDamaged, "entry %d has the sum %08x, and %08x was written", index, got, want)
	}
	return nil
}

// demandSums notes in log.db from which entry on all must have a sum, once: from
// the next. Otherwise a changed bit in the name of the field that holds it would
// pass for an entry of an earlier build, with whatever else has changed in it. Such
// a build, which would continue without sums, can't read a term that has one.
func demandSums(db *raftboltdb.BoltStore, c *contents) error {
	if c.summed > 0 {
		return nil
	}
	if c.vote.CurrentTerm > 0 {
		if err := db.Set([]byte(keyCurrentTerm), encodeNumber(keyCurrentTerm, c.vote.CurrentTerm)); err != nil {
			return err
		}
	}
	_, last := c.entries.bounds()
	c.summed = last + 1
	return db.Set([]byte(keySummedFrom), encodeNumber(keySummedFrom, c.summed))
}

func entrySum(e *raft.Log) uint32 {
	var head [17]byte
	binary.LittleEndian.PutUint64(head[:], e.Index)
	binary.LittleEndian.PutUint64(head[8:], e.Term)
	head[16] = byte(e.Type)
	sum := crc32.Update(crc32.Checksum(head[:], castagnoli), castagnoli, e.Data)
	return crc32.Update(sum, castagnoli, e.Extensions)
}

// sumValue returns a value of log.db with its sum, which covers the key too.
func sumValue(key string, val []byte) []byte {
	return binary.LittleEndian.AppendUint32(val[:len(val):len(val)], valueSum(key, val))
}

// checkValue takes the sum away from a value that was stored with one. Its error
// wraps offset.ErrDamaged.
func checkValue(key string, val []byte) ([]byte, error) {
	n := len(val) - sumBytes
	if n < 0 {
		return nil, offset.Errorf(offset.ErrDamaged, "value of %s is %d bytes long, shorter than its sum", key, len(val))
	}
	if got, want := valueSum(key, val[:n]), binary.LittleEndian.Uint32(val[n:]); got != want {
		return nil, offset.Errorf(offset.ErrDamaged, "value of %s has the sum %08x, and %08x was written", key, got, want)
	}
	return val[:n], nil
}

func valueSum(key string, val []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte(key), castagnoli), castagnoli, val)
}
