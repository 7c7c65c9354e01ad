package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

var update = flag.Bool("update", false, "write the golden file anew; a change makes backups that are kept unreadable")

const goldenFile = "testdata/version1/state.backup"

var header = Header{Time: 1_764_444_000_123, Node: "n1/0a1b2c", Build: "v0.9.0"}

// state is the one that the golden snapshot holds, which has something of everything.
func state(t testing.TB) *table.Root {
	t.Helper()
	data, err := os.ReadFile("../testdata/level1/state.snapshot")
	if err != nil {
		t.Fatal(err)
	}
	tab, err := fsm.ReadSnapshot(bytes.NewReader(data), offset.ClusterID{})
	if err != nil {
		t.Fatal(err)
	}
	return tab.Root()
}

func written(t testing.TB, h Header, root *table.Root) []byte {
	t.Helper()
	var out bytes.Buffer
	id, err := Write(&out, h, root)
	sum := new(Sum)
	for _, b := range bytes.SplitAfter(out.Bytes(), []byte{0}) {
		sum.Write(b)
	}
	if got, err := sum.ID(); got != id || err != nil {
		t.Errorf("summed up it has the id %s, %v; it is %s", got, err, id)
	}
	if err != nil || !bytes.HasSuffix(out.Bytes(), id[:]) {
		t.Fatalf("written with the id %s: %v", id, err)
	}
	return out.Bytes()
}

func read(data []byte) (*Backup, error) { return Read(bytes.NewReader(data), int64(len(data))) }

// TestGolden fails on any change of a byte that is written, and reads what the
// first version wrote.
func TestGolden(t *testing.T) {
	data := written(t, header, state(t))
	if *update {
		if err := os.MkdirAll(filepath.Dir(goldenFile), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(goldenFile, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := golden(t)
	if !bytes.Equal(data, want) {
		t.Fatalf("the backup is\n%x\nand was, in %s,\n%x", data, goldenFile, want)
	}
	b, err := read(want)
	if err != nil {
		t.Fatal(err)
	}
	root := state(t)
	if b.Header != header || b.Root.Digest() != root.Digest() || b.Root.Index() != 20 || b.Root.Cluster() != root.Cluster() || b.Bytes != int64(len(want)) {
		t.Errorf("%+v with index %d, digest %s of cluster %s", b, b.Root.Index(), b.Root.Digest(), b.Root.Cluster())
	}
	if sum := sha256.Sum256(want[:len(want)-32]); b.ID != sum || !bytes.Equal(want[len(want)-32:], sum[:]) {
		t.Errorf("its id is %s; the sum of what is before its last 32 bytes %x", b.ID, sum)
	}
}

func golden(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestEveryChangedByteIsRefused changes each byte of a backup in each of its
// bits, and all at once; nothing but the file itself passes.
func TestEveryChangedByteIsRefused(t *testing.T) {
	data := golden(t)
	for i := range data {
		for _, change := range []byte{1, 2, 4, 8, 16, 32, 64, 128, 255} {
			bad := bytes.Clone(data)
			bad[i] ^= change
			if _, err := read(bad); !errors.Is(err, offset.ErrDamaged) {
				t.Fatalf("byte %d changed by %#x: %v", i, change, err)
			}
		}
	}
}

// TestChangedByteUnderARightSum: the sums inside find a change that the sum of
// all was made to fit, in every byte but those that say when, where and by what
// the backup was made, which the head's own sum covers.
func TestChangedByteUnderARightSum(t *testing.T) {
	data := golden(t)
	for i := range len(data) - sumLen {
		bad := resummed(flipped(data, i))
		if _, err := read(bad); !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
}

func flipped(data []byte, i int) []byte {
	bad := bytes.Clone(data)
	bad[i] ^= 1 << 6
	return bad
}

// resummed puts in the sum that the content asks for.
func resummed(data []byte) []byte {
	sum := sha256.Sum256(data[:len(data)-sumLen])
	copy(data[len(data)-sumLen:], sum[:])
	return data
}

// TestCutOffIsRefused (hashicorp/consul#7697, #6893): a backup that lost its last
// bytes on the way, any number of them, is none; and nothing may follow it.
func TestCutOffIsRefused(t *testing.T) {
	data := golden(t)
	for n := range data {
		_, err := read(data[:n])
		if !errors.Is(err, offset.ErrDamaged) {
			t.Fatalf("the first %d bytes of %d: %v", n, len(data), err)
		}
		sum := new(Sum)
		sum.Write(data[:n])
		if _, err := sum.ID(); !errors.Is(err, offset.ErrDamaged) {
			t.Fatalf("the first %d bytes of %d, summed up: %v", n, len(data), err)
		}
	}
	if _, err := read(append(bytes.Clone(data), 0)); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("with a byte behind it: %v", err)
	}
	if _, err := Read(bytes.NewReader(data[:len(data)-5]), int64(len(data))); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("a file that gives less than its size: %v", err)
	}
	_, err := read(data[:len(data)-1])
	for _, want := range []string{"SHA-256", "cut off", "those before it have"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the message %q lacks %q", err, want)
		}
	}
}

// TestNewerIsRefused: neither a version nor a level above this build's is guessed at.
func TestNewerIsRefused(t *testing.T) {
	version := golden(t)
	version[versionAt] = Version + 1
	head := len(header.encode())
	level := golden(t)
	level[head+8] = offset.FormatLevel + 1
	binary.BigEndian.PutUint32(level[head+28:], crc32.Checksum(level[head:head+28], castagnoli))
	for name, data := range map[string][]byte{"version": version, "level": level} {
		if _, err := read(resummed(data)); !errors.Is(err, offset.ErrLevel) || !strings.Contains(err.Error(), "newer") {
			t.Errorf("a higher %s: %v", name, err)
		}
	}
}

// TestHead: long texts are shortened, so that what is written can be read.
func TestHead(t *testing.T) {
	h := Header{Node: strings.Repeat("n", 2*maxText), Build: ""}
	b, err := read(written(t, h, state(t)))
	if err != nil || b.Node != strings.Repeat("n", maxText) || b.Build != "" {
		t.Errorf("%+v, %v", b, err)
	}
}

// FuzzRead: whatever the bytes are, they are refused with one of two errors, or
// read as a backup that is written again the same; also past the sum of all,
// which is made right.
func FuzzRead(f *testing.F) {
	f.Add(golden(f))
	f.Add(written(f, Header{}, table.New(offset.ClusterID{1}).Root()))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= sumLen {
			data = resummed(bytes.Clone(data))
		}
		b, err := read(data)
		if err != nil {
			if !errors.Is(err, offset.ErrDamaged) && !errors.Is(err, offset.ErrLevel) {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		again, err := read(written(t, b.Header, b.Root))
		if err != nil || again.Root.Digest() != b.Root.Digest() || again.Header != b.Header {
			t.Fatalf("written again it is %+v, %v; it was %+v", again, err, b)
		}
	})
}
