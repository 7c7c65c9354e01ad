package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

const (
	// tag is the build tag that package planted looks at.
	tag = "tidemark_mutants"
	// programs is the variable that names the folder of the daemons for the tests
	// that run some.
	programs = "MUTANTS_PROGRAMS"
	// histories is the variable that names the folder where the tests leave a
	// history that fails, unless a mistake was made on purpose.
	histories = "MUTANTS_HISTORIES"
)

// built is what was built with the tag.
type built struct {
	root, dir string
	// tests are test binaries by the folders of their packages.
	tests map[string]string
	// programs is the folder of the daemons, empty if no check needs them.
	programs string
}

func (b *built) remove() { _ = os.RemoveAll(b.dir) } // in the folder for temporary files

// build builds what the checks need.
func build(ctx context.Context, todo []check) (*built, error) {
	dir, err := os.MkdirTemp("", "tidemark-mutants-")
	if err != nil {
		return nil, err
	}
	b := &built{root: local.Root(), dir: dir, tests: map[string]string{}}
	for _, c := range todo {
		if err := b.add(ctx, c); err != nil {
			b.remove()
			return nil, err
		}
	}
	return b, nil
}

func (b *built) add(ctx context.Context, c check) error {
	if b.tests[c.folder] == "" {
		path := filepath.Join(b.dir, strings.ReplaceAll(c.folder, "/", "-")+".test")
		if err := b.compile(ctx, "test", "-c", "-tags", tag, "-o", path, "./"+c.folder); err != nil {
			return err
		}
		b.tests[c.folder] = path
	}
	if c.daemons && b.programs == "" {
		dir := filepath.Join(b.dir, "programs")
		if err := local.Build(dir, tag); err != nil {
			return err
		}
		b.programs = dir
	}
	return nil
}

func (b *built) compile(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
