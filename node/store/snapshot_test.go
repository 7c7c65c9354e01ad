package store

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestSnapshotComesBack(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	for i, n := range []int{0, 1, chunkBytes - 1, chunkBytes, 3*chunkBytes + 7} {
		index := uint64(i + 1)
		data := noise(n)
		id := snapshot(t, s, index, 2, data)
		got, err := readSnapshot(s, id)
		if err != nil || !bytes.Equal(got, data) {
			t.Errorf("%d bytes came back as %d, %v", n, len(got), err)
		}
		meta, r, err := s.Snapshots().Open(id)
		must(t, err)
		must(t, r.Close())
		if meta.ID != id || meta.Index != index || meta.Term != 2 || meta.Size != int64(n) || meta.Version != 1 ||
			len(meta.Configuration.Servers) != 3 || meta.ConfigurationIndex != 1 {
			t.Errorf("meta is %+v", meta)
		}
	}
	if got := listed(t, s); !slices.Equal(got, []uint64{5}) {
		t.Errorf("may start from %v: the log does not lead on from an older one", got)
	}
	must(t, s.Close())
	infos, err := ReadSnapshots(dir)
	if err != nil || len(infos) != 2 || infos[0].Meta.Index != 5 || infos[1].Meta.Index != 4 {
		t.Errorf("kept %+v, %v", infos, err)
	}
	s = open(t, Config{Dir: dir, MustExist: true})
	if got, err := readSnapshot(s, infos[0].Meta.ID); err != nil || !bytes.Equal(got, noise(3*chunkBytes+7)) {
		t.Errorf("after a restart: %d bytes, %v", len(got), err)
	}
}

// TestListNeedsTheLog: an older snapshot is listed where the log leads on from it
// to the newest.
func TestListNeedsTheLog(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), KeepSnapshots: 3})
	mustAppend(t, s, entries(1, 100, 1))
	snapshot(t, s, 40, 1, []byte("a"))
	snapshot(t, s, 60, 1, []byte("b"))
	snapshot(t, s, 90, 1, []byte("c"))
	if got := listed(t, s); !slices.Equal(got, []uint64{90, 60, 40}) {
		t.Errorf("with all of the log: %v", got)
	}
	must(t, s.Log().DeleteRange(1, 50))
	if got := listed(t, s); !slices.Equal(got, []uint64{90, 60}) {
		t.Errorf("with the log from 51 on: %v", got)
	}
	must(t, s.Log().DeleteRange(80, 100))
	if got := listed(t, s); !slices.Equal(got, []uint64{90}) {
		t.Errorf("with the log to 79: %v", got)
	}
}

// TestFailedSnapshotLeavesNothing makes each step of writing one fail.
func TestFailedSnapshotLeavesNothing(t *testing.T) {
	steps := []struct {
		op Op
		n  int
	}{
		{OpSnapshot, 1}, {OpSnapshot, 2}, {OpSnapshot, 3}, {OpSnapshot, 4}, {OpSnapshot, 5}, {OpSnapshot, 6},
		{OpSnapshotSync, 1}, {OpSnapshotSync, 2}, {OpSnapshotSync, 3},
		{OpSnapshotMove, 1}, {OpSnapshotMove, 2},
	}
	var f fault
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, SyncEvery: 2 * chunkBytes, Unsafe: Unsafe{Fault: f.hook}})
	mustAppend(t, s, entries(1, 10, 1))
	before := listing(t, snapshotsDir(dir))
	for _, step := range steps {
		f.failNth(step.op, step.n, syscall.ENOSPC)
		sink, err := s.Snapshots().Create(1, 10, 1, members, 1, nil)
		if err == nil {
			_, werr := sink.Write(noise(2*chunkBytes + 1))
			err = errors.Join(werr, sink.Close())
			if cerr := sink.Cancel(); cerr != nil {
				t.Errorf("%s %d: cancel gave %v", step.op, step.n, cerr)
			}
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%s %d: gave %v", step.op, step.n, err)
		}
		if after := listing(t, snapshotsDir(dir)); after != before {
			t.Errorf("%s %d: left\n%s", step.op, step.n, after)
		}
	}
	if s.Err() != nil {
		t.Errorf("a failed snapshot ended the store: %v", s.Err())
	}
	f.set(func(Op) error { return nil })
	snapshot(t, s, 10, 1, []byte("x"))
	if got := listed(t, s); !slices.Equal(got, []uint64{10}) {
		t.Errorf("afterwards: %v", got)
	}
}

