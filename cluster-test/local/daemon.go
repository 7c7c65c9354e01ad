package local

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
)

// Daemon is one tidemarkd, or another program, with options of the test's own,
// beside or instead of those that cluster.sh starts. It is killed with the test.
type Daemon struct {
	cmd  *exec.Cmd
	done chan struct{}

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

// Daemon starts tidemarkd with these options.
func (c *Cluster) Daemon(args ...string) *Daemon {
	c.TB.Helper()
	return c.Program(filepath.Join(c.Bin, "tidemarkd"), args...)
}

// Program starts another program as Daemon does.
func (c *Cluster) Program(path string, args ...string) *Daemon {
	c.TB.Helper()
	d := &Daemon{cmd: exec.Command(path, args...), done: make(chan struct{})}
	d.cmd.Env = append(cleanEnv(), c.env...)
	d.cmd.Stdout, d.cmd.Stderr = d, d
	if err := d.cmd.Start(); err != nil {
		c.TB.Fatal(err)
	}
	go func() { // the cleanup waits for it
		defer close(d.done)
		_ = d.cmd.Wait() // ProcessState has what it says
	}()
	c.TB.Cleanup(func() {
		_ = d.cmd.Process.Kill() // it may have ended
		<-d.done
		if c.TB.Failed() {
			c.TB.Logf("%s %s said:\n%s", filepath.Base(path), strings.Join(args, " "), d.Log())
		}
	})
	return d
}

// Write keeps what the daemon says.
func (d *Daemon) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.Write(p)
}

// Log is what it has said.
func (d *Daemon) Log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.log.String()
}

// Running tells whether it has not ended.
func (d *Daemon) Running() bool {
	select {
	case <-d.done:
		return false
	default:
		return true
	}
}

// Wait waits until it has ended, and returns its exit code.
func (d *Daemon) Wait(tb testing.TB) int {
	tb.Helper()
	select {
	case <-d.done:
		return d.cmd.ProcessState.ExitCode()
	case <-time.After(ask.Patience):
		tb.Fatalf("tidemarkd has not ended within %v; it said:\n%s", ask.Patience, d.Log())
		return 0
	}
}

// Stop ends it as a service manager does, and returns its exit code.
func (d *Daemon) Stop(tb testing.TB) int {
	tb.Helper()
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		tb.Fatal(err)
	}
	return d.Wait(tb)
}

// Kill ends it as a crash does, and waits for that.
func (d *Daemon) Kill() {
	_ = d.cmd.Process.Kill() // it may have ended
	<-d.done
}
