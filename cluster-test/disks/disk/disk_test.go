//go:build linux

package disk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(tb testing.TB, errs ...error) {
	tb.Helper()
	if err := errors.Join(errs...); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, path string) *os.File {
	tb.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	must(tb, err)
	return f
}

func put(tb testing.TB, f *os.File, off int64, s string) {
	tb.Helper()
	_, err := f.WriteAt([]byte(s), off)
	must(tb, err)
}

func syncFolder(tb testing.TB, path string) {
	tb.Helper()
	d, err := os.Open(path)
	must(tb, err)
	must(tb, d.Sync(), d.Close())
}

// reads demands what a file holds; "-" is no file.
func reads(tb testing.TB, path, want string) {
	tb.Helper()
	b, err := os.ReadFile(path)
	got := string(b)
	if os.IsNotExist(err) {
		got = "-"
	} else {
		must(tb, err)
	}
	if got != want {
		tb.Errorf("%s holds %q, want %q", filepath.Base(path), got, want)
	}
}

// TestPowerCutUndoesWhatWasNotSynced: every kind of change, synced and not.
func TestPowerCutUndoesWhatWasNotSynced(t *testing.T) {
	d := Mount(t, t.TempDir(), 8<<20)
	at := func(name string) string { return filepath.Join(d.Dir, name) }
	for _, name := range []string{"written", "cut", "grown", "renamed", "replaced", "removed"} {
		f := open(t, at(name))
		put(t, f, 0, "old "+name)
		must(t, f.Sync(), f.Close())
	}
	must(t, os.Mkdir(at("folder"), 0o700))
	syncFolder(t, d.Dir)
	if n := d.Unsynced(); n != 0 {
		t.Fatalf("%d changes are not synced", n)
	}

	w := open(t, at("written"))
	put(t, w, 0, "new")
	must(t, w.Sync())
	put(t, w, 0, "xxx lost")
	must(t, os.Truncate(at("cut"), 2))
	g := open(t, at("grown"))
	put(t, g, 9, " lost")
	n := open(t, at("nameless"))
	put(t, n, 0, "synced, and its name is not")
	must(t, n.Sync())
	in := open(t, at("folder/whole"))
	put(t, in, 0, "whole")
	must(t, in.Sync())
	syncFolder(t, at("folder"))
	must(t, os.Rename(at("renamed"), at("other name")), os.Rename(at("other name"), at("replaced")))
	must(t, os.Remove(at("removed")))
	reads(t, at("replaced"), "old renamed")
	reads(t, at("removed"), "-")
	must(t, w.Close(), g.Close(), n.Close(), in.Close())

	d.PowerOff()
	if err := os.Remove(at("written")); !errors.Is(err, syscall.EIO) || !d.Off() {
		t.Errorf("a change without power gives %v", err)
	}
	unsynced, kept, err := d.PowerOn(nil)
	must(t, err)
	if unsynced != 7 || kept != 0 || d.Unsynced() != 0 {
		t.Errorf("%d changes were not synced, %d stayed, %d are left", unsynced, kept, d.Unsynced())
	}
	for name, want := range map[string]string{
		"written": "new written", "cut": "old cut", "grown": "old grown", "nameless": "-", "folder/whole": "whole",
		"renamed": "old renamed", "other name": "-", "replaced": "old replaced", "removed": "old removed",
	} {
		reads(t, at(name), want)
	}
}

// TestPowerCutInParts: what had reached the disk is sectors, whole; and not
// always the same.
func TestPowerCutInParts(t *testing.T) {
	d := Mount(t, t.TempDir(), 8<<20)
	path := filepath.Join(d.Dir, "f")
	f := open(t, path)
	_, err := f.WriteAt(bytes.Repeat([]byte{1}, 8*sector), 0)
	must(t, err, f.Sync(), f.Close())
	syncFolder(t, d.Dir)
	sizes, old, fresh := map[int]bool{}, 0, 0
	for seed := range uint64(20) {
		f := open(t, path)
		_, err := f.WriteAt(bytes.Repeat([]byte{1}, 8*sector), 0)
		must(t, err, f.Truncate(8*sector), f.Sync())
		_, err = f.WriteAt(bytes.Repeat([]byte{2}, 16*sector), 0)
		must(t, err, f.Close())
		d.PowerOff()
		_, _, err = d.PowerOn(rand.New(rand.NewPCG(seed, 1)))
		must(t, err)
		got, err := os.ReadFile(path)
		must(t, err)
		sizes[len(got)/sector] = true
		for i := 0; i < len(got); i += sector {
			s := got[i : i+sector]
			if !bytes.Equal(s, bytes.Repeat(s[:1], sector)) {
				t.Fatalf("seed %d: the sector at %d is torn", seed, i)
			}
			switch s[0] {
			case 1:
				old++
			case 2:
				fresh++
			}
		}
	}
	if len(sizes) != 2 || !sizes[8] || !sizes[16] || old == 0 || fresh == 0 {
		t.Errorf("sizes %v sectors, %d old and %d new ones", sizes, old, fresh)
	}
}

