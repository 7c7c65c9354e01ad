package client

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// bk names a queue of the topic that the fixtures speak of.
func bk(broker string, id int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: "moss", Broker: broker, QueueID: id}
}

// shelf is the folder of one consumer in a test, and what its stores log.
type shelf struct {
	tb  testing.TB
	dir string
	mu  sync.Mutex
	log bytes.Buffer
}

func newShelf(tb testing.TB) *shelf { return &shelf{tb: tb, dir: tb.TempDir()} }

func (s *shelf) path(name string) string {
	return filepath.Join(s.dir, "10.0.0.1@DEFAULT", "moss-readers", name)
}

// Write collects the log.
func (s *shelf) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.Write(b)
}

func (s *shelf) logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// put lays a fixture down, under the name of its writer.
func (s *shelf) put(fixture, name string) []byte {
	s.tb.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", fixture))
	if err != nil {
		s.tb.Fatal(err)
	}
	s.write(name, b)
	return b
}

func (s *shelf) write(name string, b []byte) {
	s.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		s.tb.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), b, 0o600); err != nil {
		s.tb.Fatal(err)
	}
}

// new gives a store without a loop, unless opts say otherwise.
func (s *shelf) new(opts ...StoreOption) *LocalFileStore {
	s.tb.Helper()
	opts = append([]StoreOption{WithLocalDir(s.dir), WithPersistInterval(0), WithStoreLogger(slog.New(slog.NewTextHandler(s, nil)))}, opts...)
	st, err := NewLocalFileStore("10.0.0.1@DEFAULT", "moss-readers", opts...)
	if err != nil {
		s.tb.Fatal(err)
	}
	return st
}

// load gives a store that was loaded.
func (s *shelf) load(opts ...StoreOption) *LocalFileStore {
	s.tb.Helper()
	st := s.new(opts...)
	if err := st.Load(); err != nil {
		s.tb.Fatal(err)
	}
	return st
}

// holds checks what a file says; nil: it is not there.
func (s *shelf) holds(name string, want map[offset.MessageQueue]int64) {
	s.tb.Helper()
	b, err := os.ReadFile(s.path(name))
	if want == nil {
		if !errors.Is(err, os.ErrNotExist) {
			s.tb.Errorf("%s is there: %q, %v", name, b, err)
		}
		return
	}
	l, e := offsetfile.ReadLocal(bytes.NewReader(b))
	if err != nil || e != nil || !maps.Equal(l.Offsets, want) {
		s.tb.Errorf("%s holds %q (%v, %v), want %v", name, b, err, e, want)
	}
}

