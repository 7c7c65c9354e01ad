package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// traced does a job under strace and returns the calls it made, a line each, and
// what it said.
func traced(t *testing.T, job, calls string) (lines, said []string) {
	t.Helper()
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("needs strace: not installed")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	c := startChild(t, job, storeDir(t), "strace", "-f", "-y", "-e", "trace="+calls, "-o", trace)
	for c.out.Scan() {
		said = append(said, c.out.Text())
	}
	if err := c.cmd.Wait(); err != nil {
		if len(said) > 0 {
			t.Fatalf("child says %q, %v", said, err)
		}
		t.Skipf("strace may not trace here: %v", err)
	}
	data, err := os.ReadFile(trace)
	must(t, err)
	return strings.Split(string(data), "\n"), said
}

// syncsBeforeAnswers traces a process that appends entry by entry, and returns
// how many syncs of its log file came back between one answer and the next.
func syncsBeforeAnswers(t *testing.T, job string) []int {
	t.Helper()
	lines, _ := traced(t, job, "write,fdatasync")
	var counts []int
	syncs := 0
	for _, line := range lines {
		switch {
		case strings.Contains(line, "fdatasync") && strings.HasSuffix(line, "= 0"):
			syncs++
		case strings.Contains(line, fmt.Sprintf("stored %d", len(counts)+1)):
			counts = append(counts, syncs)
			syncs = 0
		}
	}
	return counts
}

// TestSyncedBeforeAnswered: no append is answered before its bytes, and then the
// page that makes them valid, are on the disk.
func TestSyncedBeforeAnswered(t *testing.T) {
	counts := syncsBeforeAnswers(t, "append")
	if len(counts) != 20 {
		t.Fatalf("traced %d appends", len(counts))
	}
	least := 2
	if defaultLogStore == LogWAL {
		least = 1 // the sum of a batch makes it valid, in the same write
	}
	for i, n := range counts {
		if n < least {
			t.Errorf("append %d was answered after %d syncs", i+1, n)
		}
	}
}

// TestReplacedDurably holds the order of calls that makes the marker and a
// snapshot whole or absent after a loss of power.
func TestReplacedDurably(t *testing.T) {
	lines, _ := traced(t, "save", "fsync,fdatasync,rename,renameat,renameat2")
	call := regexp.MustCompile(`(fsync|fdatasync|rename)[a-z0-9]*\(.*/(?:raft/snapshots/)?([^/">]+)[">]`)
	parent := regexp.MustCompile(`^\d{3}$`) // the test's temporary folder
	var order []string
	for _, line := range lines {
		if m := call.FindStringSubmatch(line); m != nil && !strings.Contains(line, "resumed") && m[2] != logName {
			order = append(order, m[1]+" "+parent.ReplaceAllString(m[2], "parent"))
		}
	}
	name := snapshotName(7, 1, 0)
	want := []string{
		"fsync store.json.tmp", "rename store.json", "fsync raft", // creating
		"fsync raft",                                              // the log file's name
		"fsync store.json.tmp", "rename store.json", "fsync raft", // ready
		"fsync parent", // the folder's own name
		"fdatasync data", "fsync meta.json", "fsync " + name + ".tmp", "rename " + name, "fsync snapshots",
	}
	if !slices.Equal(order, want) {
		t.Errorf("order is\n%s\nwant\n%s", strings.Join(order, "\n"), strings.Join(want, "\n"))
	}
}
