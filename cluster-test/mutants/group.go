package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// lastActs is how long a process that was told to end may take for it.
const lastActs = 20 * time.Second

// group runs a command in a process group of its own, so that what it starts can
// be ended with it, and a terminal's Ctrl-C reaches none of them. When it
// returns, all of the group has ended: told to (SIGTERM) once ctx is done, or the
// command is.
func group(ctx context.Context, cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = lastActs // for what is written by others than the command
	if err := cmd.Start(); err != nil {
		return err
	}
	id := -cmd.Process.Pid
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(id, syscall.SIGTERM) }) // it may have ended
	defer stop()
	err := cmd.Wait()
	for end := time.Now().Add(lastActs); syscall.Kill(id, syscall.SIGTERM) == nil; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(id, syscall.SIGKILL) // whoever is left waits to be buried
			break
		}
	}
	return err
}

// takeDown takes all clusters down that cluster.sh has left under a folder: the
// daemons are in no group of ours.
func takeDown(root, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "size" {
			return err
		}
		cmd := exec.Command(filepath.Join(root, "cluster-test", "cluster.sh"), "down")
		cmd.Env = append(os.Environ(), "CLUSTER_RUN="+filepath.Dir(path))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Run(); err != nil {
			return errors.Join(fmt.Errorf("cluster.sh down: %w", err), errors.New(out.String()))
		}
		return nil
	})
}
