package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// FuzzOptionsFile: a file is taken or refused with its place; nothing panics.
func FuzzOptionsFile(f *testing.F) {
	for _, text := range []string{
		"", "name: n1\n", "initial-cluster:\n  n1: h:1\n", "limit-prefix: [a=1, b=2]\n", "- a\n", "name: &a n1\ndata: *a\n",
		"? [a]\n: b\n", "name: !!binary aGk=\n", "<<: {name: x}\n", "name: |\n  a\n  b\n", "limit-call-bytes: 0x10\n", "\xff\xfe", "a: b: c",
	} {
		f.Add(text)
	}
	path := filepath.Join(f.TempDir(), "options.yaml")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := parse([]string{"--config", path}, os.Stdout, os.Stderr)
		var option *wrongOption
		if err != nil && !errors.As(err, &option) {
			t.Errorf("%q gives %v, without its place", text, err)
		}
		if err == nil && p == nil {
			t.Errorf("%q gives nothing", text)
		}
	})
}