// TestDiskAnswersAsTold: errors, time and hanging reach who asks, and are counted.
func TestDiskAnswersAsTold(t *testing.T) {
	d := Mount(t, t.TempDir(), 8<<20)
	f := open(t, filepath.Join(d.Dir, "f"))
	defer f.Close()
	put(t, f, 0, "x")
	for _, c := range []struct {
		b    Behaviour
		do   func() error
		want error
	}{
		{Behaviour{Write: syscall.EIO}, func() error { _, err := f.WriteAt([]byte("y"), 0); return err }, syscall.EIO},
		{Behaviour{Write: syscall.EIO}, func() error { return os.Remove(f.Name()) }, syscall.EIO},
		{Behaviour{Write: syscall.EIO}, f.Sync, nil},
		{Behaviour{Sync: syscall.ENOSPC}, f.Sync, syscall.ENOSPC},
		{Behaviour{Sync: syscall.EIO}, func() error { _, err := f.WriteAt([]byte("y"), 0); return err }, nil},
		{Behaviour{Read: syscall.EIO}, func() error { _, err := os.ReadFile(f.Name()); return err }, syscall.EIO},
		{Behaviour{}, func() error { _, err := os.ReadFile(f.Name()); return err }, nil},
	} {
		d.Be(c.b)
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.b, err, c.want)
		}
	}
	d.Be(Behaviour{SyncMin: 20 * time.Millisecond, SyncMax: 30 * time.Millisecond})
	if began := time.Now(); f.Sync() != nil || time.Since(began) < 20*time.Millisecond {
		t.Errorf("a slow sync took %v", time.Since(began))
	}
	d.Be(Behaviour{StallFor: 50 * time.Millisecond, StallEvery: 50 * time.Millisecond})
	must(t, f.Sync())
	d.Be(Behaviour{Hang: true})
	back := make(chan error, 1)
	go func() { back <- f.Sync() }() // awaited below
	for d.Met().Hung == 0 {
		time.Sleep(time.Millisecond) // between two looks
	}
	select {
	case err := <-back:
		t.Errorf("a sync on a hanging disk came back: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if _, err := os.Stat(f.Name()); err != nil {
		t.Errorf("a hanging disk does not read: %v", err)
	}
	d.Be(Behaviour{})
	must(t, <-back)
	if got, want := d.Met(), (Met{Slow: 1, Stalled: 1, Hung: 1, Failed: 4}); got != want {
		t.Errorf("met %+v, want %+v", got, want)
	}
}

// TestFullDisk: the disk is full for writes that need space, says so, and is
// not once space was given back.
func TestFullDisk(t *testing.T) {
	d := Mount(t, t.TempDir(), 8<<20)
	f := open(t, filepath.Join(d.Dir, "f"))
	defer f.Close()
	put(t, f, 0, "x")
	must(t, d.Fill(1<<20))
	var st syscall.Statfs_t
	must(t, syscall.Statfs(d.Dir, &st))
	if free := int64(st.Bavail) * st.Bsize; free > 1<<20 || free < 1<<19 {
		t.Errorf("%d bytes are free", free)
	}
	if _, err := f.WriteAt(make([]byte, 2<<20), 4096); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("writing 2 MiB gives %v", err)
	}
	put(t, f, 0, "y") // needs no space
	must(t, d.Free())
	if _, err := f.WriteAt(make([]byte, 2<<20), 4096); err != nil || d.Met().Full == 0 {
		t.Errorf("with space: %v; met %+v", err, d.Met())
	}
}