// names lists the files.
func (s *shelf) names() (list []string) {
	entries, _ := os.ReadDir(filepath.Dir(s.path("x")))
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func persistAll(tb testing.TB, s OffsetStore) {
	tb.Helper()
	var all []offset.MessageQueue
	for mq := range s.CloneOffsetTable("") {
		all = append(all, mq)
	}
	if err := s.PersistAll(context.Background(), all); err != nil {
		tb.Fatal(err)
	}
}

func wantRead(tb testing.TB, s OffsetStore, mq offset.MessageQueue, from ReadOffsetType, want int64) {
	tb.Helper()
	if got, err := s.ReadOffset(context.Background(), mq, from); err != nil || got != want {
		tb.Errorf("reading %v (%d): %d, %v; want %d", mq, from, got, err, want)
	}
}

func wantNoOffset(tb testing.TB, s OffsetStore, mq offset.MessageQueue, from ReadOffsetType) {
	tb.Helper()
	if got, err := s.ReadOffset(context.Background(), mq, from); !errors.Is(err, offset.ErrNoOffset) || got != 0 {
		tb.Errorf("reading %v (%d): %d, %v; want no offset", mq, from, got, err)
	}
}

// TestLocalReadsAllShapes: each writer's file is taken over, and Java's form
// is written beside, or in its place.
func TestLocalReadsAllShapes(t *testing.T) {
	north, south := bk("bk-north", 1), bk("bk-south", 1)
	for fixture, name := range map[string]string{
		"C03.java-pretty.offsets.json": "offsets.json", "C03.java-compact.offsets.json": "offsets.json",
		"C03.go.offset.json": "offset.json", "C03.string-values.offsets.json": "offsets.json",
	} {
		t.Run(fixture, func(t *testing.T) {
			f := newShelf(t)
			before := f.put(fixture, name)
			s := f.load()
			wantRead(t, s, north, ReadFromMemory, 250)
			wantRead(t, s, north, ReadFromStore, 250)
			want := map[offset.MessageQueue]int64{north: 251}
			if strings.HasPrefix(fixture, "C03.string") {
				wantNoOffset(t, s, south, MemoryFirstThenStore)
			} else {
				wantRead(t, s, south, MemoryFirstThenStore, 17)
				want[south] = 17
			}
			s.UpdateOffset(north, 251, true)
			persistAll(t, s)
			f.holds("offsets.json", want)
			b, _ := os.ReadFile(f.path("offsets.json"))
			if !bytes.HasPrefix(b, []byte("{\n\t\"offsetTable\":{{\n\t\t\t\"brokerName\":\"bk-north\",\n\t\t\t\"queueId\":1,")) {
				t.Errorf("not in Java's form: %q", b)
			}
			kept := "offsets.json.bak" // what was before
			if name == "offset.json" {
				kept = name // another client's file is left alone
				if n := s.Stats().Fallbacks; n != 1 || !strings.Contains(f.logged(), "RocketMQ's Go client") {
					t.Errorf("%d fall-backs, log %q", n, f.logged())
				}
				f.holds("offsets.json.bak", nil)
			} else if f.logged() != "" {
				t.Errorf("logged %q", f.logged())
			}
			if b, err := os.ReadFile(f.path(kept)); err != nil || !bytes.Equal(b, before) {
				t.Errorf("%s is %q, %v", kept, b, err)
			}
			wantRead(t, f.load(), north, ReadFromMemory, 251)
		})
	}
}

// goPlace is where rocketmq-client-go keeps the file of the tests' consumer:
// GROUP/CLIENT, not CLIENT/GROUP, seen from our place.
const goPlace = "../../moss-readers/10.0.0.1@DEFAULT/offset.json"

// TestLocalTakesTheGoClientsFolderOver: as that client lays it out.
func TestLocalTakesTheGoClientsFolderOver(t *testing.T) {
	north, south := bk("bk-north", 1), bk("bk-south", 1)
	f := newShelf(t)
	before := f.put("C03.go.offset.json", goPlace)
	f.write(goPlace+".bak", nil) // that client writes it empty
	s := f.load()
	wantRead(t, s, north, ReadFromMemory, 250)
	wantRead(t, s, south, ReadFromStore, 17)
	if n := s.Stats().Fallbacks; n != 1 || !strings.Contains(f.logged(), "RocketMQ's Go client") {
		t.Errorf("%d fall-backs, log %q", n, f.logged())
	}
	s.UpdateOffset(north, 251, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{north: 251, south: 17})
	if b, err := os.ReadFile(f.path(goPlace)); err != nil || !bytes.Equal(b, before) {
		t.Errorf("the other client's file is %q, %v", b, err)
	}
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(f.path(goPlace), later, later); err != nil {
		t.Fatal(err)
	}
	wantRead(t, f.load(), north, ReadFromMemory, 251) // ours counts from now on
	if log := f.logged(); !strings.Contains(log, "is newer than") || strings.Count(log, filepath.Clean(f.path(goPlace))) != 2 {
		t.Errorf("logged %q", log)
	}
}

// TestLocalGoFileInOurPlaceComesFirst: somebody has put it there.
func TestLocalGoFileInOurPlaceComesFirst(t *testing.T) {
	f := newShelf(t)
	f.put("C03.go.offset.json", "offset.json")
	f.write(goPlace, []byte(`{"offsetTable":{"{\"topic\":\"moss\",\"brokerName\":\"bk-north\",\"queueId\":1}":9}}`))
	wantRead(t, f.load(), bk("bk-north", 1), ReadFromMemory, 250)
}

// TestLocalDamageInTheGoClientsFolder ends Load, and is moved aside where it lies
// if so told.
func TestLocalDamageInTheGoClientsFolder(t *testing.T) {
	f := newShelf(t)
	f.write(goPlace, []byte("x"))
	if err := f.new().Load(); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), filepath.Clean(f.path(goPlace))) {
		t.Fatal(err)
	}
	s := f.load(WithDamageIgnored())
	if n := s.Stats().Damaged; n != 1 {
		t.Errorf("%d damaged files", n)
	}
	list, err := filepath.Glob(f.path(goPlace) + ".damaged-*")
	if err != nil || len(list) != 1 {
		t.Errorf("moved aside: %q, %v", list, err)
	}
	wantNoOffset(t, f.load(), bk("bk-north", 1), ReadFromStore)
}

