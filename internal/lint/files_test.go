package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Bounds on our own Go files; generated ones are apart.
const (
	mostLines    = 500
	mostFunction = 100
)

// tracked gives the files under version control.
func tracked(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	files := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	if len(files) < 10 {
		t.Fatalf("only %d files found", len(files))
	}
	return files
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", name))
	if os.IsNotExist(err) {
		return nil // deleted, and not yet committed
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// marks are texts that must not be in any file: unfinished work, and paths of
// a machine. They are put together here, so that this file does not hold them.
var marks = regexp.MustCompile(`\b(` + strings.Join([]string{"TO" + "DO", "FIX" + "ME", "XX" + "X"}, "|") + `)\b|(^|[^\w.)}$-])/(` + strings.Join([]string{"wo" + "rk", "ro" + "ot", "ho" + "me"}, "|") + `)/`)

func TestNothingIsLeftBehind(t *testing.T) {
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, "go.sum") {
			continue
		}
		b := read(t, name)
		if bytes.IndexByte(b, 0) >= 0 { // no text
			continue
		}
		for i, line := range bytes.Split(b, []byte("\n")) {
			if m := marks.Find(line); m != nil {
				t.Errorf("%s:%d holds %q", name, i+1, m)
			}
		}
	}
}

func TestMarksBite(t *testing.T) {
	for text, want := range map[string]bool{
		"// TO" + "DO: later": true, "FIX" + "ME": true, "cd /wo" + "rk/x": true, "\"/ro" + "ot/.cache\"": true,
		"AUTODO": false, "at a network/work/place": false, "$HOME/work/": false,
	} {
		if got := marks.MatchString(text); got != want {
			t.Errorf("%q: found is %v", text, got)
		}
	}
}

// TestGoFiles holds our files to the bounds, and to documentation of what they export.
func TestGoFiles(t *testing.T) {
	for _, name := range tracked(t) {
		if filepath.Ext(name) != ".go" {
			continue
		}
		src := read(t, name)
		if src == nil || bytes.Contains(src, []byte("// Code generated ")) {
			continue
		}
		if n := bytes.Count(src, []byte("\n")); n > mostLines {
			t.Errorf("%s has %d lines; %d are the most", name, n, mostLines)
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, src, parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		checkFile(t, fset, f, strings.HasSuffix(name, "_test.go"))
	}
}

func checkFile(t *testing.T, fset *token.FileSet, f *ast.File, test bool) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if n := fset.Position(d.End()).Line - fset.Position(d.Pos()).Line + 1; n > mostFunction && !test {
				t.Errorf("%s: %s has %d lines; %d are the most", fset.Position(d.Pos()), d.Name.Name, n, mostFunction)
			}
			if !test && d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) {
				t.Errorf("%s: %s is not documented", fset.Position(d.Pos()), d.Name.Name)
			}
		case *ast.GenDecl:
			if !test {
				checkGen(t, fset, d)
			}
		}
	}
}

// exportedReceiver tells whether a method can be seen from outside.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	if s, ok := typ.(*ast.StarExpr); ok {
		typ = s.X
	}
	if x, ok := typ.(*ast.IndexExpr); ok {
		typ = x.X
	}
	id, ok := typ.(*ast.Ident)
	return ok && id.IsExported()
}

func checkGen(t *testing.T, fset *token.FileSet, d *ast.GenDecl) {
	for _, s := range d.Specs {
		var names []*ast.Ident
		doc := d.Doc != nil
		switch s := s.(type) {
		case *ast.TypeSpec:
			names, doc = []*ast.Ident{s.Name}, doc || s.Doc != nil
		case *ast.ValueSpec:
			names, doc = s.Names, doc || s.Doc != nil || s.Comment != nil
		}
		for _, n := range names {
			if n.IsExported() && !doc {
				t.Errorf("%s: %s is not documented", fset.Position(n.Pos()), n.Name)
			}
		}
	}
}
