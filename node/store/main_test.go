package store

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	"go.uber.org/goleak"
)

// logStoreEnv names the log store that a run of the tests is on; boltdb if unset.
const logStoreEnv = "TIDEMARK_TEST_LOG_STORE"

func TestMain(m *testing.M) {
	flag.Parse()
	if os.Getenv(logStoreEnv) == string(LogWAL) {
		defaultLogStore = LogWAL
		if flag.Lookup("test.bench").Value.String() == "" {
			defaultSegmentBytes = 64 << 10 // segments come and go in every test
		}
	}
	if job := os.Getenv(childEnv); job != "" {
		os.Exit(runChild(job))
	}
	goleak.VerifyTestMain(m)
}

// open opens a store in dir for the length of the test.
func open(t testing.TB, cfg Config) *Store {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatalf("open %s: %v", cfg.Dir, err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// again closes s, as a crash of the process would leave it, and opens it again.
func again(t testing.TB, s *Store, cfg Config) *Store {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	return open(t, cfg)
}

// readVote returns a stopped member's term and vote. Errors are ReadLog's.
func readVote(dir string) (v storedVote, err error) {
	err = reading(dir, func(c *contents) error {
		v = c.vote
		return nil
	})
	return v, err
}

// onlyOn ends a test of what only one log store has.
func onlyOn(t testing.TB, log LogStore, why string) {
	t.Helper()
	if defaultLogStore != log {
		t.Skip(why)
	}
}

// segmentFiles lists the segments of a folder.
func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(walDir(dir), "*.wal"))
	if err != nil || len(found) == 0 {
		t.Fatalf("segments: %v, %v", found, err)
	}
	return found
}

func storeDir(t testing.TB) string { return filepath.Join(t.TempDir(), "raft") }

// entries makes entries of one term, the data of each telling its index.
func entries(from, to, term uint64) []*raft.Log {
	var logs []*raft.Log
	for i := from; i <= to; i++ {
		logs = append(logs, &raft.Log{Index: i, Term: term, Type: raft.LogCommand, Data: fmt.Appendf(nil, "entry %d of term %d", i, term)})
	}
	return logs
}

func mustAppend(t testing.TB, s *Store, logs []*raft.Log) {
	t.Helper()
	for batch := range slices.Chunk(logs, 500) {
		if err := s.Log().StoreLogs(batch); err != nil {
			t.Fatalf("append: %v", err)
		}
	}
}

// pieces reads which entries are on the disk of a closed store, as pieces, and
// checks that each is what entries made.
func pieces(t testing.TB, dir string) [][2]uint64 {
	t.Helper()
	var l ledger
	err := ReadLog(dir, func(e *raft.Log) error {
		if want := fmt.Sprintf("entry %d of term %d", e.Index, e.Term); string(e.Data) != want && e.Type == raft.LogCommand {
			return fmt.Errorf("entry %d holds %q", e.Index, e.Data)
		}
		l.put(e.Index, 1)
		return nil
	})
	if err != nil {
		t.Fatalf("read log: %v", err)
	}
	return l.list()
}

var members = raft.Configuration{Servers: []raft.Server{
	{ID: "voter", Address: "voter"}, {ID: "A", Address: "A"}, {ID: "B", Address: "B"},
}}

// snapshot writes one of the given data.
func snapshot(t testing.TB, s *Store, index, term uint64, data []byte) string {
	t.Helper()
	sink, err := s.Snapshots().Create(1, index, term, members, 1, nil)
	if err != nil {
		t.Fatalf("create snapshot: %v", err)
	}
	if _, err := sink.Write(data); err != nil {
		t.Fatalf("write snapshot: %v", err)
	}
	if err := sink.Close(); err != nil {
		t.Fatalf("close snapshot: %v", err)
	}
	return sink.ID()
}

func readSnapshot(s *Store, id string) ([]byte, error) {
	_, r, err := s.Snapshots().Open(id)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

func listed(t testing.TB, s *Store) []uint64 {
	t.Helper()
	metas, err := s.Snapshots().List()
	if err != nil {
		t.Fatalf("list: %v", err)
	}
	var indexes []uint64
	for _, m := range metas {
		indexes = append(indexes, m.Index)
	}
	return indexes
}

// noise returns bytes that differ from place to place, the same for one length.
func noise(n int) []byte {
	data := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}).Read(data) // never fails
	return data
}

// await waits for a condition, with time for a loaded machine.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}

// fault is an Unsafe.Fault that can be set while the store is open.
type fault struct {
	fn atomic.Pointer[func(Op) error]
}

func (f *fault) hook(op Op) error {
	if fn := f.fn.Load(); fn != nil {
		return (*fn)(op)
	}
	return nil
}

func (f *fault) set(fn func(Op) error) { f.fn.Store(&fn) }

// failNth makes the n-th change of kind op fail with err, counting from 1.
func (f *fault) failNth(op Op, n int, err error) {
	var seen atomic.Int64
	f.set(func(o Op) error {
		if o == op && seen.Add(1) == int64(n) {
			return err
		}
		return nil
	})
}

// capture returns a logger and what it has written.
func capture() (hclog.Logger, *bytes.Buffer) {
	var buf bytes.Buffer
	return hclog.New(&hclog.LoggerOptions{Output: &buf, Level: hclog.Debug}), &buf
}

func readerOf(data []byte) io.Reader { return bytes.NewReader(data) }
