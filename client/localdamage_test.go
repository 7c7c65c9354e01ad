package client

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestLocalFallsBackToTheCopy is a file of 0 bytes next to a good copy: the copy
// is read and named, and is what was before once the file is written.
func TestLocalFallsBackToTheCopy(t *testing.T) {
	f := newShelf(t)
	f.put("C36.offsets.json", "offsets.json")
	f.put("C36.offsets.json.bak", "offsets.json.bak")
	s, q := f.load(), bk("bk-north", 0)
	wantRead(t, s, q, ReadFromStore, 500)
	if n := strings.Count(f.logged(), "\n"); n != 1 || !strings.Contains(f.logged(), "the offsets come from the older copy") || !strings.Contains(f.logged(), "0 bytes") {
		t.Errorf("logged %q", f.logged())
	}
	s.UpdateOffset(q, 501, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{q: 501})
	f.holds("offsets.json.bak", map[offset.MessageQueue]int64{q: 500})
	s.UpdateOffset(q, 502, true)
	persistAll(t, s)
	f.holds("offsets.json.bak", map[offset.MessageQueue]int64{q: 501})
	if got := s.Stats(); got != (StoreStats{Queues: 1, Persisted: 2, Fallbacks: 1}) {
		t.Errorf("stats %+v", got)
	}
}

// TestLocalDamageEndsTheStart: both files hold no JSON. Nothing is changed, by
// a persist neither.
func TestLocalDamageEndsTheStart(t *testing.T) {
	f := newShelf(t)
	main := f.put("C04.offsets.json", "offsets.json")
	bak := f.put("C04.offsets.json.bak", "offsets.json.bak")
	s := f.new()
	err := s.Load()
	if !errors.Is(err, offset.ErrDamaged) {
		t.Fatalf("error is %v", err)
	}
	for _, want := range []string{f.path("offsets.json") + `"`, f.path("offsets.json.bak") + `"`, "not JSON: first byte 0x00", "not JSON: first byte 0xd7", "(byte 0)", "WithDamageIgnored"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if strings.ContainsAny(err.Error(), "\x00\n") || strings.Contains(err.Error(), "\xd7") {
		t.Errorf("the error holds raw bytes: %q", err)
	}
	s.UpdateOffset(bk("b", 0), 7, true)
	var p *PersistError
	if err := s.Persist(context.Background(), bk("b", 0)); !errors.As(err, &p) || !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("error is %v", err)
	}
	if _, err := s.ReadOffset(context.Background(), bk("b", 1), ReadFromStore); !errors.Is(err, offset.ErrDamaged) || errors.Is(err, offset.ErrNoOffset) {
		t.Errorf("error is %v", err)
	}
	for name, want := range map[string][]byte{"offsets.json": main, "offsets.json.bak": bak} {
		if b, err := os.ReadFile(f.path(name)); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	if len(f.names()) != 2 || s.Stats() != (StoreStats{Queues: 1, Unpersisted: 1, Failed: 1}) {
		t.Errorf("%q, %+v", f.names(), s.Stats())
	}
}

// TestLocalDamageIgnored: both are moved aside under the time, and one warning is logged.
func TestLocalDamageIgnored(t *testing.T) {
	f := newShelf(t)
	main := f.put("C04.offsets.json", "offsets.json")
	bak := f.put("C04.offsets.json.bak", "offsets.json.bak")
	clock := &stoppedClock{at: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)}
	const stamp = ".damaged-20260504T030201.000Z"
	f.write("offsets.json"+stamp, []byte("an earlier one")) // is not overwritten
	s := f.load(WithDamageIgnored(), WithStoreClock(clock))
	for name, want := range map[string][]byte{"offsets.json" + stamp + "-2": main, "offsets.json.bak" + stamp: bak, "offsets.json" + stamp: []byte("an earlier one")} {
		if b, err := os.ReadFile(f.path(name)); err != nil || !bytes.Equal(b, want) {
			t.Errorf("%s is %q, %v", name, b, err)
		}
	}
	if len(f.names()) != 3 || s.Stats() != (StoreStats{Damaged: 2}) || strings.Count(f.logged(), "\n") != 1 || !strings.Contains(f.logged(), "level=WARN") {
		t.Errorf("%q, %+v, %q", f.names(), s.Stats(), f.logged())
	}
	wantNoOffset(t, s, bk("b", 0), ReadFromStore)
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
	f.holds("offsets.json.bak", nil)
}

type stoppedClock struct{ at time.Time }

func (c *stoppedClock) Now() time.Time                       { return c.at }
func (c *stoppedClock) After(time.Duration) <-chan time.Time { return nil }

// TestLocalDamage: what is damaged and has no good copy makes Load fail, whatever
// its name; what has one is moved aside by the next persist.
func TestLocalDamage(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string // name to fixture
		ok    bool
	}{
		"damaged, no copy":      {files: map[string]string{"offsets.json": "C04.offsets.json"}},
		"empty, no copy":        {files: map[string]string{"offsets.json": "C36.offsets.json"}},
		"damaged copy alone":    {files: map[string]string{"offsets.json.bak": "C04.offsets.json.bak"}},
		"damaged of Go":         {files: map[string]string{"offset.json": "C04.offsets.json"}},
		"damaged, Go's is good": {files: map[string]string{"offsets.json": "C04.offsets.json", "offset.json": "C03.go.offset.json"}},
		"damaged, good copy":    {files: map[string]string{"offsets.json": "C04.offsets.json", "offsets.json.bak": "C36.offsets.json.bak"}, ok: true},
		"good, damaged copy":    {files: map[string]string{"offsets.json": "C36.offsets.json.bak", "offsets.json.bak": "C04.offsets.json.bak"}, ok: true},
		"Go's, empty copy":      {files: map[string]string{"offset.json": "C03.go.offset.json", "offset.json.bak": "C36.offsets.json"}, ok: true},
		"Go's copy alone":       {files: map[string]string{"offset.json.bak": "C03.go.offset.json"}, ok: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newShelf(t)
			var damaged [][]byte
			for name, fixture := range c.files {
				if b := f.put(fixture, name); strings.HasPrefix(fixture, "C04") {
					damaged = append(damaged, b)
				}
			}
			s := f.new()
			if err := s.Load(); (err == nil) != c.ok || err != nil && !errors.Is(err, offset.ErrDamaged) {
				t.Fatalf("error is %v", err)
			}
			s.UpdateOffset(bk("b", 0), 7, true)
			if err := s.Persist(context.Background(), bk("b", 0)); (err == nil) != c.ok {
				t.Errorf("error is %v", err)
			}
			for _, b := range damaged {
				if !f.keeps(b) {
					t.Errorf("the bytes %q are gone", b)
				}
			}
			if c.ok {
				f.load()
			}
		})
	}
}

