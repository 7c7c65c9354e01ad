package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// syncsBeforeAnswers traces a process that appends entry by entry, and returns
// how many syncs of its log file came back between one answer and the next.
func syncsBeforeAnswers(t *testing.T, job string) []int {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skipf("needs strace: %v", err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	c := startChild(t, job, storeDir(t), "strace", "-f", "-y", "-e", "trace=write,fdatasync", "-o", trace)
	for c.out.Scan() {
		if !strings.HasPrefix(c.out.Text(), "stored") {
			t.Fatalf("child says %q", c.out.Text())
		}
	}
	if err := c.cmd.Wait(); err != nil {
		t.Skipf("strace may not trace here: %v", err)
	}
	f, err := os.Open(trace)
	must(t, err)
	defer func() { must(t, f.Close()) }()
	var counts []int
	syncs := 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.Contains(line, "fdatasync") && strings.HasSuffix(line, "= 0"):
			syncs++
		case strings.Contains(line, fmt.Sprintf("stored %d", len(counts)+1)):
			counts = append(counts, syncs)
			syncs = 0
		}
	}
	must(t, lines.Err())
	return counts
}

// TestSyncedBeforeAnswered: no append is answered before its bytes, and then the
// page that makes them valid, are on the disk.
func TestSyncedBeforeAnswered(t *testing.T) {
	counts := syncsBeforeAnswers(t, "append")
	if len(counts) != 20 {
		t.Fatalf("traced %d appends", len(counts))
	}
	for i, n := range counts {
		if n < 2 {
			t.Errorf("append %d was answered after %d syncs", i+1, n)
		}
	}
}
