package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestRunTwice: the second run goes on where the first one ended, and a file
// that is damaged ends the third.
func TestRunTwice(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []string{"begins at 0\nends at 10\n", "begins at 10\nends at 20\n"} {
		var out bytes.Buffer
		if err := run(context.Background(), &out, dir, "screens", 10); err != nil || out.String() != want {
			t.Fatalf("%q, %v; want %q", out.String(), err, want)
		}
	}
	for _, name := range []string{"offsets.json", "offsets.json.bak"} {
		if err := os.WriteFile(filepath.Join(dir, "127.0.0.1@DEFAULT", "screens", name), []byte{0}, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := run(context.Background(), &out, dir, "screens", 10); err == nil || out.Len() != 0 {
		t.Fatalf("%q, %v", out.String(), err)
	}
}
