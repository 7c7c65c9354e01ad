package node

import (
	"path/filepath"
	"testing"
)

// TestADiskIsClosedWhereThePortDoesNotOpen: whoever runs a node in a process of its
// own, and corrects what was wrong, finds the folder free.
func TestADiskIsClosedWhereThePortDoesNotOpen(t *testing.T) {
	n, err := New(Config{Name: "n1", Dir: filepath.Join(t.TempDir(), "data"), Alone: true})
	if err != nil {
		t.Fatal(err)
	}
	n.config.Dial = nil
	if err := n.Run(t.Context()); err == nil {
		t.Fatal("a node without a way to dial runs")
	}
	disk, err := n.openDisk()
	if err != nil {
		t.Fatalf("the store is still open: %v", err)
	}
	if err := disk.Close(); err != nil {
		t.Error(err)
	}
}
