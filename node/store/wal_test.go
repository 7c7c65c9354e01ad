package store

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	raftboltdb "github.com/hashicorp/raft-boltdb/v2"
	wal "github.com/hashicorp/raft-wal"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestAllOnSegments runs every test of this package once more, on segments.
func TestAllOnSegments(t *testing.T) {
	onlyOn(t, LogBoltDB, "this is that run")
	args := []string{"-test.timeout=15m"}
	if testing.Short() {
		args = append(args, "-test.short")
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), logStoreEnv+"="+string(LogWAL))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestOtherLogStoreIsRefused(t *testing.T) {
	for made, asked := range map[LogStore]LogStore{LogBoltDB: LogWAL, LogWAL: LogBoltDB} {
		dir := storeDir(t)
		s := open(t, Config{Dir: dir, LogStore: made})
		mustAppend(t, s, entries(1, 10, 1))
		if s.LogStore() != made {
			t.Errorf("it says %s", s.LogStore())
		}
		must(t, s.Close())
		_, err := Open(Config{Dir: dir, LogStore: asked, MustExist: true})
		if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "--log-store="+string(made)) {
			t.Errorf("%s on a folder of %s: %v", asked, made, err)
		}
		if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{1, 10}}) {
			t.Errorf("on disk: %v", got)
		}
		must(t, open(t, Config{Dir: dir, LogStore: made}).Close())
	}
	if _, err := Open(Config{Dir: storeDir(t), LogStore: "sqlite"}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("an unknown one: %v", err)
	}
}

// large makes entries of a quarter of a segment.
func large(from, to uint64) []*raft.Log {
	logs := entries(from, to, 1)
	for _, l := range logs {
		l.Type, l.Data = raft.LogNoop, noise(defaultSegmentBytes/4)
	}
	return logs
}

// TestPrefixGoesBySegments: a prefix is deleted a segment at a time; cut short it
// leaves a log that begins earlier, and is whole.
func TestPrefixGoesBySegments(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	var f fault
	cfg := Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook}}
	s := open(t, cfg)
	for i := uint64(1); i <= 40; i++ {
		must(t, s.Log().StoreLogs(large(i, i)))
	}
	files := len(segmentFiles(t, cfg.Dir))
	snapshot(t, s, 35, 1, []byte("state"))
	f.failNth(OpCompact, 3, errCrash)
	if err := s.Log().DeleteRange(1, 30); !errors.Is(err, errCrash) {
		t.Fatalf("got %v", err)
	}
	f.set(func(Op) error { return nil })
	s = again(t, s, cfg)
	first, _ := s.Log().FirstIndex()
	if first < 5 || first > 15 {
		t.Errorf("two slices went up to %d", first)
	}
	must(t, s.Log().DeleteRange(first, 30))
	if first, _ := s.Log().FirstIndex(); first != 31 {
		t.Errorf("begins at %d", first)
	}
	if left := len(segmentFiles(t, cfg.Dir)); left > files/2 {
		t.Errorf("%d of %d files are left", left, files)
	}
	var e raft.Log
	if err := s.Log().GetLog(30, &e); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("a deleted entry gave %v", err)
	}
	must(t, s.Close())
	if got := pieces(t, cfg.Dir); !slices.Equal(got, [][2]uint64{{31, 40}}) {
		t.Errorf("on disk: %v", got)
	}
}

// TestSlicedSuffixIsRefused: what would leave a gap, segments do not do.
func TestSlicedSuffixIsRefused(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	cfg := Config{Dir: storeDir(t), Unsafe: Unsafe{SlicedSuffix: true}}
	s := open(t, cfg)
	for i := uint64(1); i <= 12; i++ {
		must(t, s.Log().StoreLogs(large(i, i)))
	}
	var failure *Failure
	if err := s.Log().DeleteRange(2, 12); !errors.As(err, &failure) {
		t.Fatalf("got %v", err)
	}
	must(t, s.Close())
	if got := pieces(t, cfg.Dir); !slices.Equal(got, [][2]uint64{{1, 12}}) {
		t.Errorf("on disk: %v", got)
	}
}

