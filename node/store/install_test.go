package store

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/hashicorp/raft"
)

// divided gives a follower a log whose end, from 11 on, was never committed; the
// cluster has gone on in term 3 and compacted beyond it.
func divided(t *testing.T, s *Store) {
	t.Helper()
	mustAppend(t, s, []*raft.Log{{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(members)}})
	mustAppend(t, s, entries(2, 10, 1))
	mustAppend(t, s, entries(11, 20, 2))
	must(t, s.Stable().SetUint64([]byte(keyCurrentTerm), 2))
}

// install sends a snapshot of index 15, term 3, as leader A.
func (f *follower) install(data []byte) error {
	var resp raft.InstallSnapshotResponse
	return f.peers["A"].InstallSnapshot("voter", "voter", &raft.InstallSnapshotRequest{
		RPCHeader: header("A"), SnapshotVersion: 1, Term: 3, Leader: []byte("A"), LastLogIndex: 15, LastLogTerm: 3,
		Configuration: raft.EncodeConfiguration(members), ConfigurationIndex: 1, Size: int64(len(data)),
	}, &resp, readerOf(data))
}

// TestInstallOverAContradictingLog: raft keeps the log's entry at the snapshot's
// index and rejects what follows the snapshot, so that the leader installs it
// again, for ever. With the guard the node ends, and goes on after a restart.
func TestInstallOverAContradictingLog(t *testing.T) {
	state := binary.BigEndian.AppendUint64(nil, 14)
	t.Run("without guard", func(t *testing.T) {
		s := open(t, Config{Dir: storeDir(t), Unsafe: Unsafe{NoInstallGuard: true}})
		divided(t, s)
		f := startFollower(t, s)
		for range 3 {
			must(t, f.install(state))
			if f.lead(t, "A", 3, 15, 3, entries(16, 17, 3)) {
				t.Fatal("the entries after the snapshot were taken: the fault is gone, and so may be the guard")
			}
		}
	})
	t.Run("with guard", func(t *testing.T) {
		dir := storeDir(t)
		s := open(t, Config{Dir: dir})
		divided(t, s)
		f := startFollower(t, s)
		if err := f.install(state); err == nil {
			t.Error("the install succeeded")
		}
		<-s.Failed()
		var failure *Failure
		if !errors.As(s.Err(), &failure) || failure.Cause != CauseConflict {
			t.Fatalf("failed with %v", s.Err())
		}
		f.stop()
		s = again(t, s, Config{Dir: dir})
		if got := listed(t, s); !slices.Equal(got, []uint64{15}) {
			t.Fatalf("starts from %v", got)
		}
		f = startFollower(t, s)
		if f.fsm.n != 14 {
			t.Errorf("restored to %d", f.fsm.n)
		}
		if !f.lead(t, "A", 3, 15, 3, entries(16, 17, 3)) {
			t.Error("the entries after the snapshot were rejected")
		}
		f.stop()
		must(t, s.Close())
		if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{16, 17}}) {
			t.Errorf("on disk: %v", got)
		}
	})
	t.Run("crash before the log is deleted", func(t *testing.T) {
		var hook fault
		dir := storeDir(t)
		cfg := Config{Dir: dir, Unsafe: Unsafe{Fault: hook.hook}}
		s := open(t, cfg)
		divided(t, s)
		hook.failNth(OpTruncate, 1, errCrash)
		f := startFollower(t, s)
		if err := f.install(state); err == nil {
			t.Error("the install succeeded")
		}
		f.stop()
		hook.set(func(Op) error { return nil })
		s = again(t, s, cfg)
		if _, last := s.log.ledger.bounds(); last != 0 {
			t.Errorf("the log still ends at %d", last)
		}
	})
}

