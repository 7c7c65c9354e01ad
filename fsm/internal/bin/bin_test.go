package bin

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestSignedNumbers(t *testing.T) {
	for v, want := range map[int64]uint64{0: 0, -1: 1, 1: 2, -2: 3, math.MaxInt64: math.MaxUint64 - 1, math.MinInt64: math.MaxUint64} {
		if got := Zigzag(v); got != want || Unzigzag(got) != v {
			t.Errorf("%d becomes %d, and back %d", v, got, Unzigzag(got))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		b := AppendVarint(nil, v)
		r := Reader{Data: b}
		if got := r.Varint(); got != v || r.Err != nil || r.Rest() != 0 || UvarintLen(Zigzag(v)) != len(b) {
			t.Fatalf("%d is read as %d, %v; %d bytes left, length %d of %d", v, got, r.Err, r.Rest(), UvarintLen(Zigzag(v)), len(b))
		}
	})
}

func TestSharedLen(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "a", 0}, {"a", "", 0}, {"ab", "ac", 1}, {"ab", "ab", 2}, {"ab", "abc", 2}, {"xb", "ab", 0}} {
		if got := SharedLen(c.a, c.b); got != c.want {
			t.Errorf("%q and %q share %d", c.a, c.b, got)
		}
	}
}

// After an error a Reader gives zeros and keeps the first error.
func TestReaderStaysAtItsFirstError(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"byte":       func(r *Reader) { r.Bytes(3); r.Byte() },
		"bytes":      func(r *Reader) { r.Bytes(4) },
		"number":     func(r *Reader) { r.Bytes(2); r.Uvarint() },
		"count":      func(r *Reader) { r.Count("things", 100, 1) },
		"count size": func(r *Reader) { r.Data = binary.AppendUvarint(nil, 1); r.Count("things", 100, 1) },
		"limit":      func(r *Reader) { r.UpTo("thing", 6) },
		"end":        func(r *Reader) { r.End() },
	} {
		r := Reader{What: "thing", Data: []byte{7, 1, 0x80}}
		read(&r)
		first := r.Err
		if !errors.Is(first, offset.ErrDamaged) || errors.Is(first, offset.ErrLevel) {
			t.Errorf("%s: %v", name, first)
		}
		r.Unknown("something else")
		if v := r.Uvarint() + uint64(r.Byte()) + uint64(r.Varint()) + uint64(len(r.Bytes(1))) + uint64(r.Count("x", 9, 1)); v != 0 || r.Err != first {
			t.Errorf("%s: then %d, %v", name, v, r.Err)
		}
	}
	r := Reader{What: "thing", Data: []byte{2}}
	if r.Bool(); !errors.Is(r.Err, offset.ErrLevel) {
		t.Errorf("a flag of 2: %v", r.Err)
	}
}

func TestReaderReadsBounds(t *testing.T) {
	r := Reader{Data: binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, math.MaxUint32), math.MaxInt32), math.MaxInt64)}
	if a, b, c := r.Uint32("x"), r.QueueID(), r.Offset(); a != math.MaxUint32 || b != math.MaxInt32 || c != math.MaxInt64 || r.Err != nil {
		t.Errorf("read %d, %d, %d, %v", a, b, c, r.Err)
	}
	for _, v := range []uint64{math.MaxInt64 + 1, math.MaxUint64} {
		r := Reader{Data: binary.AppendUvarint(nil, v)}
		if got := r.Offset(); got != 0 || r.Err == nil {
			t.Errorf("offset %d is read as %d", v, got)
		}
	}
}

// Growing must not touch what was handed out; reuse must not allocate.
func TestSlab(t *testing.T) {
	var s Slab[int]
	var parts [][]int
	for i := 1; i < 200; i++ {
		p := s.Take(i)
		for j := range p {
			p[j] = i
		}
		parts = append(parts, p)
	}
	for i, p := range parts {
		if len(p) != i+1 || cap(p) != i+1 || p[0] != i+1 || p[i] != i+1 {
			t.Fatalf("part %d has become %v", i, p)
		}
	}
	if s.Take(0) != nil {
		t.Error("nothing is not nil")
	}
	s.Reset()
	s.Take(20_000)
	s.Reset()
	if n := testing.AllocsPerRun(10, func() { s.Reset(); s.Take(10_000); s.Take(10_000) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
