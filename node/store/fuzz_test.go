package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/hashicorp/raft"
	wal "github.com/hashicorp/raft-wal"
	"github.com/hashicorp/raft-wal/types"
)

// FuzzStoredEntry: whatever lies in the place of an entry, what is taken for one is
// that one; and one of which anything was changed is refused.
func FuzzStoredEntry(f *testing.F) {
	var b bytes.Buffer
	must(f, (&wal.BinaryCodec{}).Encode(summed(entries(5, 5, 2))[0], &b))
	f.Add(uint64(5), uint64(2), b.Bytes(), uint8(3))
	f.Add(uint64(1), uint64(1), []byte("data"), uint8(0))
	f.Add(uint64(1), uint64(1), []byte{}, uint8(7))
	f.Add(uint64(31), uint64(0), append(bytes.Repeat([]byte{0xba}, 9), '0'), uint8(0)) // a number of more than 64 bits
	f.Fuzz(func(t *testing.T, index, term uint64, data []byte, change uint8) {
		index = max(index, 1) // as raft's are
		var e raft.Log
		if err := decodeEntry(index, data, &e, 1); err == nil && e.Index != index {
			t.Fatalf("entry %d was read in the place of %d", e.Index, index)
		}
		own := summed([]*raft.Log{{Index: index, Term: term, Data: data, Extensions: []byte("ext")}})[0]
		own.Data = bytes.Clone(own.Data)
		switch change % 7 {
		case 0:
			own.Term++
		case 1:
			own.Type ^= 1
		case 2:
			own.Extensions[0]++
		case 3:
			own.Extensions[len(own.Extensions)-1]++
		case 4:
			own.Data = append(own.Data, change)
		case 5:
			own.Extensions = own.Extensions[:1+int(change)%(len(own.Extensions)-1)]
		case 6:
			own.Extensions = nil
		}
		if err := checkEntry(index, own, 1); err == nil {
			t.Fatalf("a changed entry was taken: %+v", own)
		}
	})
}

// FuzzStoredValue: a number or a vote of log.db is refused, or is what was stored
// under that very key.
func FuzzStoredValue(f *testing.F) {
	f.Add("CurrentTerm", sumValue("CurrentTerm", make([]byte, 8)))
	f.Add(keyVote, encodeVote(7, []byte("n1")))
	f.Add("CurrentTerm", make([]byte, 8))
	f.Add("k", []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, key string, val []byte) {
		if n, err := decodeNumber(key, val); err == nil {
			plain := binary.BigEndian.AppendUint64(nil, n)
			if !bytes.Equal(val, plain) && !bytes.Equal(val, sumValue(key, plain)) {
				t.Fatalf("%x of %q was read as %d", val, key, n)
			}
		}
		if v, err := checkValue(key, val); err == nil && !bytes.Equal(sumValue(key, v), val) {
			t.Fatalf("%x of %q was read as %x", val, key, v)
		}
	})
}

// FuzzSegment: of any bytes of a segment, and of those whose sums are put right,
// only whole batches are read, and nothing outside of the file.
func FuzzSegment(f *testing.F) {
	info := types.SegmentInfo{ID: 3, BaseIndex: 5, Codec: 1}
	f.Add(segmentOf(info, []string{"one", "two, longer than a frame's head"}, []string{"three"}), false)
	f.Add(append(segmentOf(info, []string{"one"}), make([]byte, 1024)...), true)
	f.Add(append(segmentOf(info, []string{"one"}), frame(frameEntry, []byte("torn"))...), false)
	f.Add([]byte{1}, false)
	f.Add(append(make([]byte, segmentHeadLen), frameEntry, 0, 0, 0, '0', '0', '0', '0'), false)
	f.Fuzz(func(t *testing.T, data []byte, right bool) {
		if right {
			data = resummed(data)
		}
		s, err := readSegment(info, data)
		if err != nil {
			return
		}
		if s.end > len(data) || s.index > s.end || len(s.entries) > len(data)/frameHeadLen || len(s.entries) > 0 && binary.LittleEndian.Uint64(data) != segmentMagic {
			t.Fatalf("%d entries up to %d, index at %d, of %d bytes", len(s.entries), s.end, s.index, len(data))
		}
		if s.end > 0 && !right && !bytes.Equal(resummed(data[:s.end]), data[:s.end]) {
			t.Fatalf("a batch whose sum is wrong was read: %x", data[:s.end])
		}
		s.torn() // any answer, but no panic
	})
}

// frame is a frame as raft-wal writes it.
func frame(kind byte, payload []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{kind, 0, 0, 0}, uint32(len(payload)))
	b = append(b, payload...)
	return append(b, make([]byte, (8-len(payload)%8)%8)...)
}

// segmentOf is a segment of these batches.
func segmentOf(info types.SegmentInfo, batches ...[]string) (b []byte) {
	for _, n := range []uint64{segmentMagic, info.BaseIndex, info.ID, info.Codec} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	for _, batch := range batches {
		for _, e := range batch {
			b = append(b, frame(frameEntry, []byte(e))...)
		}
		b = append(b, frameCommit, 0, 0, 0, 0, 0, 0, 0)
	}
	return resummed(b)
}

// resummed puts the sum of each batch right, as far as frames follow one another.
func resummed(data []byte) []byte {
	data = bytes.Clone(data)
	for pos, start := segmentHeadLen, 0; ; {
		kind, _, next := readFrame(data, pos)
		if next == 0 || next > len(data) {
			return data
		}
		if kind == frameCommit {
			binary.LittleEndian.PutUint32(data[pos+4:], crc32.Checksum(data[start:pos], castagnoli))
			start = next
		}
		pos = next
	}
}
