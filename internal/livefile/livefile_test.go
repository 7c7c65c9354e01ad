package livefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// two joins the contents of two files that belong together.
func two(c [][]byte) (string, error) {
	a, b := string(c[0]), string(c[1])
	if a == "" || a != b {
		return "", errors.New("they do not belong together")
	}
	return a, nil
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func open(t *testing.T) (v *Value[string], a, b string) {
	t.Helper()
	dir := t.TempDir()
	a, b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	put(t, a, "1")
	put(t, b, "1")
	v, err := Open(two, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return v, a, b
}

// check looks once, and expects the value, and whether a fault was told.
func check(t *testing.T, v *Value[string], want, fault string) {
	t.Helper()
	_, err := v.Check()
	if v.Get() != want || (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) {
		t.Errorf("%q in use, told %v; want %q, %q", v.Get(), err, want, fault)
	}
}

// TestPairsAreTakenWhole (C45: hashicorp/vault#18129): while one of two files
// is new and the other old, the old pair is in use; the fault is told once.
func TestPairsAreTakenWhole(t *testing.T) {
	v, a, b := open(t)
	check(t, v, "1", "")
	put(t, a, "2")
	check(t, v, "1", "") // read once
	check(t, v, "1", "belong together")
	check(t, v, "1", "") // told once
	if v.Fault() == nil || v.Generation() != 0 {
		t.Errorf("fault %v, generation %d", v.Fault(), v.Generation())
	}
	put(t, b, "2")
	check(t, v, "1", "") // it may still be being written
	check(t, v, "2", "")
	if v.Fault() != nil || v.Generation() != 1 {
		t.Errorf("fault %v, generation %d", v.Fault(), v.Generation())
	}
	// Gone, and back as it was: nothing to tell but that it is gone.
	if err := os.Remove(a); err != nil {
		t.Fatal(err)
	}
	check(t, v, "2", "")
	check(t, v, "2", "no such file")
	put(t, a, "2")
	check(t, v, "2", "")
	if v.Fault() != nil || v.Generation() != 1 {
		t.Errorf("fault %v, generation %d", v.Fault(), v.Generation())
	}
}

// TestWhatBecomesOfUseIsTaken: a certificate may be valid from a moment on that
// this machine's clock reaches only after it was first read.
func TestWhatBecomesOfUseIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where no try takes time
		path, valid := filepath.Join(t.TempDir(), "a"), false
		put(t, path, "1")
		v, err := Open(func(c [][]byte) (string, error) {
			if s := string(c[0]); valid || s == "1" {
				return s, nil
			}
			return "", errors.New("not valid yet")
		}, path)
		if err != nil {
			t.Fatal(err)
		}
		put(t, path, "2")
		check(t, v, "1", "")
		check(t, v, "1", "not valid yet")
		check(t, v, "1", "") // told once
		valid = true
		check(t, v, "2", "")
		if v.Fault() != nil || v.Generation() != 1 {
			t.Errorf("fault %v, generation %d", v.Fault(), v.Generation())
		}
	})
}

// TestLinksAreFollowed: both files are switched by one rename of a link, as
// Kubernetes does.
func TestLinksAreFollowed(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []string{"1", "2"} {
		sub := filepath.Join(dir, version)
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(sub, "a"), version)
		put(t, filepath.Join(sub, "b"), version)
	}
	link := filepath.Join(dir, "data")
	if err := os.Symlink("1", link); err != nil {
		t.Fatal(err)
	}
	v, err := Open(two, filepath.Join(link, "a"), filepath.Join(link, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("2", link+".new"), os.Rename(link+".new", link)); err != nil {
		t.Fatal(err)
	}
	check(t, v, "1", "")
	check(t, v, "2", "")
}

// TestAFileThatGrowsIsNotTakenHalf: a list that is written slowly is taken when
// it stays as it is.
func TestAFileThatGrowsIsNotTakenHalf(t *testing.T) {
	path := filepath.Join(t.TempDir(), "list")
	put(t, path, "1")
	v, err := Open(func(c [][]byte) (string, error) { return string(c[0]), nil }, path)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "2", "23", "234"} {
		put(t, path, text)
		check(t, v, "1", "")
	}
	check(t, v, "234", "")
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if _, err := Open(two, path, path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	put(t, path, "")
	if _, err := Open(two, path, path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file of no use: %v", err)
	}
	put(t, path, strings.Repeat("x", maxBytes+1))
	if _, err := Open(two, path, path); err == nil || !strings.Contains(err.Error(), "larger") {
		t.Errorf("a file too large: %v", err)
	}
}

// TestFollow: a change is in use after two looks, and is told once.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, a, b := open(t)
		var told []string
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Follow(ctx, Every, func(f File, err error) {
				if err != nil {
					told = append(told, "fault")
				} else {
					told = append(told, f.(*Value[string]).Get())
				}
			}, v)
		}()
		time.Sleep(Every / 2)
		put(t, a, "2")
		time.Sleep(5 * Every)
		put(t, b, "2")
		time.Sleep(2 * Every)
		cancel()
		<-ended
		if got := strings.Join(told, " "); got != "fault 2" {
			t.Errorf("told %q", got)
		}
	})
}