func TestCancel(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	before := listing(t, snapshotsDir(dir))
	sink, err := s.Snapshots().Create(1, 10, 1, members, 1, nil)
	must(t, err)
	_, err = sink.Write(noise(chunkBytes * 2))
	must(t, err)
	must(t, sink.Cancel())
	if after := listing(t, snapshotsDir(dir)); after != before {
		t.Errorf("left\n%s", after)
	}
	// Raft would compact the log on a nil.
	if err := sink.Close(); err == nil {
		t.Error("a cancelled snapshot closes well")
	}
	if _, err := sink.Write([]byte("x")); err == nil {
		t.Error("a cancelled snapshot takes more")
	}

	sink, err = s.Snapshots().Create(1, 10, 1, members, 1, nil)
	must(t, err)
	must(t, errors.Join(sink.Close(), sink.Close(), sink.Cancel()))
	if got := listed(t, s); !slices.Equal(got, []uint64{10}) {
		t.Errorf("cancel after close took it away: %v", got)
	}
	if _, err := s.Snapshots().Create(0, 10, 1, members, 1, nil); err == nil {
		t.Error("version 0 is taken")
	}
}

func TestUnfinishedSnapshotsGoAtOpen(t *testing.T) {
	logger, logged := capture()
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	sink, err := s.Snapshots().Create(1, 10, 1, members, 1, nil)
	must(t, err)
	_, err = sink.Write(noise(2 * chunkBytes))
	must(t, err)
	left := listing(t, snapshotsDir(dir))
	if !strings.Contains(left, tmpSuffix) {
		t.Fatalf("nothing there yet: %s", left)
	}
	s = again(t, s, Config{Dir: dir, Logger: logger})
	if left := listing(t, snapshotsDir(dir)); strings.Contains(left, tmpSuffix) {
		t.Errorf("left: %s", left)
	}
	if !strings.Contains(logged.String(), "unfinished") {
		t.Error("nothing was logged")
	}
	if got := listed(t, s); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
	_ = sink.Cancel()
}

// TestDamagedSnapshotIsNeverPassedOnWhole flips one bit and reads.
func TestDamagedSnapshotIsNeverPassedOnWhole(t *testing.T) {
	const size = 3*chunkBytes + 100
	for _, at := range []int64{0, chunkBytes + 5, size - 1} {
		var told error
		logger, logged := capture()
		s := open(t, Config{Dir: storeDir(t), Logger: logger, OnDamage: func(err error) { told = err }})
		id := snapshot(t, s, 10, 1, noise(size))
		flip(t, filepath.Join(s.snaps.dir, id, dataName), at)
		got, err := readSnapshot(s, id)
		if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), dataName) || len(got) >= size {
			t.Errorf("bit at %d: %d bytes, %v", at, len(got), err)
		}
		if told == nil || s.Damage() == nil || !strings.Contains(logged.String(), "damaged") {
			t.Errorf("bit at %d: told %v, store says %v", at, told, s.Damage())
		}
		if got := listed(t, s); len(got) != 0 {
			t.Errorf("still listed: %v", got)
		}
		// The next good one takes its place.
		snapshot(t, s, 12, 1, noise(10))
		infos, err := scanSnapshots(s.snaps.dir)
		if err != nil || len(infos) != 1 || infos[0].Meta.Index != 12 {
			t.Errorf("kept %+v, %v", infos, err)
		}
	}
}

