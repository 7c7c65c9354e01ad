package main

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// coverage is how much of the functions that a corpus enters it covers.
type coverage struct {
	// entered are these functions, by file.
	entered             map[string][]*ast.FuncDecl
	funcs               int
	statements, reached int
}

// String gives it in words.
func (c coverage) String() string {
	return fmt.Sprintf("%5.1f%% of %d statements in the %d functions entered", 100*float64(c.reached)/float64(max(c.statements, 1)), c.statements, c.funcs)
}

// block is a line of a profile: statements between two places of a file.
type block struct {
	file               string
	fromLine, fromCol  int
	toLine, toCol      int
	statements, visits int
}

// cover runs seeds and corpus alone, and counts.
func (s *settings) cover(ctx context.Context, t *target) (c coverage, err error) {
	bin, err := t.binary(ctx, s, &t.covered, "-cover", "-covermode=set")
	if err != nil {
		return c, err
	}
	profile, err := s.profile(ctx, t, bin)
	if err != nil && strings.Contains(err.Error(), "in corpus entry") { // kept by a target that took other values
		if err := os.RemoveAll(t.kept(s)); err != nil {
			return c, err
		}
		profile, err = s.profile(ctx, t, bin)
	}
	if err != nil {
		return c, err
	}
	return t.count(profile)
}

// profile is what a covered binary counts.
func (s *settings) profile(ctx context.Context, t *target, bin string) (string, error) {
	dir, err := t.mirror(s)
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "profile")
	if _, err := output(ctx, dir, bin, "-test.run=^"+t.name+"$", "-test.coverprofile="+path); err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// count reads a profile.
func (t *target) count(profile string) (c coverage, err error) {
	byFile := map[string][]block{}
	for line := range strings.Lines(profile) {
		var b block
		name, rest, found := strings.Cut(line, ".go:")
		if n, _ := fmt.Sscanf(rest, "%d.%d,%d.%d %d %d", &b.fromLine, &b.fromCol, &b.toLine, &b.toCol, &b.statements, &b.visits); !found || n != 6 {
			continue // its head
		}
		b.file = path.Base(name) + ".go"
		byFile[b.file] = append(byFile[b.file], b)
	}
	c.entered = map[string][]*ast.FuncDecl{}
	for file, blocks := range byFile {
		if err := c.add(filepath.Join(t.dir, file), blocks); err != nil {
			return c, err
		}
	}
	return c, nil
}

// add counts the blocks of the functions of one file that are entered.
func (c *coverage) add(file string, blocks []block) error {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		return err
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from, to := set.Position(f.Pos()).Line, set.Position(f.End()).Line
		statements, reached := 0, 0
		for _, b := range blocks {
			if b.fromLine >= from && b.toLine <= to {
				statements += b.statements
				reached += b.statements * b.visits
			}
		}
		if reached > 0 {
			c.entered[file] = append(c.entered[file], f)
			c.funcs++
			c.statements += statements
			c.reached += reached
		}
	}
	return nil
}
