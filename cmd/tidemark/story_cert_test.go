package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// tellCert: from nothing to what a cluster of one's own needs.
func tellCert(s *telling) {
	dir := s.dir() + "/certs"
	s.tidemark("cert", "ca", dir)
	s.tidemark("cert", "node", "n1", "n1.example", "10.0.0.1", "--dir", dir)
	s.tidemark("cert", "client", "billing-app", "--dir", dir)
	s.tidemark("cert", "show", dir+"/n1.crt")
	s.tidemark("cert", "show", dir+"/n1.crt", "-o", "yaml")
	s.tidemark("token", "billing-app", "--out", dir+"/billing-app.token")
	s.tidemark("token", "ops")
	s.tidemark("token", "ops", "-o", "json")
	onlyTheirOwnersMayRead(s.T, dir)

	// What is there stays, and what cannot be is refused.
	s.tidemark("cert", "ca", dir)
	s.tidemark("cert", "node", "n1", "n1.example", "--dir", dir)
	s.tidemark("cert", "client", "billing-app", "--dir", dir)
	s.tidemark("token", "billing-app", "--out", dir+"/billing-app.token")
	s.tidemark("cert", "client", "../x", "--dir", dir)
	s.tidemark("cert", "client", "late", "--dir", dir, "--days", "0")
	s.tidemark("token", "anonymous")
	s.tidemark("cert", "client", "x", "--dir", s.dir())
}

// onlyTheirOwnersMayRead checks C44 (hashicorp/consul#3664) for files that hold
// secrets: 0600 below 0700, whatever the umask.
func onlyTheirOwnersMayRead(t *testing.T, dir string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(path)
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		} else {
			files++
		}
		if err == nil && info.Mode().Perm() != want {
			t.Errorf("%s is %v, want %v", path, info.Mode().Perm(), want)
		}
		return err
	})
	if err != nil || files != 7 {
		t.Errorf("%d files, %v", files, err)
	}
}
