package store

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestPrefixGoesInSlices(t *testing.T) {
	onlyOn(t, LogBoltDB, "segments are deleted whole: TestPrefixGoesBySegments")
	var f fault
	dir := storeDir(t)
	cfg := Config{Dir: dir, Unsafe: Unsafe{Fault: f.hook}}
	s := open(t, cfg)
	mustAppend(t, s, entries(1, 2000, 1))
	before := s.LogBytes()
	slicesDone := 0
	f.set(func(op Op) error {
		if op == OpCompact {
			slicesDone++
		}
		return nil
	})
	must(t, s.Log().DeleteRange(1, 1500))
	if slicesDone != 6 { // 1500 / 256, rounded up
		t.Errorf("%d slices", slicesDone)
	}
	if got, want := s.LogBytes(), before/4; got < want-2000 || got > want+2000 {
		t.Errorf("%d of %d bytes are left", got, before)
	}
	if got := s.LogBytesAfter(1900); got < 100*80 || got > 100*110 {
		t.Errorf("the last 100 entries have %d bytes", got)
	}
	var e raft.Log
	if err := s.Log().GetLog(1500, &e); !errors.Is(err, raft.ErrLogNotFound) {
		t.Errorf("a deleted entry gave %v", err)
	}

	// A crash in between leaves a log that begins earlier, and is whole.
	mustAppend(t, s, entries(2001, 4000, 1))
	snapshot(t, s, 3900, 1, []byte("state"))
	f.failNth(OpCompact, 3, errCrash)
	if err := s.Log().DeleteRange(1501, 3500); !errors.Is(err, errCrash) {
		t.Fatalf("got %v", err)
	}
	f.set(func(Op) error { return nil })
	s = again(t, s, cfg)
	must(t, s.Close())
	if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{1501 + 2*sliceEntries, 4000}}) {
		t.Errorf("on disk: %v", got)
	}
}

// TestSuffixGoesAtOnce lets the process die while the end of the log is cut off.
// In slices that leaves entries that were to be gone behind a gap: the library
// takes them for the log's end, and a start finds the gap.
func TestSuffixGoesAtOnce(t *testing.T) {
	for _, sliced := range []bool{true, false} {
		if sliced && defaultLogStore == LogWAL {
			continue // raft-wal refuses it: TestSlicedSuffixIsRefused
		}
		t.Run(map[bool]string{true: "sliced", false: "at once"}[sliced], func(t *testing.T) {
			var f fault
			dir := storeDir(t)
			cfg := Config{Dir: dir, Unsafe: Unsafe{SlicedSuffix: sliced, Fault: f.hook}}
			s := open(t, cfg)
			mustAppend(t, s, entries(1, 1000, 1))
			f.failNth(OpTruncate, map[bool]int{true: 2, false: 1}[sliced], errCrash)
			if err := s.Log().DeleteRange(501, 1000); !errors.Is(err, errCrash) {
				t.Fatalf("got %v", err)
			}
			must(t, s.Close())
			want := [][2]uint64{{1, 1000}}
			if sliced {
				want = [][2]uint64{{1, 500}, {501 + sliceEntries, 1000}}
			}
			if got := pieces(t, dir); !slices.Equal(got, want) {
				t.Errorf("on disk: %v", got)
			}
			f.set(func(Op) error { return nil })
			s, err := Open(cfg)
			if !sliced {
				must(t, err)
				must(t, s.Log().DeleteRange(501, 1000))
				mustAppend(t, s, entries(501, 501, 2))
				must(t, s.Close())
				if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{1, 501}}) {
					t.Errorf("on disk afterwards: %v", got)
				}
				return
			}
			if !errors.Is(err, offset.ErrDamaged) {
				t.Errorf("a start over the gap gave %v", err)
			}
		})
	}
}

func TestWholeLogGoesAtOnce(t *testing.T) {
	var f fault
	s := open(t, Config{Dir: storeDir(t), Unsafe: Unsafe{Fault: f.hook}})
	mustAppend(t, s, entries(10, 1500, 1))
	var ops []Op
	f.set(func(op Op) error {
		if op != OpSegment { // they are inside the transaction, or only give room back
			ops = append(ops, op)
		}
		return nil
	})
	must(t, s.Log().DeleteRange(10, 1500))
	if !slices.Equal(ops, []Op{OpTruncate}) {
		t.Errorf("took %q", ops)
	}
	mustAppend(t, s, entries(2000, 2001, 1))
	if first, _ := s.Log().FirstIndex(); first != 2000 {
		t.Errorf("begins at %d", first)
	}
}

func TestLogIsNotMonotonic(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t)})
	if m, ok := s.Log().(raft.MonotonicLogStore); ok && m.IsMonotonic() {
		t.Error("it says so")
	}
}

// TestReadsDuringCompaction appends and reads while a prefix goes.
func TestReadsDuringCompaction(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), CacheEntries: 64})
	mustAppend(t, s, entries(1, 6000, 1))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Log().DeleteRange(1, 5500); err != nil {
			t.Error(err)
		}
	})
	wg.Go(func() {
		for i := uint64(6001); i <= 6100; i++ {
			if err := s.Log().StoreLogs(entries(i, i, 1)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for i := uint64(5501); i <= 6000; i++ {
			var e raft.Log
			if err := s.Log().GetLog(i, &e); err != nil || string(e.Data) != fmt.Sprintf("entry %d of term 1", i) {
				t.Errorf("entry %d: %q, %v", i, e.Data, err)
			}
		}
	})
	wg.Wait()
}

func TestNewestEntriesComeFromMemory(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t), CacheEntries: 10})
	logs := entries(1, 30, 1)
	mustAppend(t, s, logs)
	for _, c := range []struct {
		index  uint64
		shared bool
	}{{30, true}, {21, true}, {20, false}} {
		var e raft.Log
		must(t, s.Log().GetLog(c.index, &e))
		if shared := &e.Data[0] == &logs[c.index-1].Data[0]; shared != c.shared || string(e.Data) != string(logs[c.index-1].Data) {
			t.Errorf("entry %d from memory: %v", c.index, shared)
		}
	}
}

