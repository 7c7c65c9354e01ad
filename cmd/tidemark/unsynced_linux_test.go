package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// outside runs the program as a process of its own, behind a line of shell.
func outside(t *testing.T, before string, args ...string) (said string, code int) {
	t.Helper()
	cmd := exec.Command("bash", append([]string{"-c", before + ` "$0" "$@"`, os.Args[0]}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestARescueThatIsNotSynced: where the folder has its name, and only that may be
// lost, the error does not say that nothing was made.
func TestARescueThatIsNotSynced(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
	_, file := backedUp(t, 1)
	above := t.TempDir()
	dir := filepath.Join(above, "data")
	strace := fmt.Sprintf("strace -f -o /dev/null -P '%s' -e trace=fsync -e inject=fsync:error=EIO", above)
	said, code := outside(t, strace, "cluster", "rescue", file, dir, "--execute", "--old-cluster-is-gone")
	if strings.Contains(said, "ptrace") {
		t.Skipf("strace may not trace here: %s", said)
	}
	if code == 0 || !strings.Contains(said, "is made") || strings.Contains(said, "nothing was made") {
		t.Errorf("code %d, %s", code, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "member.json")); err != nil {
		t.Error(err)
	}
}
