package client

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// faultDisk is the real disk, until its step number at: with once, that step
// fails and later ones work; else the process is as good as dead from there
// on, half way through if the step is a write.
type faultDisk struct {
	realDisk
	at, step int
	once     bool
	err      error
}

// next counts a step and gives its error.
func (d *faultDisk) next() error {
	d.step++
	if d.at > 0 && (d.step == d.at || d.step > d.at && !d.once) {
		return d.err
	}
	return nil
}

func (d *faultDisk) mkdir(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.realDisk.mkdir(path)
}

func (d *faultDisk) create(dir, pattern string) (diskFile, error) {
	if err := d.next(); err != nil {
		return nil, err
	}
	f, err := d.realDisk.create(dir, pattern)
	return &faultFile{f, d}, err
}

func (d *faultDisk) rename(from, to string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.realDisk.rename(from, to)
}

func (d *faultDisk) remove(path string) error {
	if d.at > 0 && d.step >= d.at && !d.once {
		return d.err
	}
	return d.realDisk.remove(path)
}

func (d *faultDisk) syncDir(path string) error {
	if err := d.next(); err != nil {
		return err
	}
	return d.realDisk.syncDir(path)
}

type faultFile struct {
	diskFile
	d *faultDisk
}

func (f *faultFile) Write(b []byte) (int, error) {
	if err := f.d.next(); err != nil {
		n, _ := f.diskFile.Write(b[:len(b)/2])
		return n, err
	}
	return f.diskFile.Write(b)
}

func (f *faultFile) Sync() error {
	if err := f.d.next(); err != nil {
		return err
	}
	return f.diskFile.Sync()
}

func (f *faultFile) Close() error {
	return errors.Join(f.diskFile.Close(), f.d.next())
}

func withDisk(d disk) StoreOption { return func(s *storeSettings) { s.disk = d } }

// scene is what lies in a folder before a persist, and what a queue has.
type scene struct {
	main, bak []byte
	before    int64
	none      bool
}

func scenes(tb testing.TB) map[string]scene {
	fixture := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		return b
	}
	good, zeros, random := fixture("C36.offsets.json.bak"), fixture("C04.offsets.json"), fixture("C04.offsets.json.bak")
	older := bytes.Replace(good, []byte("500"), []byte("499"), 1)
	return map[string]scene{
		"nothing":            {none: true},
		"no copy":            {main: good, before: 500},
		"both good":          {main: good, bak: older, before: 500},
		"empty, good copy":   {main: []byte{}, bak: good, before: 500},
		"gone, good copy":    {bak: good, before: 500},
		"damaged, good copy": {main: zeros, bak: good, before: 500},
		"damaged copy":       {main: good, bak: random, before: 500},
	}
}

func (c scene) lay(f *shelf) {
	for name, b := range map[string][]byte{"offsets.json": c.main, "offsets.json.bak": c.bak} {
		if b != nil {
			f.write(name, b)
		}
	}
}

// TestLocalSurvivesAKillAnywhere ends the process at every step of a persist,
// from every state of the folder: what was there before or what was written is
// read, no good file turns bad, and the bytes of damaged ones stay.
func TestLocalSurvivesAKillAnywhere(t *testing.T) {
	dead := errors.New("killed")
	for name, c := range scenes(t) {
		for at := 1; ; at++ {
			f := newShelf(t)
			c.lay(f)
			d := &faultDisk{at: at, err: dead}
			s := f.load(withDisk(d))
			q := bk("bk-north", 0)
			s.UpdateOffset(q, 501, true)
			err := s.Persist(context.Background(), q)
			if err != nil && !errors.Is(err, dead) && !errors.Is(err, offset.ErrOutcomeUnknown) {
				t.Fatalf("%s, step %d: %v", name, at, err)
			}
			wantAfterKill(t, f, c, err == nil, name, at)
			if err == nil {
				if d.step < 5 {
					t.Errorf("%s: only %d steps", name, d.step)
				}
				break
			}
		}
	}
}

