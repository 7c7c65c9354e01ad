package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// until collects what is written, and stops the program at a line.
type until struct {
	bytes.Buffer
	line string
	stop context.CancelFunc
}

func (u *until) Write(b []byte) (int, error) {
	if strings.TrimSpace(string(b)) == u.line {
		u.stop()
	}
	return u.Buffer.Write(b)
}

// TestRunTwice: the second run goes on where the first one was acknowledged.
func TestRunTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "offsets")
	for _, c := range []struct{ last, want string }{
		{"acknowledged 2", "begins at 0\nacknowledged 1\nacknowledged 2\n"},
		{"acknowledged 3", "begins at 2\nacknowledged 3\n"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out := &until{line: c.last, stop: cancel}
		if err := run(ctx, out, dir, "", ""); err != nil || out.String() != c.want {
			t.Fatalf("%q, %v; want %q", out.String(), err, c.want)
		}
	}
}
