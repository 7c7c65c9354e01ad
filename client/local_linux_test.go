package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// localPersisting, where set, makes the test binary persist once and nothing else.
const localPersisting = "CLIENT_LOCAL_PERSIST"

// TestLocalOrderOfCalls holds the order of system calls by a trace: both new
// files are synced before any name changes, the copy gets its name before the
// file, and the folder is synced last.
func TestLocalOrderOfCalls(t *testing.T) {
	if dir := os.Getenv(localPersisting); dir != "" {
		persistOnce(t, dir)
		return
	}
	needStrace(t)
	f := newShelf(t)
	f.put("C36.offsets.json.bak", "offsets.json")
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-ff", "-y", "-o", trace, "-s", "4096", "-e", "trace=write,fsync,rename,renameat,renameat2,unlink,unlinkat,truncate,ftruncate", os.Args[0], "-test.run", "^TestLocalOrderOfCalls$")
	cmd.Env = append(os.Environ(), localPersisting+"="+f.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	b := traces(t, trace)
	const temp = `[^\n]*/\.offsets\.json\.\d+\.tmp`
	order := regexp.MustCompile(`(?s)` + strings.Join([]string{
		`write\(\d+<` + temp + `>, [^\n]*501`, `fsync\(\d+<` + temp + `>\)[^\n]* = 0`,
		`write\(\d+<` + temp + `>, [^\n]*500`, `fsync\(\d+<` + temp + `>\)[^\n]* = 0`,
		`rename\w*\(` + temp + `"[^\n]*/offsets\.json\.bak"[^\n]* = 0`,
		`rename\w*\(` + temp + `"[^\n]*/offsets\.json"[^\n]* = 0`,
		`fsync\(\d+<[^\n]*/moss-readers>\)[^\n]* = 0`,
	}, ".*"))
	ours := regexp.MustCompile(`(?m)^.*(moss-readers).*$`).FindAllString(string(b), -1)
	if text := strings.Join(ours, "\n"); !order.MatchString(text) || len(ours) != 7 {
		t.Errorf("%d calls, not in the order write, sync, write, sync, rename, rename, sync of the folder:\n%s", len(ours), text)
	}
}

// traces reads what strace -ff wrote, a file for each thread: in one file, a
// call could be torn in two by that of another thread.
func traces(t *testing.T, name string) (all []byte) {
	files, err := filepath.Glob(name + ".*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func needStrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
}

// TestLocalSurvivesAKill ends a real process by SIGKILL as it enters each of
// the calls that matter.
func TestLocalSurvivesAKill(t *testing.T) {
	needStrace(t)
	for call, times := range map[string]int{"fsync": 3, "renameat": 2} {
		for n := 1; n <= times; n++ {
			f := newShelf(t)
			f.put("C36.offsets.json.bak", "offsets.json")
			inject := fmt.Sprintf("inject=%s:signal=KILL:when=%d", call, n)
			cmd := exec.Command("strace", "-f", "-o", os.DevNull, "-e", "trace="+call, "-e", inject, os.Args[0], "-test.run", "^TestLocalOrderOfCalls$")
			cmd.Env = append(os.Environ(), localPersisting+"="+f.dir)
			out, err := cmd.CombinedOutput()
			if strings.Contains(string(out), "ptrace") {
				t.Skipf("strace may not trace here: %s", out)
			}
			var exit *exec.ExitError
			if !errors.As(err, &exit) || strings.Contains(string(out), "PASS") {
				t.Fatalf("%s: the process was not killed: %v, %s", inject, err, out)
			}
			want := int64(500)
			if call == "fsync" && n == 3 { // that of the folder
				want = 501
			}
			wantRead(t, f.load(), bk("bk-north", 0), ReadFromStore, want)
			if f.logged() != "" {
				t.Errorf("%s: %s", inject, f.logged())
			}
		}
	}
}

// pinnedDisk keeps the goroutine that reads from it on one thread, since strace
// counts calls by thread. Each persist begins by reading.
type pinnedDisk struct{ realDisk }

func (d pinnedDisk) read(path string, n int64) ([]byte, error) {
	runtime.LockOSThread()
	return d.realDisk.read(path, n)
}

func persistOnce(t *testing.T, dir string) {
	s, err := NewLocalFileStore("10.0.0.1@DEFAULT", "moss-readers", WithLocalDir(dir), WithPersistInterval(0), withDisk(pinnedDisk{}), WithStoreLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(); err != nil {
		t.Fatal(err)
	}
	s.UpdateOffset(bk("bk-north", 0), 501, true)
	if err := s.Persist(context.Background(), bk("bk-north", 0)); err != nil {
		t.Fatal(err)
	}
}