// TestDamagedNewest starts over a damaged snapshot: from the older one where the
// log leads on from it, else not at all.
func TestDamagedNewest(t *testing.T) {
	ways := map[string]func(testing.TB, string){
		"meta gone":      func(t testing.TB, dir string) { must(t, os.Remove(filepath.Join(dir, metaName))) },
		"meta damaged":   func(t testing.TB, dir string) { flip(t, filepath.Join(dir, metaName), 70) },
		"data gone":      func(t testing.TB, dir string) { must(t, os.Remove(filepath.Join(dir, dataName))) },
		"data cut short": func(t testing.TB, dir string) { must(t, os.Truncate(filepath.Join(dir, dataName), 5)) },
		"all of it gone": func(t testing.TB, dir string) { must(t, os.RemoveAll(dir)) },
	}
	for name, way := range ways {
		for _, logKept := range []bool{true, false} {
			t.Run(name+map[bool]string{true: ", log kept", false: ", log compacted"}[logKept], func(t *testing.T) {
				logger, logged := capture()
				dir := storeDir(t)
				s := open(t, Config{Dir: dir})
				mustAppend(t, s, entries(1, 100, 1))
				snapshot(t, s, 50, 1, noise(100))
				newest := snapshot(t, s, 90, 1, noise(100))
				if !logKept {
					must(t, s.Log().DeleteRange(1, 80))
				}
				must(t, s.Close())
				way(t, filepath.Join(snapshotsDir(dir), newest))
				before := listing(t, dir)
				s, err := Open(Config{Dir: dir, Logger: logger})
				if !logKept {
					if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), snapshotsName) {
						t.Errorf("got %v", err)
					}
					if after := listing(t, dir); after != before {
						t.Errorf("the folder was\n%s\nand is\n%s", before, after)
					}
					return
				}
				must(t, err)
				defer func() { _ = s.Close() }()
				if got := listed(t, s); !slices.Equal(got, []uint64{50}) {
					t.Errorf("may start from %v", got)
				}
				if name != "all of it gone" && !strings.Contains(logged.String(), newest) {
					t.Error("nothing was logged")
				}
			})
		}
	}
}

func TestSnapshotsOfTwoHistories(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	snapshot(t, s, 100, 5, noise(10))
	for _, c := range [][2]uint64{{50, 7}, {100, 6}, {120, 4}} {
		if _, err := s.Snapshots().Create(1, c[0], c[1], members, 1, nil); !errors.Is(err, offset.ErrDamaged) {
			t.Errorf("index %d of term %d is taken beside 100 of 5: %v", c[0], c[1], err)
		}
	}
	other := open(t, Config{Dir: storeDir(t)})
	id := snapshot(t, other, 50, 7, noise(10))
	must(t, s.Close())
	must(t, os.Rename(filepath.Join(other.snaps.dir, id), filepath.Join(snapshotsDir(dir), id)))
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), "two clusters") {
		t.Errorf("got %v", err)
	}
}

func TestSnapshotIsSyncedOnTheWay(t *testing.T) {
	var f fault
	s := open(t, Config{Dir: storeDir(t), SyncEvery: 4 * chunkBytes, Unsafe: Unsafe{Fault: f.hook}})
	var ops []Op
	f.set(func(op Op) error {
		if len(ops) == 0 || ops[len(ops)-1] != op {
			ops = append(ops, op)
		}
		return nil
	})
	snapshot(t, s, 10, 1, noise(10*chunkBytes))
	want := []Op{
		OpSnapshot, OpSnapshotSync, OpSnapshot, OpSnapshotSync, OpSnapshot, OpSnapshotSync, // 4, 4 and 2 chunks
		OpSnapshot, OpSnapshotSync, // meta, folder
		OpSnapshotMove, OpSet,
	}
	if !slices.Equal(ops, want) {
		t.Errorf("order is %q", ops)
	}
}

func TestPace(t *testing.T) {
	// The member's own snapshot: its log reaches the index.
	s := open(t, Config{Dir: storeDir(t), Pace: 4 * chunkBytes})
	mustAppend(t, s, entries(1, 20, 1))
	start := time.Now()
	snapshot(t, s, 10, 1, noise(2*chunkBytes))
	if took := time.Since(start); took < 400*time.Millisecond || took > 3*time.Second {
		t.Errorf("half a second's bytes took %v", took)
	}
	// The leader's.
	start = time.Now()
	snapshot(t, s, 30, 1, noise(20*chunkBytes))
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("an installed one was paced: %v", took)
	}
}

// TestASnapshotIsGivenUp while it waits for its pace, and at each later step.
func TestASnapshotIsGivenUp(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), Pace: 1})
	mustAppend(t, s, entries(1, 20, 1))
	begin := func(index uint64) raft.SnapshotSink {
		sink, err := s.Snapshots().Create(1, index, 1, members, 1, nil)
		must(t, err)
		return sink
	}
	waiting, written := begin(5), begin(6)
	_, err := written.Write(noise(1))
	must(t, err)
	done := make(chan error)
	go func() {
		_, err := waiting.Write(noise(2 * chunkBytes)) // three days at this pace
		done <- err
	}()
	s.Abandon()
	if err := <-done; !errors.Is(err, errAbandoned) {
		t.Errorf("the one under way: %v", err)
	}
	must(t, waiting.Cancel())
	if err := written.Close(); !errors.Is(err, errAbandoned) {
		t.Errorf("the one that was written: %v", err)
	}
	if _, err := s.Snapshots().Create(1, 7, 1, members, 1, nil); !errors.Is(err, errAbandoned) {
		t.Errorf("a further one: %v", err)
	}
	if left, err := os.ReadDir(snapshotsDir(s.cfg.Dir)); err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
	s.Abandon()
	must(t, s.Close())
}

