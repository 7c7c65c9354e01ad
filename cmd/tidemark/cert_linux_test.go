package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatIsHalfWrittenGoes: a token or key that does not fit leaves no file,
// which would stand in the way of the next run, and no key is without its certificate.
func TestWhatIsHalfWrittenGoes(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	f.tidemark(t, "cert", "ca", dir).silent(t)
	hosts := make([]string, 100) // so that the certificate is larger than 1 KiB, and its key is not
	for i := range hosts {
		hosts[i] = fmt.Sprintf("host-%d.example", i)
	}
	for kib, args := range map[string][]string{
		"0": {"token", "ops", "--out", filepath.Join(dir, "ops.token")},
		"1": append([]string{"cert", "node", "n1", "--dir", dir}, hosts...),
	} {
		if said, code := outside(t, "ulimit -f "+kib+"; exec", args...); code == 0 || !strings.Contains(said, "too large") {
			t.Errorf("%q: code %d, %s", args[:2], code, said)
		}
		noLeftovers(t, dir, "ca.crt", "ca.key")
	}
}