// TestLocalBegins: nothing there is a consumer that begins; its folders are its own.
func TestLocalBegins(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	wantNoOffset(t, s, bk("b", 0), ReadFromStore)
	wantNoOffset(t, s, bk("b", 0), ReadFromMemory)
	persistAll(t, s) // nothing changed, nothing is written
	if list := f.names(); list != nil {
		t.Errorf("written: %q", list)
	}
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
	if got := strings.Join(f.names(), " "); got != "offsets.json" {
		t.Errorf("the folder holds %s", got)
	}
	for path, mode := range map[string]os.FileMode{f.path("offsets.json"): 0o600, filepath.Dir(f.path("x")): 0o700} {
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", path, st.Mode(), err)
		}
	}
	if s.Path() != f.path("offsets.json") || f.logged() != "" || s.Stats() != (StoreStats{Queues: 1, Persisted: 1}) {
		t.Errorf("path %s, log %q, stats %+v", s.Path(), f.logged(), s.Stats())
	}
}

// TestLocalUpdates holds the memory to RocketMQ's rules.
func TestLocalUpdates(t *testing.T) {
	s, q := newShelf(t).load(), bk("b", 1)
	for _, c := range []struct {
		do   func()
		want int64
	}{
		{func() { s.UpdateOffset(q, 10, true) }, 10},
		{func() { s.UpdateOffset(q, 9, true) }, 10},
		{func() { s.UpdateOffset(q, 9, false) }, 9},
		{func() { s.UpdateOffset(q, -1, false) }, 9},
		{func() { s.UpdateAndFreezeOffset(q, -1) }, 9},
		{func() { s.UpdateAndFreezeOffset(q, 4) }, 4},
		{func() { s.UpdateOffset(q, 11, true) }, 4},
		{func() { s.UpdateAndFreezeOffset(q, 5) }, 5},
		{func() { s.RemoveOffset(q); s.UpdateOffset(q, 3, true) }, 3},
	} {
		c.do()
		wantRead(t, s, q, ReadFromMemory, c.want)
	}
	s.UpdateOffset(offset.MessageQueue{Topic: "other"}, 1, true)
	if got := s.CloneOffsetTable("moss"); !maps.Equal(got, map[offset.MessageQueue]int64{q: 3}) {
		t.Errorf("the copy is %v", got)
	}
	if got := s.CloneOffsetTable(""); len(got) != 2 {
		t.Errorf("the copy of all is %v", got)
	}
}

// TestLocalPersistMerges: only the queues of the set are written, all others
// stay in the file, also those that can't be read into memory.
func TestLocalPersistMerges(t *testing.T) {
	f := newShelf(t)
	f.write("offsets.json", []byte(`{"offsetTable":{{"brokerName":"gone","queueId":0,"topic":"old"}:5,{"queueId":1,"topic":"moss"}:-1,{"queueId":-3,"topic":"a\n"}:9}}`))
	old := map[offset.MessageQueue]int64{{Topic: "old", Broker: "gone"}: 5, {Topic: "moss", QueueID: 1}: -1, {Topic: "a\n", QueueID: -3}: 9}
	s := f.load()
	if got := s.CloneOffsetTable(""); len(got) != 1 {
		t.Errorf("the memory has %v", got)
	}
	wantNoOffset(t, s, offset.MessageQueue{Topic: "moss", QueueID: 1}, ReadFromStore)
	s.UpdateOffset(bk("b", 0), 1, true)
	s.UpdateOffset(bk("b", 1), 2, true)
	if err := s.PersistAll(context.Background(), nil); err != nil {
		t.Error(err)
	}
	f.holds("offsets.json", old)
	if err := s.Persist(context.Background(), bk("b", 1)); err != nil {
		t.Error(err)
	}
	old[bk("b", 1)] = 2
	f.holds("offsets.json", old)
	wantRead(t, s, bk("b", 0), ReadFromMemory, 1) // not dropped
	wantRead(t, s, bk("b", 0), ReadFromStore, 1)  // nor behind
	s.RemoveOffset(bk("b", 1))
	s.UpdateOffset(bk("b", 0), 8, true)
	persistAll(t, s)
	old[bk("b", 0)] = 8
	f.holds("offsets.json", old)
	wantNoOffset(t, s, bk("b", 1), ReadFromMemory)
	wantRead(t, s, bk("b", 1), MemoryFirstThenStore, 2) // taken over
	wantRead(t, s, bk("b", 1), ReadFromMemory, 2)
}

