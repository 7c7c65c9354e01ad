package fsm

import (
	"bytes"
	"encoding/binary"
	mathbits "math/bits"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// digester makes the digest of a snapshot as docs/formats.md tells it, from
// what is written, without the table.
type digester struct {
	rest         table.Rest
	live, staged xxh3.Uint128
	bases        map[[2]string]bool
	end          SnapshotEnd
}

func (d *digester) Head(uint8, offset.ClusterID) error { return nil }
func (d *digester) Rest(r *table.Rest) error           { d.rest = *r; return nil }
func (d *digester) End(e *SnapshotEnd) error           { d.end = *e; return nil }

func (d *digester) Run(t *table.TopicState) error {
	names := new(hashed).u8(1).text(t.Group, t.Topic, t.Broker).sum()
	into := &d.live
	if t.Staged {
		into = &d.staged
	}
	if base := [2]string{t.Group, t.Broker}; t.Base != (table.Stamp{}) && !d.bases[base] {
		d.bases[base] = true
		*into = plus(*into, new(hashed).u8(2).text(base[0], base[1]).u64(t.Base.Index, uint64(t.Base.Time)).sum())
	}
	for _, q := range t.Queues {
		time, last := uint64(q.Time), uint64(q.QueueID)
		if q.Pending {
			last |= 1 << 31
		}
		*into = plus(*into, new(hashed).u64(names.Hi, names.Lo, uint64(q.Offset), q.Index<<8|time>>40, q.Epoch<<8|time>>32&255, time<<32|last).sum())
	}
	return nil
}

func (d *digester) digest() (out offset.Digest) {
	r := &d.rest
	var floors, claims, acts xxh3.Uint128
	for _, f := range r.Floors {
		floors = plus(floors, new(hashed).u8(3).flag(f.Topic).text(f.Name).u64(f.Index).u32(f.Order).sum())
	}
	for _, c := range r.Claims {
		claims = plus(claims, new(hashed).u8(4).flag(c.ByBroker).text(c.Name, c.Holder).u64(c.Index).sum())
	}
	for i := range r.Acts {
		acts = plus(acts, hashedAct(&r.Acts[i]))
	}
	h := new(hashed).u8(6)
	h.raw(r.Cluster[:]).u64(r.Index, uint64(r.Time), r.LastAct).u8(r.Level)
	h.u64(r.Queues).sums(d.live).u64(r.Base.Index, uint64(r.Base.Time))
	h.u64(r.FloorOfAll).sums(floors, claims, acts).u64(r.Evicted).flag(r.Import != nil)
	if i := r.Import; i != nil {
		h.raw(i.ID[:]).u8(byte(i.Mode)).text(i.Group).raw(i.Hash[:]).u32(i.Chunks).u64(i.Offsets).u32(i.Next)
		h.u64(i.Base, r.StagedQueues).sums(d.staged)
	}
	h.u32(uint32(len(r.Members)))
	for _, m := range r.Members {
		h.text(m.ID, m.API).u8(m.MaxLevel)
	}
	sum := h.sum()
	binary.BigEndian.PutUint64(out[:], sum.Hi)
	binary.BigEndian.PutUint64(out[8:], sum.Lo)
	return out
}

func hashedAct(a *table.ActRecord) xxh3.Uint128 {
	r := &a.Result
	h := new(hashed).u8(5).raw(a.ID[:]).raw(a.Content[:]).u64(a.First).u32(a.Order).u8(byte(r.Code)).u64(r.Index).flag(r.Done)
	h.u32(r.Next).u64(r.Changed, r.Kept).u32(uint32(len(r.Names)))
	for _, k := range r.Names {
		h.key(&k)
	}
	return h.key(&a.Cursor).flag(a.Begun).flag(a.Seen).u32(a.Item).sum()
}

// hashed gathers what is hashed.
type hashed struct{ bytes.Buffer }

func (h *hashed) u8(v byte) *hashed    { h.WriteByte(v); return h }
func (h *hashed) raw(b []byte) *hashed { h.Write(b); return h }
func (h *hashed) u32(v uint32) *hashed { return h.raw(binary.LittleEndian.AppendUint32(nil, v)) }
func (h *hashed) flag(v bool) *hashed  { return h.u8(bits(v, 1)) }
func (h *hashed) sum() xxh3.Uint128    { return xxh3.Hash128(h.Bytes()) }
func (h *hashed) key(k *offset.Key) *hashed {
	return h.text(k.Group, k.Topic, k.Broker).u32(uint32(k.QueueID))
}

func (h *hashed) u64(list ...uint64) *hashed {
	for _, v := range list {
		h.raw(binary.LittleEndian.AppendUint64(nil, v))
	}
	return h
}

func (h *hashed) text(list ...string) *hashed {
	for _, s := range list {
		h.u32(uint32(len(s))).raw([]byte(s))
	}
	return h
}

func (h *hashed) sums(list ...xxh3.Uint128) *hashed {
	for _, s := range list {
		h.u64(s.Hi, s.Lo)
	}
	return h
}

func plus(a, b xxh3.Uint128) xxh3.Uint128 {
	lo, c := mathbits.Add64(a.Lo, b.Lo, 0)
	hi, _ := mathbits.Add64(a.Hi, b.Hi, c)
	return xxh3.Uint128{Hi: hi, Lo: lo}
}

// TestDigestIsAsDocumented: whoever reads docs/formats.md can compute it.
func TestDigestIsAsDocumented(t *testing.T) {
	list := [][]byte{goldenSnapshot(t), small(t)}
	for seed := range uint64(10) {
		list = append(list, snap(t, newHistory(t, seed+300, 150).live))
	}
	bases := 0
	for i, data := range list {
		d := digester{bases: map[[2]string]bool{}}
		if err := ScanSnapshot(bytes.NewReader(data), &d); err != nil {
			t.Fatal(err)
		}
		if got := d.digest(); got != d.end.Digest {
			t.Errorf("snapshot %d has digest %s, computed from the documentation it is %s", i, d.end.Digest, got)
		}
		bases += len(d.bases)
	}
	if bases == 0 {
		t.Error("no history replaces a group")
	}
}
