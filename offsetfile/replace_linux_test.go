package offsetfile

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// replacing, where set, makes the test binary replace a file and nothing else.
const replacing = "OFFSETFILE_REPLACE"

// TestWriteFileOrder holds the order of system calls by a trace: the content
// is synced before the name changes, and the folder after.
func TestWriteFileOrder(t *testing.T) {
	if path := os.Getenv(replacing); path != "" {
		runtime.LockOSThread() // each thread has a trace of its own
		defer runtime.UnlockOSThread()
		if err := WriteFile(path, func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }); err != nil {
			t.Fatal(err)
		}
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command("strace", "-ff", "-y", "-o", trace, "-e", "trace=write,fsync,rename,renameat,renameat2", os.Args[0], "-test.run", "^TestWriteFileOrder$")
	cmd.Env = append(os.Environ(), replacing+"="+filepath.Join(t.TempDir(), "out.json"))
	if out, err := cmd.CombinedOutput(); err != nil {
		if strings.Contains(string(out), "ptrace") {
			t.Skipf("strace may not trace here: %s", out)
		}
		t.Fatalf("%v: %s", err, out)
	}
	b := traces(t, trace)
	order := regexp.MustCompile(`(?s)write\(\d+<[^>]*\.tmp>, "new".*fsync\(\d+<[^>]*\.tmp>\) += 0.*rename\w*\([^\n]*\.tmp"[^\n]*out\.json"[^\n]*\) += 0.*fsync\(\d+<[^>]*>\) += 0`)
	if !order.Match(b) {
		t.Errorf("the order is not write, fsync, rename, fsync of the folder:\n%s", b)
	}
}

// TestWriteFileThatIsNotSynced: where the folder cannot be synced, the error says
// that the file is there.
func TestWriteFileThatIsNotSynced(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
	path := filepath.Join(t.TempDir(), "out.json")
	cmd := exec.Command("strace", "-f", "-o", os.DevNull, "-e", "trace=fsync", "-e", "inject=fsync:error=EIO:when=2", os.Args[0], "-test.run", "^TestWriteFileOrder$")
	cmd.Env = append(os.Environ(), replacing+"="+path)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "ptrace") {
		t.Skipf("strace may not trace here: %s", out)
	}
	if err == nil || !strings.Contains(string(out), ErrUnsynced.Error()) {
		t.Errorf("it ended with %v and said %s", err, out)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "new" {
		t.Errorf("the file holds %q, %v", b, err)
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
