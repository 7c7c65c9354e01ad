package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostChecks is how many checks are taken out before a target is said to notice
// nothing.
const mostChecks = 12

// check is a condition, in a function that the corpus enters, under which an
// error is returned.
type check struct {
	file     string
	from, to int // of the condition, in bytes
	line     int
	// handed: it asks for the error of a call, which another check has made.
	handed bool
}

// plant takes one check after another out until the target fails.
func (s *settings) plant(ctx context.Context, t *target) (line string, ok bool) {
	c, err := s.cover(ctx, t)
	if err != nil {
		return fmt.Sprintf("%-28s %v", t, err), false
	}
	checks, err := checksIn(c.entered)
	if err != nil {
		return fmt.Sprintf("%-28s %v", t, err), false
	}
	for n, k := range checks {
		if n == mostChecks || ctx.Err() != nil {
			break
		}
		found, how, err := s.without(ctx, t, k)
		if err != nil {
			return fmt.Sprintf("%-28s %v", t, err), false
		}
		if found {
			return fmt.Sprintf("%-28s notices that the check in %s:%d is missing (the %d. that was taken out): %s", t, filepath.Base(k.file), k.line, n+1, how), true
		}
	}
	return fmt.Sprintf("%-28s NOTICES NOTHING of %d checks that were taken out", t, min(len(checks), mostChecks)), false
}

// checksIn finds the checks in functions, spread over all of them.
func checksIn(entered map[string][]*ast.FuncDecl) (list []check, err error) {
	for file, funcs := range entered {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return nil, err
		}
		names := map[string]bool{}
		for _, f := range funcs {
			names[f.Name.Name] = true
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if f, ok := n.(*ast.FuncDecl); ok {
				return names[f.Name.Name]
			}
			for _, cond := range refusals(n) {
				from := set.Position(cond.Pos())
				list = append(list, check{file, from.Offset, set.Position(cond.End()).Offset, from.Line, handsOn(cond)})
			}
			return true
		})
	}
	slices.SortFunc(list, func(a, b check) int { // by the line in its file, so that all files come soon
		if a.handed != b.handed {
			if b.handed {
				return -1
			}
			return 1
		}
		if a.line != b.line {
			return a.line - b.line
		}
		return strings.Compare(a.file, b.file)
	})
	return list, nil
}

// refusals are the conditions of an if, or of a case without a tag, under which
// nothing is done but to return, or to note a failure.
func refusals(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.IfStmt:
		if refuses(n.Body.List) {
			return []ast.Expr{n.Cond}
		}
	case *ast.SwitchStmt:
		if n.Tag != nil {
			return nil
		}
		var list []ast.Expr
		for _, s := range n.Body.List {
			if c, ok := s.(*ast.CaseClause); ok && refuses(c.Body) {
				list = append(list, c.List...)
			}
		}
		return list
	}
	return nil
}

func refuses(body []ast.Stmt) bool {
	if len(body) != 1 {
		return false
	}
	switch s := body[0].(type) {
	case *ast.ReturnStmt:
		return true
	case *ast.ExprStmt: // a decoder that notes its failure
		_, call := s.X.(*ast.CallExpr)
		return call
	}
	return false
}

// handsOn tells whether a condition is err != nil.
func handsOn(e ast.Expr) bool {
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	x, ok := b.X.(*ast.Ident)
	return ok && x.Name == "err"
}

// without fuzzes a build that lacks a check. The repository is not touched.
func (s *settings) without(ctx context.Context, t *target, k check) (found bool, how string, err error) {
	dir, err := t.mirror(s)
	if err != nil {
		return false, "", err
	}
	defer os.RemoveAll(dir)
	text, err := os.ReadFile(k.file)
	if err != nil {
		return false, "", err
	}
	mutant, overlay := filepath.Join(dir, "mutant.go"), filepath.Join(dir, "overlay.json")
	changed := string(text[:k.from]) + "false && (" + string(text[k.from:k.to]) + ")" + string(text[k.to:])
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{k.file: mutant}})
	if err = errors.Join(err, os.WriteFile(mutant, []byte(changed), 0o600), os.WriteFile(overlay, replace, 0o600)); err != nil {
		return false, "", err
	}
	bin := filepath.Join(dir, "test")
	if _, err := output(ctx, s.root, "go", "test", "-c", "-fuzz", ".", "-overlay", overlay, "-o", bin, t.pkg); err != nil {
		return false, "", err
	}
	out, err := s.shoot(ctx, t, bin, dir, filepath.Join(dir, "found"))
	if err == nil || ctx.Err() != nil || errors.Is(err, errEndless) { // on a busy machine the last says nothing
		return false, "", ctx.Err()
	}
	return true, reason(out), nil
}

// reason is the first line that says what is wrong.
func reason(out string) string {
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); strings.Contains(line, "panic:") || strings.Contains(line, "_test.go:") || strings.Contains(line, "fatal error:") || strings.Contains(line, "fuzzing process") {
			return line[:min(len(line), 120)]
		}
	}
	return "it failed"
}