func TestTailIsBounded(t *testing.T) {
	tl := newTail(8, 10*(100+entryOverhead))
	entry := func(i uint64, n int) []*raft.Log { return []*raft.Log{{Index: i, Data: make([]byte, n)}} }
	holds := func() (held []uint64) {
		for i := range uint64(100) {
			var e raft.Log
			if tl.get(i, &e) {
				if e.Index != i {
					t.Fatalf("entry %d is %d", i, e.Index)
				}
				held = append(held, i)
			}
		}
		return held
	}
	check := func(what string, want ...uint64) {
		t.Helper()
		if got := holds(); !slices.Equal(got, want) {
			t.Errorf("%s: holds %v, want %v", what, got, want)
		}
	}
	for i := uint64(1); i <= 12; i++ {
		tl.add(entry(i, 100))
	}
	check("by count", 5, 6, 7, 8, 9, 10, 11, 12)
	tl.add(entry(13, 700))
	check("by bytes", 8, 9, 10, 11, 12, 13)
	tl.add(entry(14, 5000))
	check("too large for it")
	tl.add(entry(15, 1))
	tl.add(entry(16, 1))
	tl.add(entry(17, 1))
	tl.forget(3, 15)
	check("prefix gone", 16, 17)
	tl.forget(17, 17)
	check("suffix gone", 16)
	tl.add(entry(17, 2))
	check("overwritten", 16, 17)
	tl.add(entry(40, 1))
	check("after a gap", 40)
	tl.forget(1, 99)
	check("all gone")
	if tl.bytes != 0 {
		t.Errorf("empty, with %d bytes", tl.bytes)
	}
}

// TestLedgerIsTheLog compares the ledger with a plain map over random histories.
func TestLedgerIsTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l ledger
		model := map[uint64]int64{}
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				i, n := rapid.Uint64Range(1, 40).Draw(t, "index"), rapid.IntRange(0, 9).Draw(t, "size")
				l.put(i, n)
				model[i] = int64(n)
			},
			"remove": func(t *rapid.T) {
				lo, hi := rapid.Uint64Range(1, 40).Draw(t, "lo"), rapid.Uint64Range(1, 40).Draw(t, "hi")
				l.remove(lo, hi)
				for i := lo; i <= hi; i++ {
					delete(model, i)
				}
			},
			"": func(t *rapid.T) { checkLedger(t, &l, model) },
		})
	})
}

func checkLedger(t *rapid.T, l *ledger, model map[uint64]int64) {
	var total int64
	var all []uint64
	for i, n := range model {
		total += n
		all = append(all, i)
	}
	slices.Sort(all)
	var listed []uint64
	for k, p := range l.list() {
		if k > 0 && l.list()[k-1][1]+1 >= p[0] {
			t.Fatalf("pieces touch: %v", l.list())
		}
		for i := p[0]; i <= p[1]; i++ {
			listed = append(listed, i)
		}
	}
	if got, _ := l.bytes(); got != total || !slices.Equal(listed, all) {
		t.Fatalf("ledger holds %d bytes of %v, log %d of %v", got, listed, total, all)
	}
	index := rapid.Uint64Range(0, 41).Draw(t, "from")
	var after int64
	for i, n := range model {
		if i > index {
			after += n
		}
	}
	if got := l.after(index); got != after {
		t.Fatalf("after %d: %d, want %d", index, got, after)
	}
	budget := rapid.Int64Range(0, 60).Draw(t, "budget")
	var fit uint64
	for sum := int64(0); fit < uint64(len(all)); fit++ {
		if sum += model[all[uint64(len(all))-fit-1]]; sum > budget {
			break
		}
	}
	if got := l.within(budget); got != max(fit, 1) {
		t.Fatalf("within %d: %d, want %d", budget, got, fit)
	}
}

func TestLedgerReaches(t *testing.T) {
	var l ledger
	for _, i := range []uint64{3, 4, 5, 8, 9, 10} {
		l.put(i, 1)
	}
	for _, c := range []struct {
		index, goal uint64
		want        bool
	}{
		{7, 0, true}, {7, 10, true}, {8, 10, true}, {7, 11, false}, {6, 0, false}, {2, 0, false}, {2, 5, false},
		{10, 10, true}, {10, 11, false}, {12, 12, true}, {12, 0, true},
	} {
		if got := l.reaches(c.index, c.goal); got != c.want {
			t.Errorf("from %d to %d: %v", c.index, c.goal, got)
		}
	}
	var empty ledger
	if !empty.reaches(0, 0) || empty.reaches(0, 1) {
		t.Error("an empty log")
	}
}

func TestAppendedOnlyGrows(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t)})
	mustAppend(t, s, entries(1, 100, 1))
	before := s.Appended()
	must(t, s.Log().DeleteRange(1, 100))
	mustAppend(t, s, entries(101, 200, 1))
	if s.Appended() < before*19/10 || s.LogBytes() > before*11/10 {
		t.Errorf("appended %d then %d, holding %d", before, s.Appended(), s.LogBytes())
	}
	if n := s.EntriesWithin(int64(10 * (20 + s.log.size(&raft.Log{})))); n < 8 || n > 10 {
		t.Errorf("%d entries within the size of ten", n)
	}
}
