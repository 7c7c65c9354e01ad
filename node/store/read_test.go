package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestReadingWritesNothing(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(5, 60, 2))
	must(t, s.Stable().SetUint64([]byte(keyCurrentTerm), 9))
	must(t, s.Stable().SetUint64([]byte(keyLastVoteTerm), 8))
	must(t, s.Stable().Set([]byte(keyLastVoteCand), []byte("n2:7412")))
	snapshot(t, s, 50, 2, []byte("x"))
	must(t, s.Close())
	before := listing(t, dir)

	var indexes []uint64
	must(t, ReadLog(dir, func(e *raft.Log) error {
		if e.Term != 2 || e.Type != raft.LogCommand {
			t.Errorf("entry is %+v", e)
		}
		indexes = append(indexes, e.Index)
		return nil
	}))
	if len(indexes) != 56 || indexes[0] != 5 || indexes[55] != 60 {
		t.Errorf("entries %v", indexes)
	}
	v, err := readVote(dir)
	if err != nil || v != (storedVote{CurrentTerm: 9, Term: 8, Candidate: "n2:7412"}) {
		t.Errorf("vote is %+v, %v", v, err)
	}
	infos, err := ReadSnapshots(dir)
	if err != nil || len(infos) != 1 || infos[0].Err != nil || infos[0].Meta.Index != 50 || infos[0].Meta.Size != 1 {
		t.Errorf("snapshots %+v, %v", infos, err)
	}
	stop := errors.New("enough")
	if err := ReadLog(dir, func(*raft.Log) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
}

func TestMemberCannotStartWhileItsLogIsRead(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir})
	mustAppend(t, s, entries(1, 1, 1))
	must(t, s.Close())
	must(t, ReadLog(dir, func(*raft.Log) error {
		var locked *LockedError
		if _, err := Open(Config{Dir: dir}); !errors.As(err, &locked) || locked.PID != 0 {
			t.Errorf("got %v", err)
		}
		return nil
	}))
}

func TestReadingWhatIsNoStore(t *testing.T) {
	if _, err := readVote(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
	if _, err := readVote(dir); !errors.Is(err, offset.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	must(t, newMarker("", defaultLogStore).write(dir))
	if _, err := readVote(dir); !errors.Is(err, offset.ErrNotFound) {
		t.Errorf("half made: got %v", err)
	}
}