// TestSegmentClosedAndNotFollowed lets the process die between the append that
// fills a segment and the making of the next. The library alone refuses every
// append from then on.
func TestSegmentClosedAndNotFollowed(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	var f fault
	cfg := Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook}}
	s := open(t, cfg)
	f.failNth(OpSegment, 1, errCrash)
	last := uint64(0)
	for s.Err() == nil && last < 100 {
		if s.Log().StoreLogs(large(last+1, last+1)) == nil {
			last++
		}
	}
	<-s.Failed()
	must(t, s.Close())

	db, err := raftboltdb.NewBoltStore(logPath(cfg.Dir))
	must(t, err)
	g := newGuard(Config{}.withDefaults())
	bare, err := wal.Open(walDir(cfg.Dir), wal.WithMetaStore(&walMeta{db: db, guard: g}), wal.WithLogger(hclog.NewNullLogger()))
	must(t, err)
	// What the failure was reported for may be on disk all the same.
	onDisk, err := bare.LastIndex()
	must(t, err)
	if onDisk < last || onDisk > last+1 {
		t.Fatalf("on disk up to %d, acknowledged up to %d", onDisk, last)
	}
	last = onDisk
	if err := bare.StoreLogs(large(last+1, last+1)); !errors.Is(err, wal.ErrSealed) {
		t.Errorf("the library alone: %v", err)
	}
	must(t, errors.Join(bare.Close(), db.Close()))
	g.close()

	f.set(func(Op) error { return nil })
	s = open(t, cfg)
	mustAppend(t, s, large(last+1, last+9))
	s = again(t, s, cfg)
	mustAppend(t, s, large(last+10, last+10))
	must(t, s.Close())
	if got := pieces(t, cfg.Dir); !slices.Equal(got, [][2]uint64{{1, last + 10}}) {
		t.Errorf("on disk: %v, want up to %d", got, last+10)
	}
}

