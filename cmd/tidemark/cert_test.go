package main

import (
	"path/filepath"
	"testing"
)

// TestCertificatesOfNoUse are not made: of hosts that nobody could verify, and
// for a caller that no node takes for one.
func TestCertificatesOfNoUse(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	f.tidemark(t, "cert", "ca", dir).want(t, 0, "ca.crt", "")
	for _, host := range []string{"n1.example:7412", "https://n1.example", "[::1]", ""} {
		f.tidemark(t, "cert", "node", "n1", host, "--dir", dir).want(t, exitBadInput, "", "leave scheme, port and brackets out")
	}
	f.tidemark(t, "cert", "client", "anonymous", "--dir", dir).want(t, exitBadInput, "", "choose another")
	f.tidemark(t, "cert", "node", "n1", "n1.example", "::1", "127.0.0.1", "--dir", dir).want(t, 0, "n1.example", "")
}

// TestWhatIsThereStays: a token or certificate takes the place of no file.
func TestWhatIsThereStays(t *testing.T) {
	f, dir := newFake(), t.TempDir()
	for _, args := range [][]string{{"token", "ops", "--out", filepath.Join(dir, "ops.token")}, {"cert", "ca", dir}} {
		f.tidemark(t, args...).silent(t)
		f.tidemark(t, args...).want(t, exitRefused, "", "move it away")
	}
}
