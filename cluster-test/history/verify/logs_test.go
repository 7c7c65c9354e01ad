package verify

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/node/store"
)

// stopped makes the folder of a member that has stopped. Of its log, the entries
// beyond 10 are of a term, and it was sent a snapshot of index sent; 0: none.
func stopped(t *testing.T, last, term, sent uint64) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(store.Config{Dir: filepath.Join(dir, "raft")})
	if err != nil {
		t.Fatal(err)
	}
	for i := uint64(1); i <= last && err == nil; i++ {
		l := &raft.Log{Index: i, Term: 1, Type: raft.LogCommand, Data: fmt.Append(nil, i)}
		if i > 10 {
			l.Term = term
		}
		err = s.Log().StoreLog(l)
	}
	if sent > 0 && err == nil {
		members := raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: "n1:1"}}}
		var sink raft.SnapshotSink
		if sink, err = s.Snapshots().Create(1, sent, 3, members, 1, nil); err == nil {
			err = sink.Close()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBuriedEntriesAreNotCompared: entries of before a snapshot that a member was
// sent may never have been committed. All others are compared.
func TestBuriedEntriesAreNotCompared(t *testing.T) {
	other := stopped(t, 15, 3, 0)
	list, whole, err := Logs(map[string]string{"n1": stopped(t, 13, 2, 15), "n2": other}, 15)
	if err != nil || !whole || len(list) != 15 || list[12].Term != 3 {
		t.Errorf("%d entries, whole %v, %v; want the 15 of n2", len(list), whole, err)
	}
	if _, _, err := Logs(map[string]string{"n1": stopped(t, 13, 2, 0), "n2": other}, 15); err == nil {
		t.Error("entries of two terms at one index pass for equal")
	}
}
