package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestTimerSlack: all threads of the daemon have it, the runtime's monitor too, which
// is there before the program is; unless the tests themselves run with one of their own.
func TestTimerSlack(t *testing.T) {
	want := slackIs()
	if want == usualSlack {
		want = timerSlack
	}
	p := spawn(t, dev(t)...)
	p.ready(t)
	p.hasSlack(t, want)
	if strings.Contains(p.text(), slackened) {
		t.Errorf("the daemon speaks of %s", slackened)
	}
}

// TestExecutedOnce: where the slack does not outlive that, nothing is executed without
// end.
func TestExecutedOnce(t *testing.T) {
	t.Setenv(slackened, "1")
	p := spawn(t, dev(t)...)
	p.ready(t)
	p.hasSlack(t, slackIs())
}

// hasSlack fails the test if a thread of the daemon has another timer slack.
func (p *process) hasSlack(t *testing.T, want int) {
	t.Helper()
	tasks, err := os.ReadDir(filepath.Join("/proc", fmt.Sprint(p.Process.Pid), "task"))
	if err != nil || len(tasks) < 3 {
		t.Fatalf("threads: %v, %v", tasks, err)
	}
	for _, task := range tasks {
		slack, err := os.ReadFile(filepath.Join("/proc", task.Name(), "timerslack_ns"))
		switch {
		case errors.Is(err, fs.ErrPermission):
			t.Skip("needs root to see another process's timer slack")
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH): // the thread has ended
		case err != nil:
			t.Fatal(err)
		case strings.TrimSpace(string(slack)) != fmt.Sprint(want):
			t.Errorf("thread %s has a timer slack of %s ns, want %d", task.Name(), slack, want)
		}
	}
}