// TestInstallThatAgrees keeps the log: its entry at the snapshot's index is the
// snapshot's.
func TestInstallThatAgrees(t *testing.T) {
	s := open(t, Config{Dir: storeDir(t)})
	mustAppend(t, s, entries(1, 20, 3))
	snapshot(t, s, 15, 3, []byte("x"))
	if _, last := s.log.ledger.bounds(); last != 20 || s.Err() != nil {
		t.Errorf("log ends at %d, store says %v", last, s.Err())
	}
}

// TestInstallBeyondTheLog is the ordinary one: a gap, which a start must take. What
// lies before it may never have been committed, and is shown to nobody.
func TestInstallBeyondTheLog(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	divided(t, s)
	must(t, s.Log().DeleteRange(14, 20))
	var f *follower
	shows := func(when string, first, last uint64) {
		t.Helper()
		gotFirst, _ := s.Log().FirstIndex()
		if gotLast, _ := s.Log().LastIndex(); gotFirst != first || gotLast != last {
			t.Errorf("%s the log is %d to %d, want %d to %d", when, gotFirst, gotLast, first, last)
		}
		var e raft.Log
		if err := s.Log().GetLog(12, &e); !errors.Is(err, raft.ErrLogNotFound) {
			t.Errorf("%s entry 12 of term %d is there, %v", when, e.Term, err)
		}
	}
	buried := func(when string, want uint64) {
		t.Helper()
		must(t, s.Close())
		if got, err := Buried(dir); got != want || err != nil {
			t.Errorf("%s the log is hidden up to %d, %v, want %d", when, got, err, want)
		}
	}
	buried("at first", 0)
	s = again(t, s, Config{Dir: dir})
	f = startFollower(t, s)
	must(t, f.install(binary.BigEndian.AppendUint64(nil, 14)))
	shows("after the install", 0, 0)
	f.stop()
	buried("after the install", 13)
	s = again(t, s, Config{Dir: dir})
	shows("after a restart", 0, 0)
	f = startFollower(t, s)
	if !f.lead(t, "A", 3, 15, 3, entries(16, 18, 3)) {
		t.Fatal("entries rejected")
	}
	shows("after what follows", 16, 18)
	f.stop()
	before := uint64(13)
	if s.LogStore() == LogWAL { // deleted: segments have no gap
		before = 0
	}
	buried("after what follows", before)
	s = again(t, s, Config{Dir: dir})
	shows("after another restart", 16, 18)
	f = startFollower(t, s)
	if f.fsm.n != 14 {
		t.Errorf("restored to %d", f.fsm.n)
	}
	if !f.lead(t, "A", 3, 18, 3, entries(19, 19, 3)) {
		t.Error("entries rejected after a restart")
	}
	f.stop()
	must(t, s.Log().DeleteRange(16, 17))
	must(t, s.Close())
	if got := pieces(t, dir); !slices.Equal(got, [][2]uint64{{18, 19}}) {
		t.Errorf("compacted, there are %v on disk", got)
	}
}

// TestWhatIsBuried: all before the newest gap, and a whole log that ends before the
// newest snapshot.
func TestWhatIsBuried(t *testing.T) {
	for _, c := range []struct {
		name     string
		log      []uint64
		snapshot uint64
		want     uint64
	}{
		{"nothing", nil, 7, 0},
		{"no snapshot", []uint64{1, 2, 3}, 0, 0},
		{"a snapshot of what the log has", []uint64{1, 2, 3}, 3, 0},
		{"a snapshot beyond the log", []uint64{1, 2, 3}, 4, 3},
		{"a gap", []uint64{1, 2, 7, 8}, 6, 2},
		{"a gap, and a snapshot of what follows", []uint64{1, 2, 7, 8}, 7, 2},
		{"two gaps", []uint64{1, 4, 7}, 6, 4},
		{"a gap, and another snapshot", []uint64{1, 7}, 9, 7},
	} {
		l := &ledger{}
		for _, i := range c.log {
			l.put(i, 1)
		}
		if got := l.buried(c.snapshot); got != c.want {
			t.Errorf("%s: hidden up to %d, want %d", c.name, got, c.want)
		}
	}
}