// TestLocalUnreadableIsDamage: a file that can't be read is not "no file".
func TestLocalUnreadableIsDamage(t *testing.T) {
	f := newShelf(t)
	if err := os.MkdirAll(f.path("offsets.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := f.new().Load(); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("error is %v", err)
	}
	f.put("C36.offsets.json.bak", "offsets.json.bak")
	s := f.load()
	wantRead(t, s, bk("bk-north", 0), ReadFromMemory, 500)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("bk-north", 0): 500})
}

// TestLocalDamageWhileRunning: a file that turns bad under a store that runs.
func TestLocalDamageWhileRunning(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	s.UpdateOffset(bk("b", 0), 8, true)
	persistAll(t, s) // now there is a copy, of 7
	f.write("offsets.json", []byte("{"))
	wantRead(t, s, bk("b", 0), MemoryFirstThenStore, 8)
	s.UpdateOffset(bk("b", 1), 9, true)
	persistAll(t, s)
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 8, bk("b", 1): 9})
	f.holds("offsets.json.bak", map[offset.MessageQueue]int64{bk("b", 0): 7})
	if !f.keeps([]byte("{")) {
		t.Error("the damaged bytes are gone")
	}
	f.write("offsets.json", []byte("{"))
	f.write("offsets.json.bak", []byte("{"))
	s.UpdateOffset(bk("b", 1), 10, true)
	if err := s.Persist(context.Background(), bk("b", 1)); !errors.Is(err, offset.ErrDamaged) {
		t.Errorf("error is %v", err)
	}
}

// TestLocalNewerFileOfGo: ours counts, and that the other is newer is said.
func TestLocalNewerFileOfGo(t *testing.T) {
	f := newShelf(t)
	f.put("C36.offsets.json.bak", "offsets.json")
	f.put("C03.go.offset.json", "offset.json")
	now := time.Now()
	for name, at := range map[string]time.Time{"offsets.json": now.Add(-time.Hour), "offset.json": now} {
		if err := os.Chtimes(f.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := f.load()
	wantRead(t, s, bk("bk-north", 0), ReadFromMemory, 500)
	wantNoOffset(t, s, bk("bk-north", 1), ReadFromMemory)
	if !strings.Contains(f.logged(), "is newer than") || s.Stats().Fallbacks != 0 {
		t.Errorf("logged %q, %+v", f.logged(), s.Stats())
	}
}

// TestLocalSweeps: what a killed process left half written is deleted once it is old.
func TestLocalSweeps(t *testing.T) {
	f := newShelf(t)
	for name, age := range map[string]time.Duration{".offsets.json.1.tmp": time.Hour, ".offsets.json.2.tmp": time.Minute, "my.tmp": time.Hour} {
		f.write(name, []byte("x"))
		at := time.Now().Add(-age)
		if err := os.Chtimes(f.path(name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := f.load()
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	if got := strings.Join(f.names(), " "); got != ".offsets.json.2.tmp my.tmp offsets.json" {
		t.Errorf("the folder holds %s", got)
	}
}

// TestLocalTooLarge: what could not be read again is not written, and what is
// too large to be ours is not read.
func TestLocalTooLarge(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	s.files.most = 120
	s.UpdateOffset(bk("b", 0), 7, true)
	persistAll(t, s)
	s.UpdateOffset(bk("b", 1), 7, true)
	s.UpdateOffset(bk("b", 2), 7, true)
	if err := s.Persist(context.Background(), bk("b", 1)); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("error is %v", err)
	}
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7})
	s.files.most = 10
	if _, err := s.ReadOffset(context.Background(), bk("b", 7), ReadFromStore); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), "at most 10 are read") {
		t.Errorf("error is %v", err)
	}
}

// deafDisk is a disk that no file can be read from for now: no descriptor is left, say.
type deafDisk struct{ realDisk }

func (deafDisk) read(path string, _ int64) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: path, Err: syscall.EMFILE}
}

// TestLocalUnreadIsNotIgnored: a disk that does not give a file is no reason to
// begin without its offsets, also where damage is.
func TestLocalUnreadIsNotIgnored(t *testing.T) {
	f := newShelf(t)
	f.put("C36.offsets.json.bak", "offsets.json")
	s := f.new(WithDamageIgnored(), withDisk(deafDisk{}))
	if err := s.Load(); !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), syscall.EMFILE.Error()) {
		t.Errorf("error is %v", err)
	}
	if got := strings.Join(f.names(), " "); got != "offsets.json" || s.Stats().Damaged != 0 {
		t.Errorf("the folder holds %s, %+v", got, s.Stats())
	}
	wantRead(t, f.load(), bk("bk-north", 0), ReadFromMemory, 500)
}
