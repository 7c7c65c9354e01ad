package store

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// replayed is what Replay gives: the snapshot's data and the entries behind it.
func replayed(dir string) (from string, entries []uint64, err error) {
	err = Replay(dir, func(_ SnapshotInfo, r io.Reader) error {
		b, err := io.ReadAll(r)
		from = string(b)
		return err
	}, func(l *raft.Log) error { entries = append(entries, l.Index); return nil })
	return from, entries, err
}

// TestReplay gives what a start would have, or says what is missing.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		name string
		// log and snapshots are what was written; cut what of the log was compacted.
		log, cut  uint64
		snapshots []uint64
		damage    int // how many of the newest snapshots are damaged
		from      string
		first     uint64 // of the entries behind it; 0: none
		fails     bool
	}{
		{name: "the log alone", log: 20, first: 1},
		{name: "a snapshot and the log behind it", log: 20, snapshots: []uint64{10, 15}, from: "at 15", first: 16},
		{name: "a snapshot at the log's end", log: 20, snapshots: []uint64{20}, from: "at 20"},
		{name: "a snapshot beyond the log", log: 20, cut: 20, snapshots: []uint64{40}, from: "at 40"},
		{name: "a damaged snapshot, and an older one with the log", log: 20, cut: 8, snapshots: []uint64{10, 15}, damage: 1, from: "at 10", first: 11},
		{name: "a damaged snapshot, and a whole log", log: 20, snapshots: []uint64{15}, damage: 1, first: 1},
		{name: "a damaged snapshot, and a log that does not reach back", log: 20, cut: 12, snapshots: []uint64{10, 15}, damage: 1, fails: true},
		{name: "only damaged ones", log: 20, cut: 12, snapshots: []uint64{15}, damage: 1, fails: true},
		{name: "a log that begins late", log: 20, cut: 5, fails: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := storeDir(t)
			s := open(t, Config{Dir: dir})
			mustAppend(t, s, entries(1, c.log, 2))
			var ids []string
			for _, at := range c.snapshots {
				ids = append(ids, snapshot(t, s, at, 2, fmt.Appendf(nil, "at %d", at)))
			}
			if c.cut > 0 {
				must(t, s.Log().DeleteRange(1, c.cut))
			}
			must(t, s.Close())
			for _, id := range ids[len(ids)-c.damage:] {
				flip(t, filepath.Join(snapshotsDir(dir), id, dataName), 1)
			}
			before := listing(t, dir)
			from, list, err := replayed(dir)
			if c.fails {
				if !errors.Is(err, offset.ErrDamaged) || len(list) > 0 {
					t.Errorf("%v, with entries %v", err, list)
				}
				return
			}
			if err != nil || from != c.from {
				t.Fatalf("from %q, %v", from, err)
			}
			want := uint64(0)
			if c.first > 0 {
				want = c.log - c.first + 1
			}
			if uint64(len(list)) != want || want > 0 && (list[0] != c.first || list[want-1] != c.log) {
				t.Errorf("entries %v, want %d from %d on", list, want, c.first)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the folder was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// TestReplayMissesASnapshotThatWasThere: what is known to have been put in place
// and is gone is an error, and no shorter state.
func TestReplayMissesASnapshotThatWasThere(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, KeepSnapshots: 3})
	snapshot(t, s, 10, 2, []byte("old"))
	newest := snapshot(t, s, 30, 2, []byte("new"))
	must(t, s.Close())
	must(t, os.RemoveAll(filepath.Join(snapshotsDir(dir), newest)))
	if from, _, err := replayed(dir); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("from %q, %v", from, err)
	}
}

// TestReplayLeavesALogThatContradicts: what was never committed, and what the next
// start deletes, is not taken behind an installed snapshot.
func TestReplayLeavesALogThatContradicts(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, Unsafe: Unsafe{NoInstallGuard: true}}) // as if the process had ended before it deleted the log
	mustAppend(t, s, entries(1, 20, 2))
	snapshot(t, s, 15, 3, []byte("at 15"))
	must(t, s.Close())
	from, list, err := replayed(dir)
	if err != nil || from != "at 15" || len(list) > 0 {
		t.Errorf("from %q, entries %v, %v", from, list, err)
	}
	s = open(t, Config{Dir: dir})
	if last, err := s.Log().LastIndex(); err != nil || last != 0 {
		t.Errorf("a start has a log up to %d, %v", last, err)
	}
}
