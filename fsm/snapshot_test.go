package fsm

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func restoreInto(t testing.TB, f *FSM, data []byte) {
	t.Helper()
	if err := f.Restore(io.NopCloser(bytes.NewReader(data))); err != nil {
		t.Fatal(err)
	}
}

// refused fails unless the snapshot is refused for want and f stays as it is.
func refused(t testing.TB, f *FSM, what string, data []byte, want ...error) {
	t.Helper()
	before := f.Root()
	err := f.Restore(io.NopCloser(bytes.NewReader(data)))
	if err == nil {
		t.Fatalf("%s: it is restored", what)
	}
	ok := false
	for _, w := range want {
		ok = ok || errors.Is(err, w)
	}
	if !ok {
		t.Fatalf("%s: refused with %v, wanted %v", what, err, want)
	}
	if f.Root() != before || f.Err() != nil {
		t.Fatalf("%s: the state changed, or the FSM latched: %v", what, f.Err())
	}
}

// small returns a snapshot of a state that has something of everything.
func small(t testing.TB) []byte {
	t.Helper()
	for seed := uint64(0); ; seed++ {
		h := newHistory(t, seed, 60)
		if r := h.live.Root(); r.Import() != nil && len(r.Members()) > 0 && len(r.Claims()) > 0 && r.Rest().StagedQueues > 0 {
			return snap(t, h.live)
		}
	}
}

func TestSnapshotCutAnywhereIsRefused(t *testing.T) {
	data := small(t)
	f := newHistory(t, 1, 20).live
	r := rand.New(rand.NewPCG(9, 9))
	for n := range data {
		if n < 200 || n > len(data)-200 || r.IntN(8) == 0 {
			refused(t, f, "cut", data[:n], offset.ErrDamaged)
		}
	}
	refused(t, f, "a byte more", append(bytes.Clone(data), 0), offset.ErrDamaged)
	refused(t, f, "twice", append(bytes.Clone(data), data...), offset.ErrDamaged)
	restoreInto(t, f, data)
}

// Each bit of the head, the first block and the end is flipped, and one bit in
// every fourth byte between.
func TestSnapshotWithAFlippedBitIsRefused(t *testing.T) {
	data := small(t)
	f := newHistory(t, 1, 20).live
	r := rand.New(rand.NewPCG(8, 8))
	for i := range data {
		first, n := r.IntN(8), 1
		if i < 100 || i > len(data)-100 {
			first, n = 0, 8
		} else if r.IntN(4) > 0 {
			continue
		}
		for bit := first; bit < first+n; bit++ {
			data[i] ^= 1 << bit
			refused(t, f, "flipped", data, offset.ErrDamaged)
			data[i] ^= 1 << bit
		}
	}
	restoreInto(t, f, data)
}

func TestSnapshotOfAnotherClusterOrLevelIsRefused(t *testing.T) {
	h := newHistory(t, 1, 20)
	other := New(Config{Cluster: offset.ClusterID{9}})
	refused(t, h.live, "another cluster's", snap(t, other), offset.ErrForeignCluster)

	rest := *h.live.Root().Rest()
	rest.Level = offset.FormatLevel + 1
	var high bytes.Buffer
	s := snapshotWriter{w: &high}
	if err := s.head(&rest); err != nil {
		t.Fatal(err)
	}
	refused(t, h.live, "of a higher level", append(high.Bytes(), "what only a newer build reads"...), offset.ErrLevel)
	rest.Level = 0
	high.Reset()
	if err := s.head(&rest); err != nil {
		t.Fatal(err)
	}
	refused(t, h.live, "of level 0", append(high.Bytes(), snap(t, h.live)[snapshotHeadLen:]...), offset.ErrDamaged)
}

// blocks takes a snapshot apart.
func blocks(t testing.TB, data []byte) (list [][]byte) {
	t.Helper()
	list = append(list, data[:snapshotHeadLen])
	for rest := data[snapshotHeadLen:]; len(rest) > 0; {
		n := frameLen + int(rest[1])<<24 + int(rest[2])<<16 + int(rest[3])<<8 + int(rest[4]) + sumLen
		list = append(list, rest[:n])
		rest = rest[n:]
	}
	return list
}

func TestSnapshotWithBlocksMovedIsRefused(t *testing.T) {
	list := blocks(t, small(t))
	f := newHistory(t, 1, 20).live
	for i := 1; i < len(list); i++ {
		without := append(append([][]byte{}, list[:i]...), list[i+1:]...)
		refused(t, f, "a block left out", bytes.Join(without, nil), offset.ErrDamaged)
		double := append(append([][]byte{}, list[:i+1]...), list[i:]...)
		refused(t, f, "a block twice", bytes.Join(double, nil), offset.ErrDamaged)
		if i > 1 {
			moved := append([][]byte{}, list...)
			moved[i], moved[i-1] = moved[i-1], moved[i]
			refused(t, f, "two blocks changed places", bytes.Join(moved, nil), offset.ErrDamaged)
		}
	}
}

// resealed makes sums right again after a change of the content, as a writer
// with a bug would: counts and digest must find it.
func resealed(t testing.TB, list [][]byte, change func(block int, content []byte)) []byte {
	t.Helper()
	out := bytes.Clone(list[0])
	for i, b := range list[1:] {
		b = bytes.Clone(b[:len(b)-sumLen])
		change(i, b[frameLen:])
		sum := blockSum(uint64(i), b)
		out = append(out, b...)
		out = append(out, byte(sum>>24), byte(sum>>16), byte(sum>>8), byte(sum))
	}
	return out
}

func TestSnapshotWithRightSumsButOtherContentIsRefused(t *testing.T) {
	data := small(t)
	list := blocks(t, data)
	f := newHistory(t, 1, 20).live
	restoreInto(t, f, resealed(t, list, func(int, []byte) {})) // the tool itself changes nothing
	f = newHistory(t, 1, 20).live
	r := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		at := r.IntN(len(list) - 1)
		n := len(list[at+1]) - frameLen - sumLen
		if n == 0 {
			continue
		}
		pos, bit := r.IntN(n), byte(1)<<r.IntN(8)
		forged := resealed(t, list, func(i int, content []byte) {
			if i == at {
				content[pos] ^= bit
			}
		})
		refused(t, f, "forged", forged, offset.ErrDamaged, offset.ErrLevel)
	}
}

func TestSnapshotIsWrittenInPieces(t *testing.T) {
	tab := filled(60_000)
	var sink memSink
	if err := WriteSnapshot(&sink, tab.Root()); err != nil {
		t.Fatal(err)
	}
	if sink.largest > 512<<10 || sink.Len() < 400_000 {
		t.Fatalf("%d bytes, in pieces of up to %d", sink.Len(), sink.largest)
	}
	got, err := ReadSnapshot(bytes.NewReader(sink.Bytes()), testCluster)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "read", got.Root(), tab.Root())
}

func TestReaderErrorIsPassedOn(t *testing.T) {
	data := small(t)
	broken := errors.New("the disk is broken")
	for _, n := range []int{0, 10, snapshotHeadLen, 100, len(data) - 3, len(data)} {
		r := io.MultiReader(bytes.NewReader(data[:n]), errReader{broken})
		if _, err := ReadSnapshot(r, testCluster); !errors.Is(err, broken) || errors.Is(err, offset.ErrDamaged) {
			t.Fatalf("after %d bytes: %v", n, err)
		}
	}
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }
