package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// folder is a package that has targets.
type folder struct {
	// dir is where it lies, pkg how it is imported.
	dir, pkg string

	mu sync.Mutex // one build of it at a time
	// fuzzer is its test binary as fuzzing needs it, covered the one that counts
	// what is covered; empty before they are built.
	fuzzer, covered string
}

// target is one fuzz function.
type target struct {
	*folder
	name string
}

// String gives folder and name.
func (t *target) String() string { return filepath.Base(t.dir) + "." + t.name }

var targetLine = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)

// targets finds them, in the order of their folders.
func (s *settings) targets(ctx context.Context) (list []*target, err error) {
	out, err := output(ctx, s.root, "go", "list", "-f", "{{.Dir}}\t{{.ImportPath}}\t{{.TestGoFiles}} {{.XTestGoFiles}}", "./...")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		parts := strings.Split(strings.TrimSpace(line), "\t")
		if len(parts) != 3 {
			return nil, fmt.Errorf("go list says %q", line)
		}
		f := &folder{dir: parts[0], pkg: parts[1]}
		for file := range strings.FieldsSeq(strings.NewReplacer("[", "", "]", "").Replace(parts[2])) {
			text, err := os.ReadFile(filepath.Join(f.dir, file))
			if err != nil {
				return nil, err
			}
			for _, m := range targetLine.FindAllSubmatch(text, -1) {
				t := &target{f, string(m[1])}
				if name := t.pkg + " " + t.name; s.match.MatchString(name) && !s.skip.MatchString(name) {
					list = append(list, t)
				}
			}
		}
	}
	if len(list) == 0 {
		return nil, errors.New("there is no such target")
	}
	slices.SortStableFunc(list, func(a, b *target) int { return strings.Compare(a.pkg, b.pkg) })
	return list, nil
}

// binary builds a test binary of the folder, once, with these options.
func (f *folder) binary(ctx context.Context, s *settings, to *string, options ...string) (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *to != "" {
		return *to, nil
	}
	dir, err := os.MkdirTemp(s.work, "build-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "test")
	if _, err := output(ctx, s.root, "go", append(append([]string{"test", "-c", "-o", path}, options...), f.pkg)...); err != nil {
		return "", err
	}
	*to = path
	return path, nil
}

// mirror is a folder that looks to a test binary like the target's own, with the
// corpus among the files of testdata. What is written there is not kept.
func (t *target) mirror(s *settings) (string, error) {
	dir, err := os.MkdirTemp(s.work, "mirror-")
	if err != nil {
		return "", err
	}
	seeds := filepath.Join(dir, "testdata", "fuzz", t.name)
	return dir, errors.Join(
		links(t.dir, dir, "testdata"),
		links(filepath.Join(t.dir, "testdata"), filepath.Join(dir, "testdata"), "fuzz"),
		links(filepath.Join(t.dir, "testdata", "fuzz", t.name), seeds, ""),
		links(t.kept(s), seeds, ""))
}

// kept is the folder of the inputs that earlier runs have found.
func (t *target) kept(s *settings) string { return filepath.Join(s.corpus, t.pkg, t.name) }

// links puts a link to each entry of a folder, which need not be there, into
// another, but for one.
func links(from, to, but string) error {
	all, err := os.ReadDir(from)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range all {
		if e.Name() == but {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	return nil
}
