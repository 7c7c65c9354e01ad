package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTimerSlack: all threads of the daemon have it, the runtime's monitor too, which
// is there before the program is.
func TestTimerSlack(t *testing.T) {
	p := spawn(t, dev(t)...)
	p.ready(t)
	tasks, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(p.Process.Pid), "task"))
	if err != nil || len(tasks) < 3 {
		t.Fatalf("threads: %v, %v", tasks, err)
	}
	for _, task := range tasks {
		slack, err := os.ReadFile(filepath.Join("/proc", task.Name(), "timerslack_ns"))
		switch {
		case errors.Is(err, fs.ErrPermission):
			t.Skip("needs root to see another process's timer slack")
		case errors.Is(err, fs.ErrNotExist): // the thread has ended
		case err != nil:
			t.Fatal(err)
		case strings.TrimSpace(string(slack)) != fmt.Sprint(timerSlack):
			t.Errorf("thread %s has a timer slack of %s ns, want %d", task.Name(), slack, timerSlack)
		}
	}
}