// TestLocalLaterReadsChangeNothing: what another wrote into the file is told,
// and the memory stays.
func TestLocalLaterReadsChangeNothing(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	s.UpdateOffset(bk("b", 0), 8, true)
	persistAll(t, s)
	f.write("offsets.json", []byte(`{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"moss"}:3}}`))
	wantRead(t, s, bk("b", 0), ReadFromStore, 3)
	wantRead(t, s, bk("b", 0), ReadFromMemory, 8)
	wantRead(t, s, bk("b", 0), MemoryFirstThenStore, 8)
}

func TestLocalPersistsThisVeryOffset(t *testing.T) {
	f := newShelf(t)
	s, ctx := f.load(), context.Background()
	s.UpdateOffset(bk("b", 0), 8, true)
	for _, n := range []int64{5, 9} {
		if err := s.UpdateConsumeOffsetToBroker(ctx, bk("b", 0), n, false); err != nil {
			t.Fatal(err)
		}
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): n})
		wantRead(t, s, bk("b", 0), ReadFromMemory, n)
		persistAll(t, s)
		f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): n})
	}
	if err := s.UpdateConsumeOffsetToBroker(ctx, bk("b", 7), 1, false); err != nil {
		t.Fatal(err)
	}
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 9, bk("b", 7): 1})
	wantNoOffset(t, s, bk("b", 7), ReadFromMemory)
	if err := s.UpdateConsumeOffsetToBroker(ctx, bk("b", 0), -1, false); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
}

func TestLocalInvalidQueueIsNamed(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	bad := offset.MessageQueue{Topic: "a\x00b"}
	s.UpdateOffset(bad, 1, true)
	s.UpdateOffset(bk("b", 0), 2, true)
	err := s.PersistAll(context.Background(), []offset.MessageQueue{bad, bk("b", 0)})
	var p *PersistError
	if !errors.As(err, &p) || len(p.Queues) != 1 || p.Queues[0].Queue != bad || !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 2})
	if _, err := s.ReadOffset(context.Background(), bad, ReadFromStore); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	if _, err := s.ReadOffset(context.Background(), bk("b", 0), 9); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
}

func TestLocalClose(t *testing.T) {
	f := newShelf(t)
	s, ctx := f.load(WithFirstPersist(time.Hour), WithPersistInterval(time.Hour)), context.Background()
	s.UpdateOffset(bk("b", 0), 2, true)
	if err := s.Close(ctx); err != nil {
		t.Fatal(err)
	}
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 2})
	s.UpdateOffset(bk("b", 0), 3, true)
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	_, err := s.ReadOffset(ctx, bk("b", 0), ReadFromMemory)
	for _, err := range []error{err, s.Persist(ctx, bk("b", 0)), s.UpdateConsumeOffsetToBroker(ctx, bk("b", 0), 4, false)} {
		if !errors.Is(err, offset.ErrClosed) {
			t.Errorf("error is %v", err)
		}
	}
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 2})
}

// TestLocalWaitsWithinTheContext: whoever waits for the disk gives up in time.
func TestLocalWaitsWithinTheContext(t *testing.T) {
	s := newShelf(t).load()
	s.UpdateOffset(bk("b", 0), 2, true)
	s.persisting <- struct{}{}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := s.Persist(ctx, bk("b", 0))
	if !errors.Is(err, offset.ErrBusy) || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if _, err := s.ReadOffset(ctx, bk("b", 1), ReadFromStore); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("error is %v", err)
	}
	<-s.persisting
}

// sharedDisk is one on which another process makes each folder just before.
type sharedDisk struct{ realDisk }

func (d sharedDisk) mkdir(path string) error {
	if err := d.realDisk.mkdir(path); err != nil {
		return err
	}
	return &fs.PathError{Op: "mkdir", Path: path, Err: fs.ErrExist}
}

// TestLocalFoldersMadeByAnother: two consumers of a machine that start at once
// make the same folders.
func TestLocalFoldersMadeByAnother(t *testing.T) {
	f := newShelf(t)
	f.dir = filepath.Join(f.dir, "none", "yet")
	s := f.new(withDisk(sharedDisk{}))
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
}