func wantAfterKill(t *testing.T, f *shelf, c scene, done bool, name string, at int) {
	t.Helper()
	q := bk("bk-north", 0)
	got, err := f.load().ReadOffset(context.Background(), q, ReadFromStore)
	switch {
	case err == nil && got == 501:
	case done:
		t.Errorf("%s: %d, %v after a persist that worked", name, got, err)
	case c.none && errors.Is(err, offset.ErrNoOffset):
	case !c.none && err == nil && got == c.before:
	default:
		t.Errorf("%s, killed at step %d: read %d, %v; log %s", name, at, got, err, f.logged())
	}
	for file, before := range map[string][]byte{"offsets.json": c.main, "offsets.json.bak": c.bak} {
		b, err := os.ReadFile(f.path(file))
		if err != nil || before != nil && bytes.Equal(b, before) {
			continue // there is none, or it was not touched
		}
		if _, err := offsetfile.ReadLocal(bytes.NewReader(b)); err != nil {
			t.Errorf("%s, killed at step %d: %s is %q: %v", name, at, file, b, err)
		}
	}
	for _, before := range [][]byte{c.main, c.bak} {
		if _, err := offsetfile.ReadLocal(bytes.NewReader(before)); err != nil && len(before) > 0 && !f.keeps(before) {
			t.Errorf("%s, killed at step %d: the bytes %q are gone from %q", name, at, before, f.names())
		}
	}
}

// keeps reports whether some file has just these bytes.
func (s *shelf) keeps(want []byte) bool {
	for _, name := range s.names() {
		if b, err := os.ReadFile(s.path(name)); err == nil && bytes.Equal(b, want) {
			return true
		}
	}
	return false
}

// TestLocalPersistFails lets each step of a persist fail once: it is told and
// counted, the memory keeps rising, the next persist works, and nothing half
// written stays behind.
func TestLocalPersistFails(t *testing.T) {
	full := syscall.ENOSPC
	for name, c := range scenes(t) {
		for at := 1; ; at++ {
			f := newShelf(t)
			c.lay(f)
			d := &faultDisk{at: at, once: true, err: full}
			s := f.load(withDisk(d))
			q := bk("bk-north", 0)
			s.UpdateOffset(q, 501, true)
			err := s.Persist(context.Background(), q)
			if err == nil {
				break
			}
			var p *PersistError
			if !errors.As(err, &p) || len(p.Queues) != 1 || p.Queues[0].Offset != 501 || !errors.Is(err, full) && !errors.Is(err, offset.ErrOutcomeUnknown) {
				t.Errorf("%s, step %d: %v", name, at, err)
			}
			s.UpdateOffset(q, 502, true)
			wantRead(t, s, q, ReadFromStore, 502)
			if err := s.Persist(context.Background(), q); err != nil {
				t.Errorf("%s, after step %d failed: %v", name, at, err)
			}
			f.holds("offsets.json", map[offset.MessageQueue]int64{q: 502})
			if st := s.Stats(); st.Failed != 1 || st.Persisted != 1 {
				t.Errorf("%s, step %d: %+v", name, at, st)
			}
			for _, n := range f.names() {
				if strings.HasSuffix(n, ".tmp") {
					t.Errorf("%s, step %d: %s stays behind", name, at, n)
				}
			}
		}
	}
}

// TestLocalReadOnly: where nothing can be written, the start succeeds, each
// persist fails visibly, and the memory is what the next read gives.
func TestLocalReadOnly(t *testing.T) {
	f := newShelf(t)
	scenes(t)["empty, good copy"].lay(f)
	s := f.load(withDisk(&faultDisk{at: 1, err: syscall.EROFS}))
	q := bk("bk-north", 0)
	for n := int64(501); n < 504; n++ {
		s.UpdateOffset(q, n, true)
		err := s.PersistAll(context.Background(), []offset.MessageQueue{q})
		if !errors.Is(err, syscall.EROFS) || !strings.Contains(err.Error(), "read-only file system") {
			t.Errorf("error is %v", err)
		}
		for _, from := range []ReadOffsetType{ReadFromMemory, ReadFromStore, MemoryFirstThenStore} {
			wantRead(t, s, q, from, n)
		}
	}
	if got := s.Stats(); got.Failed != 3 || got.Persisted != 0 || got.Fallbacks != 1 {
		t.Errorf("stats %+v", got)
	}
	if err := s.Close(context.Background()); !errors.Is(err, syscall.EROFS) {
		t.Errorf("error is %v", err)
	}
}
