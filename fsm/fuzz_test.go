package fsm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// FuzzApply: an entry that can be decoded can be applied, whatever it asks for,
// also what no validation would have let through; and what comes of valid
// requests goes into a snapshot and back.
func FuzzApply(f *testing.F) {
	files, err := filepath.Glob("entry/testdata/level1/*.entry")
	if err != nil || len(files) == 0 {
		f.Fatal("no golden entries", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data[4+16:])
	}
	for _, l := range newHistory(f, 77, 40).logs {
		if l.Type == raft.LogCommand {
			f.Add(l.Data[4+16:])
		}
	}
	golden := goldenSnapshot(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := restored(t, golden)
		head := append([]byte{'T', 'E', 1, 1}, testCluster[:]...)
		data = append(head, data...)
		valid := validRequests(data)
		for index := uint64(21); index < 23; index++ { // the second is a resend
			m.Apply(&raft.Log{Index: index, Data: data})
		}
		if err := m.Err(); err != nil {
			if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) {
				t.Fatal(err)
			}
			return
		}
		data = snap(t, m)
		if valid {
			same(t, "through a snapshot", restored(t, data).Root(), m.Root())
		}
	})
}

// validRequests reports whether a node would have proposed the entry.
func validRequests(data []byte) bool {
	e, err := new(entry.Decoder).Decode(data)
	if err != nil {
		return false
	}
	for _, r := range e.Requests {
		switch {
		case r.Commits != nil:
			err = r.Commits.Validate()
		case r.Set != nil:
			err = r.Set.Validate()
		case r.Act != nil:
			err = r.Act.Validate()
		}
		if err != nil {
			return false
		}
	}
	return true
}

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
