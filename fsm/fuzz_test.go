package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// FuzzReadSnapshot: whatever the bytes are, they are refused with one of the
// three errors, or read as a state whose own snapshot is read again the same.
func FuzzReadSnapshot(f *testing.F) {
	f.Add(goldenSnapshot(f))
	f.Add(small(f))
	f.Add(snap(f, New(Config{Cluster: testCluster})))
	f.Fuzz(func(t *testing.T, data []byte) { readAny(t, data) })
}

// FuzzReadBlocks goes past the sums: it makes them right before it reads.
func FuzzReadBlocks(f *testing.F) {
	f.Add(goldenSnapshot(f))
	f.Add(small(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAny(t, withRightSums(bytes.Clone(data)))
	})
}

// withRightSums puts in the sums that the content asks for.
func withRightSums(data []byte) []byte {
	if len(data) < snapshotHeadLen {
		return data
	}
	copy(data, snapshotMagic)
	data[headLevelAt] = 1
	copy(data[headClusterAt:], testCluster[:])
	binary.BigEndian.PutUint32(data[headSumAt:], crc32.Checksum(data[:headSumAt], castagnoli))
	rest := data[snapshotHeadLen:]
	for i := uint64(0); len(rest) >= frameLen+sumLen; i++ {
		n := binary.BigEndian.Uint32(rest[1:])
		if uint64(n) > uint64(len(rest)-frameLen-sumLen) {
			n = uint32(len(rest) - frameLen - sumLen)
			binary.BigEndian.PutUint32(rest[1:], n)
		}
		binary.BigEndian.PutUint32(rest[frameLen+n:], blockSum(i, rest[:frameLen+n]))
		rest = rest[frameLen+n+sumLen:]
	}
	return data
}

func readAny(t *testing.T, data []byte) {
	t.Helper()
	tab, err := ReadSnapshot(bytes.NewReader(data), testCluster)
	if err != nil {
		if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) && !errors.Is(err, offset.ErrForeignCluster) {
			t.Fatalf("another error: %v", err)
		}
		return
	}
	var again bytes.Buffer
	if err := WriteSnapshot(&again, tab.Root()); err != nil {
		t.Fatal(err)
	}
	back, err := ReadSnapshot(&again, testCluster)
	if err != nil {
		t.Fatalf("what was written again can't be read: %v", err)
	}
	same(t, "read again", back.Root(), tab.Root())
}
