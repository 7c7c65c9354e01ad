package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// decoder is a file with conditions of all kinds.
const decoder = `package p

func entered(b []byte) error {
	if len(b) < 4 {
		return errShort
	}
	if err := more(b); err != nil {
		return err
	}
	if len(b) > 9 {
		b = b[:9]
		return nil
	}
	switch {
	case b[0] == 1,
		b[1] == 2:
		return errKind
	case b[0] == 3:
		fail(b)
	default:
		b = nil
	}
	return nil
}

func missed(b []byte) error {
	if b == nil {
		return errNone
	}
	return nil
}
`

// profile has a head, two blocks of entered that were reached, one that was
// not, and one of missed.
const profile = `mode: set
example.org/p/d.go:3.30,4.16 1 1
example.org/p/d.go:4.16,6.3 1 0
example.org/p/d.go:7.2,7.35 2 1
example.org/p/d.go:26.32,27.14 1 0
`

// Of the functions that are entered, what is covered is counted, and the
// conditions that refuse are found, those that hand an error on last.
func TestChecks(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "d.go")
	if err := os.WriteFile(file, []byte(decoder), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := (&target{folder: &folder{dir: dir}}).count(profile)
	if err != nil {
		t.Fatal(err)
	}
	if c.funcs != 1 || c.statements != 4 || c.reached != 3 {
		t.Errorf("covered is %+v", c)
	}
	checks, err := checksIn(c.entered)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, k := range checks {
		got = append(got, decoder[k.from:k.to])
	}
	if want := []string{"len(b) < 4", "b[0] == 1", "b[1] == 2", "b[0] == 3", "err != nil"}; !slices.Equal(got, want) {
		t.Errorf("the checks are %q, want %q", got, want)
	}
	if last := checks[len(checks)-1]; !last.handed || last.line != 7 || last.file != file {
		t.Errorf("the last is %+v", last)
	}
}
