package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestOpenMakesAndFindsAgain(t *testing.T) {
	dir := storeDir(t)
	s := open(t, Config{Dir: dir, Member: "m1"})
	mustAppend(t, s, entries(1, 700, 3))
	if err := s.Stable().Set([]byte("k"), []byte("v")); err != nil {
		t.Fatal(err)
	}
	size := s.LogBytes()
	s = again(t, s, Config{Dir: dir, Member: "m1", MustExist: true})
	first, _ := s.Log().FirstIndex()
	last, _ := s.Log().LastIndex()
	if first != 1 || last != 700 {
		t.Errorf("log is %d to %d, want 1 to 700", first, last)
	}
	if v, err := s.Stable().Get([]byte("k")); err != nil || string(v) != "v" {
		t.Errorf("value is %q, %v", v, err)
	}
	if off := s.LogBytes() - size; off < -20*700 || off > 20*700 {
		t.Errorf("log holds %d bytes, and %d were counted while appending", s.LogBytes(), size)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := pieces(t, dir); len(got) != 1 || got[0] != [2]uint64{1, 700} {
		t.Errorf("on disk: %v", got)
	}
}

func TestFilesAreTheirOwnersAlone(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	dir := storeDir(t)
	must(t, os.Mkdir(dir, 0o755))
	s := open(t, Config{Dir: dir})
	snapshot(t, s, 1, 1, []byte("x"))
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := storeDir(t)
	first := startChild(t, "hold", dir)
	if got := first.line(t); got != "open" {
		t.Fatalf("child says %q", got)
	}
	_, err := Open(Config{Dir: dir})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != first.cmd.Process.Pid || !strings.Contains(err.Error(), dir) {
		t.Fatalf("got %v", err)
	}
	if _, err := readVote(dir); !errors.As(err, &locked) {
		t.Errorf("reading gave %v", err)
	}
	// The lock goes with the process, however it ends.
	if err := first.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.cmd.Wait()
	open(t, Config{Dir: dir})
	if _, err := Open(Config{Dir: dir}); !errors.As(err, &locked) {
		t.Errorf("a second open in one process gave %v", err)
	}
}

// TestNothingStartsEmptyInSilence damages a store in every way that would make
// the library start with less than there was.
func TestNothingStartsEmptyInSilence(t *testing.T) {
	remove := func(name string) func(testing.TB, string) {
		return func(t testing.TB, dir string) { must(t, os.RemoveAll(filepath.Join(dir, name))) }
	}
	cases := []struct {
		name   string
		damage func(testing.TB, string)
		blames string // in the error
	}{
		{"log file gone", remove(logName), logName + ": missing"},
		{"log file empty", func(t testing.TB, dir string) { must(t, os.Truncate(logPath(dir), 0)) }, logName + ": empty"},
		{"log file cut short", func(t testing.TB, dir string) { must(t, os.Truncate(logPath(dir), 3*4096)) }, logName + ": 12288 bytes long"},
		{"log file overwritten", func(t testing.TB, dir string) { must(t, os.WriteFile(logPath(dir), noise(1<<16), 0o600)) }, logName + ": not readable"},
		{"log file's pages overwritten", func(t testing.TB, dir string) {
			f, err := os.OpenFile(logPath(dir), os.O_WRONLY, 0)
			must(t, err)
			_, err = f.WriteAt(noise(1<<16), 2*4096)
			must(t, errors.Join(err, f.Close()))
		}, logName},
		{"log file of another store", func(t testing.TB, dir string) {
			other := storeDir(t)
			must(t, open(t, Config{Dir: other}).Close())
			must(t, os.Rename(logPath(other), logPath(dir)))
		}, logName + ": made for store"},
		{"snapshots gone", remove(snapshotsName), snapshotsName + ": missing"},
		{"marker gone", remove(markerName), markerName + ": missing"},
		{"marker damaged", func(t testing.TB, dir string) {
			must(t, os.WriteFile(filepath.Join(dir, markerName), []byte("{"), 0o600))
		}, markerName + ": not readable"},
		{"everything gone", func(t testing.TB, dir string) { must(t, os.RemoveAll(dir)) }, "missing or empty"},
		{"folder emptied", func(t testing.TB, dir string) {
			must(t, os.RemoveAll(dir))
			must(t, os.Mkdir(dir, 0o700))
		}, "missing or empty"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			dir := storeDir(t)
			s := open(t, Config{Dir: dir})
			mustAppend(t, s, entries(1, 2000, 1))
			must(t, s.Close())
			c.damage(t, dir)
			before := listing(t, dir)
			_, err := Open(Config{Dir: dir, MustExist: true})
			if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), c.blames) || !strings.Contains(err.Error(), rejoin) {
				t.Fatalf("got %v", err)
			}
			if after := listing(t, dir); after != before {
				t.Errorf("the folder was\n%s\nand is\n%s", before, after)
			}
		})
	}
}

func TestForeignFolderIsRefusedUntouched(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "holiday.jpg"), []byte("x"), 0o600))
	before := listing(t, dir)
	_, err := Open(Config{Dir: dir})
	if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), "holiday.jpg") {
		t.Errorf("got %v", err)
	}
	if after := listing(t, dir); after != before {
		t.Errorf("the folder was\n%s\nand is\n%s", before, after)
	}
}

func TestFolderOfAnotherMember(t *testing.T) {
	dir := storeDir(t)
	must(t, open(t, Config{Dir: dir, Member: "m1"}).Close())
	_, err := Open(Config{Dir: dir, Member: "m2"})
	if !errors.Is(err, offset.ErrDamaged) || !strings.Contains(err.Error(), `"m1"`) {
		t.Errorf("got %v", err)
	}
}

func TestMarkerOfANewerBuild(t *testing.T) {
	dir := storeDir(t)
	must(t, open(t, Config{Dir: dir}).Close())
	path := filepath.Join(dir, markerName)
	data, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, []byte(regexp.MustCompile(`"version": \d`).ReplaceAllString(string(data), `"version": 3`)), 0o600))
	if _, err := Open(Config{Dir: dir}); !errors.Is(err, offset.ErrLevel) {
		t.Errorf("got %v", err)
	}
}

// TestCreationCutShort opens after a crash at each step of the first Open.
func TestCreationCutShort(t *testing.T) {
	for _, step := range []string{"folder", "lock", "marker", "log"} {
		t.Run(step, func(t *testing.T) {
			dir := storeDir(t)
			must(t, os.Mkdir(dir, 0o700))
			if step != "folder" {
				must(t, os.WriteFile(filepath.Join(dir, lockName), nil, 0o600))
			}
			if step == "marker" || step == "log" {
				must(t, newMarker("", defaultLogStore).write(dir))
			}
			if step == "log" {
				must(t, os.WriteFile(logPath(dir), make([]byte, 4096), 0o600))
			}
			s := open(t, Config{Dir: dir})
			if last, err := s.Log().LastIndex(); err != nil || last != 0 {
				t.Errorf("the log ends at %d, %v; want it new", last, err)
			}
			mustAppend(t, s, entries(1, 1, 1))
			again(t, s, Config{Dir: dir})
		})
	}
}

func TestOpenRefusesNonsense(t *testing.T) {
	for _, cfg := range []Config{{}, {Dir: storeDir(t), KeepSnapshots: -1}, {Dir: storeDir(t), SyncEvery: -1}} {
		if _, err := Open(cfg); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%+v gave %v", cfg, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// listing tells each file of a folder but the lock with its length.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() == lockName {
			return nil
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			b.WriteString(path + " " + fs.FormatFileInfo(info) + "\n")
		} else {
			b.WriteString(path + "\n")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
