package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// stub is a check whose test binary is a line of shell.
func stub(t *testing.T, line string) (*built, check) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "stub.test")
	if err := os.WriteFile(path, []byte("#!/usr/bin/env bash\n"+line), 0o700); err != nil {
		t.Fatal(err)
	}
	return &built{root: dir, dir: dir, tests: map[string]string{".": path}}, check{name: "stub", folder: ".", limit: time.Minute}
}

// TestVerdicts: only what a check says is a finding.
func TestVerdicts(t *testing.T) {
	for _, x := range []struct {
		what, line    string
		found, failed bool
	}{
		{"a test that fails", "echo '    x_test.go:1: lost'; echo '--- FAIL: TestX'; exit 1", true, false},
		{"a panic of the product", "echo 'panic: it broke'; exit 2", true, false},
		{"a test that passes", "echo '--- PASS: TestX'", false, false},
		{"a skip", "echo '--- SKIP: TestX'", false, true},
		{"no verdict", "exit 3", false, true},
	} {
		b, c := stub(t, x.line)
		s, err := b.look(t.Context(), []check{c}, planted.None)
		if found := s.by != ""; found != x.found || (err != nil) != x.failed {
			t.Errorf("%s: found %v, %v", x.what, found, err)
		}
	}
}

// TestHangIsNoFinding: what does not end is ended, with all that it started,
// and has found nothing.
func TestHangIsNoFinding(t *testing.T) {
	b, c := stub(t, "sleep 600 & echo $! >pid; wait")
	pid := 0
	for c.limit = 500 * time.Millisecond; pid == 0; c.limit *= 4 { // a busy machine may take longer to start it
		s, err := b.look(t.Context(), []check{c}, planted.None)
		if s.by != "" || err == nil || !strings.Contains(err.Error(), "no verdict within") {
			t.Fatalf("found by %q: %v", s.by, err)
		}
		text, _ := os.ReadFile(filepath.Join(b.dir, "pid")) // it may not have been written
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	state, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if syscall.Kill(pid, 0) == nil && err == nil && !strings.Contains(string(state), ") Z ") {
		t.Errorf("what it started goes on: %s", state)
	}
}