// TestMissingSegment: one that held an entry is missed, whichever it is. The
// library makes the last one anew.
func TestMissingSegment(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	for name, at := range map[string]int{"the first": 0, "the last": -1} {
		t.Run(name, func(t *testing.T) {
			dir := storeDir(t)
			s := open(t, Config{Dir: dir})
			for i := uint64(1); i <= 9; i++ {
				must(t, s.Log().StoreLogs(large(i, i)))
			}
			must(t, s.Close())
			files := segmentFiles(t, dir)
			must(t, os.Remove(files[(at+len(files))%len(files)]))
			if _, err := Open(Config{Dir: dir}); !errors.Is(err, offset.ErrDamaged) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("one that was not begun", func(t *testing.T) {
		dir := storeDir(t)
		must(t, open(t, Config{Dir: dir}).Close())
		must(t, os.Remove(segmentFiles(t, dir)[0]))
		s := open(t, Config{Dir: dir})
		mustAppend(t, s, entries(1, 3, 1))
	})
}

// TestFlippedBitsInSegments: no flipped bit makes the log shorter, or other, in
// silence. The library does not look at most, and cuts the log off at others.
func TestFlippedBitsInSegments(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	r := rand.New(rand.NewPCG(seedOf(t), 1))
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	for i := uint64(1); i <= 10; i++ {
		must(t, s.Log().StoreLogs(large(i, i)))
	}
	mustAppend(t, s, entries(11, 40, 1))
	must(t, s.Log().StoreLogs(entries(41, 41, 1)))
	must(t, s.Close())
	files := segmentFiles(t, dir)
	for _, path := range []string{files[0], files[len(files)-1]} {
		good, err := os.ReadFile(path)
		must(t, err)
		written := len(bytes.TrimRight(good, "\x00"))
		for range 400 {
			bad := slices.Clone(good)
			at := r.IntN(written)
			if r.IntN(3) == 0 {
				at = max(0, written-1-r.IntN(64))
			}
			bad[at] ^= 1 << r.IntN(8)
			must(t, os.WriteFile(path, bad, 0o600))
			if s, err := Open(Config{Dir: dir}); err == nil {
				_ = s.Close()
				t.Fatalf("byte %d of %d in %s: opened", at, written, path)
			} else if !errors.Is(err, offset.ErrDamaged) {
				t.Fatalf("byte %d: %v", at, err)
			}
		}
		must(t, os.WriteFile(path, good, 0o600))
	}
	must(t, open(t, Config{Dir: dir}).Close())
}

// TestTornBatch lets the power fail while a batch is written: any of its sectors
// may be missing, and what was there before is whole. Then the log goes on.
func TestTornBatch(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	r := rand.New(rand.NewPCG(seedOf(t), 2))
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(1, 30, 1))
	must(t, s.Close())
	path := segmentFiles(t, dir)[0]
	before, err := os.ReadFile(path)
	must(t, err)
	s = open(t, Config{Dir: dir})
	batch := entries(31, 90, 1)
	must(t, s.Log().StoreLogs(batch))
	must(t, s.Close())
	after, err := os.ReadFile(path)
	must(t, err)
	from, to := len(bytes.TrimRight(before, "\x00"))/sectorBytes, (len(bytes.TrimRight(after, "\x00"))+sectorBytes-1)/sectorBytes
	for round := range 200 {
		torn := slices.Clone(after)
		lost := 0
		for k := from; k < to; k++ {
			if r.IntN(3) == 0 || lost == 0 && k == to-1 || round < to-from && k >= from+round {
				copy(torn[k*sectorBytes:(k+1)*sectorBytes], before[k*sectorBytes:])
				lost++
			}
		}
		must(t, os.WriteFile(path, torn, 0o600))
		s, err := Open(Config{Dir: dir})
		if err != nil {
			t.Fatalf("%d of %d sectors lost: %v", lost, to-from, err)
		}
		if last, _ := s.Log().LastIndex(); last != 30 {
			t.Fatalf("%d of %d sectors lost: the log ends at %d", lost, to-from, last)
		}
		must(t, s.Log().StoreLogs(entries(31, 33, 2)))
		must(t, s.Close())
		if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{1, 33}}) {
			t.Fatalf("on disk: %v", got)
		}
	}
}

// TestMissingSectorUnderWholeBatches: a sector that reads as zeros is what a crash
// leaves of the last batch only. Where a whole batch follows, what is missing was
// acknowledged.
func TestMissingSectorUnderWholeBatches(t *testing.T) {
	onlyOn(t, LogWAL, "only of segments")
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	for i := uint64(1); i <= 60; i++ {
		must(t, s.Log().StoreLogs(entries(i, i, 1)))
	}
	must(t, s.Close())
	path := segmentFiles(t, dir)[0]
	good, err := os.ReadFile(path)
	must(t, err)
	sectors := len(bytes.TrimRight(good, "\x00")) / sectorBytes
	for k := range sectors {
		bad := slices.Clone(good)
		clear(bad[k*sectorBytes : (k+1)*sectorBytes])
		must(t, os.WriteFile(path, bad, 0o600))
		if s, err := Open(Config{Dir: dir}); err == nil {
			last, _ := s.Log().LastIndex()
			_ = s.Close()
			t.Fatalf("sector %d of %d lost: opened, and the log ends at %d of 60", k, sectors, last)
		} else if !errors.Is(err, offset.ErrDamaged) {
			t.Fatalf("sector %d: %v", k, err)
		}
	}
	must(t, os.WriteFile(path, good, 0o600))
	must(t, open(t, Config{Dir: dir}).Close())
}

// seedOf draws a seed that is printed if the test fails.
func seedOf(t testing.TB) uint64 {
	seed := rand.Uint64()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return seed
}
