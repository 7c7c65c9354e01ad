//go:build unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestASecondSignalEnds what the first can't: a read of a pipe that nobody
// writes to.
func TestASecondSignalEnds(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "import", pipe)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	late := time.After(30 * time.Second)
	for {
		select {
		case err := <-ended:
			var e *exec.ExitError
			if !errors.As(err, &e) {
				t.Fatalf("it ended with %v", err)
			}
			return
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt)
		case <-late:
			_ = cmd.Process.Kill()
			<-ended
			t.Fatal("signals do not end it")
		}
	}
}
