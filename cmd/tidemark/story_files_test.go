package main

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/node/store"
)

// written puts a file of a broker into the story's folder.
func (s *telling) written(name, text string) string {
	s.Helper()
	path := filepath.Join(s.dir(), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	write(s.T, path, text)
	return path
}

func tellImport(s *telling) {
	file := s.written("consumerOffset.json", `{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1700000000000},"offsetTable":{"orders@billing":{0:42,1:40},"refunds@billing":{0:7},"orders@audit":{0:-1}}}`)
	clean := s.written("clean.json", `{"offsetTable":{"orders@billing":{0:42,1:40},"refunds@billing":{0:7}}}`)
	s.forms("import", file, "--broker", "broker-a")
	s.tidemark("import", clean, "--broker", "broker-a", "--execute")
	s.tidemark("import", clean, "--broker", "broker-a", "--execute", "-o", "json")
	s.tidemark("import", clean, "--broker", "broker-a")
	one := s.written("one.json", `{"offsetTable":{"orders@billing":{0:1}}}`)
	s.tidemark("import", one, "--broker", "broker-a", "--replace")
	s.tidemark("import", one, "--broker", "broker-a", "--replace", "--execute")
	s.tidemark("import", one, "--broker", "broker-a", "--replace", "--group", "billing", "--execute", "--allow-removal")
	s.tidemark("import", "--abort")
	s.tidemark("import", s.written("broken.json", `{"offsetTable":{"orders@billing":{0:1.5}}}`))
	s.tidemark("import", s.written("empty.json", ""))
	s.tidemark("import", filepath.Join(s.dir(), "none.json"))
	s.tidemark("import")
}

func tellExport(s *telling) {
	s.tidemark("export")
	s.billing()
	s.tidemark("export", "--broker", "broker-a")
	s.tidemark("export", "--format", "csv")
	s.tidemark("export", "--format", "csv", "--group", "billing", "--topic", "refunds")
	file := filepath.Join(s.dir(), "consumerOffset.json")
	s.forms("export", file, "--broker", "broker-a")
	s.tidemark("export", file)
	s.tidemark("export", "--group", "nobody")
	s.tidemark("export", "--format", "xml")
}

// levelFiles are entries and a snapshot as format level 1 has them.
const levelFiles = "../../fsm"

func tellDump(s *telling) {
	folder := filepath.Join(s.dir(), "data")
	entries := storeOf(s.T, folder)
	s.tidemark("dump", "log", folder)
	s.tidemark("dump", "log", folder, "--from", "3", "--to", "3")
	s.forms("dump", "snapshot", folder)
	s.tidemark("dump", "snapshot", filepath.Join(folder, "raft", "snapshots", "00000000000000000003-00000000000000000001-00000000"))
	s.tidemark("dump", "entry", hex.EncodeToString(entries[0]))
	s.tidemark("dump", "entry", "00")
	s.tidemark("dump", "entry", "xy")
	s.tidemark("dump", "log", s.dir())
	s.tidemark("dump", "log", filepath.Join(s.dir(), "none"))
	s.tidemark("dump", "log")
}

// storeOf makes the data folder of a stopped node, with a log of three entries
// and a snapshot, and returns the entries.
func storeOf(t *testing.T, folder string) (entries [][]byte) {
	t.Helper()
	st, err := store.Open(store.Config{Dir: filepath.Join(folder, "raft")})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	}()
	var logs []*raft.Log
	for i, name := range []string{"reset", "commits", "remove"} {
		b := []byte(readFile(t, filepath.Join(levelFiles, "entry/testdata/level1", name+".entry")))
		entries = append(entries, b)
		logs = append(logs, &raft.Log{Index: uint64(i + 1), Term: 1, Type: raft.LogCommand, Data: b})
	}
	if err := st.Log().StoreLogs(logs); err != nil {
		t.Fatal(err)
	}
	sink, err := st.Snapshots().Create(raft.SnapshotVersionMax, 3, 1, raft.Configuration{}, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sink.Write([]byte(readFile(t, filepath.Join(levelFiles, "testdata/level1/state.snapshot")))); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return entries
}