func TestOpenOfAnIDThatIsNone(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t)})
	for _, id := range []string{"", "..", "../store.json", snapshotName(1, 1, 0) + "/../..", snapshotName(7, 7, 0)} {
		if _, _, err := s.Snapshots().Open(id); err == nil {
			t.Errorf("%q opened", id)
		}
	}
}

// TestOldestReaderKeepsItsSnapshot: a follower that still gets an old snapshot
// gets it whole.
func TestOldestReaderKeepsItsSnapshot(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), KeepSnapshots: 1})
	data := noise(2 * chunkBytes)
	_, r, err := s.Snapshots().Open(snapshot(t, s, 1, 1, data))
	must(t, err)
	snapshot(t, s, 2, 1, nil)
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	must(t, r.Close())
}

// TestSameIndexAgain: of several snapshots of one index the last one is kept and
// used.
func TestSameIndexAgain(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), KeepSnapshots: 1})
	for i := range 12 {
		id := snapshot(t, s, 5, 1, []byte{byte(i)})
		metas, err := s.Snapshots().List()
		if err != nil || len(metas) != 1 || metas[0].ID != id {
			t.Fatalf("after %s: %+v, %v", id, metas, err)
		}
	}
}

func FuzzParseMeta(f *testing.F) {
	good, err := snapshotMeta{Index: 7, Term: 2, Configuration: members, ConfigurationIndex: 1, Size: 3, DataSum: "00000000"}.encode()
	must(f, err)
	f.Add(good, false)
	f.Add([]byte(`{"magic":"tidemark-snapshot","version":1}`), false)
	f.Add([]byte(`{"index":7,"term":2,"size":3}`), true)
	f.Fuzz(func(t *testing.T, data []byte, inner bool) {
		if inner { // what is behind a sum that is right
			data = fmt.Appendf(nil, `{"magic":"tidemark-snapshot","version":1,"crc32c":%q,"meta":%s}`, sumText(crc32.Checksum(data, castagnoli)), data)
		}
		m, err := parseMeta(data)
		if err != nil {
			return
		}
		if m.Index == 0 || m.Term == 0 || m.Size < 0 {
			t.Fatalf("%q read as %+v", data, m)
		}
		again, err := m.encode()
		must(t, err)
		if _, err := parseMeta(again); err != nil {
			t.Errorf("%q read, and written again is not: %v", data, err)
		}
	})
}

func FuzzParseMarker(f *testing.F) {
	f.Add([]byte(`{"magic":"tidemark-store","version":1,"state":"ready","store":"00"}`))
	f.Add([]byte(`{"magic":"tidemark-store","version":2,"state":"creating","store":"00","log":"wal"}`))
	f.Add([]byte(`{"magic":"tidemark-store","version":3,"state":"ready","store":"00"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := parseMarker("store.json", data)
		if err != nil {
			return
		}
		if plain := m.Version == 1 && m.Log == ""; m.Store == "" || m.Magic != markerMagic || !plain && (m.Version != 2 || m.Log != LogWAL) {
			t.Errorf("%q read as %+v", data, m)
		}
	})
}

// TestBitsOfMeta flips each bit of a meta file.
func TestBitsOfMeta(t *testing.T) {
	good, err := snapshotMeta{Index: 7, Term: 2, Configuration: members, Size: 3, DataSum: "00000000"}.encode()
	must(t, err)
	for i := range (len(good) - 1) * 8 {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		m, err := parseMeta(bad)
		if err == nil && (m.Index != 7 || m.Term != 2 || m.Size != 3 || len(m.Configuration.Servers) != 3) {
			t.Errorf("bit %d: read as %+v", i, m)
		}
	}
}

func flip(t testing.TB, path string, at int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	must(t, err)
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must(t, err)
	b[0] ^= 4
	_, err = f.WriteAt(b, at)
	must(t, errors.Join(err, f.Close()))
}

var _ raft.SnapshotStore = (*snapshots)(nil)
