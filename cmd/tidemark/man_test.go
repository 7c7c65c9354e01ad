package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestManHasTheWholeCommandLine: what is parsed is in the page.
func TestManHasTheWholeCommandLine(t *testing.T) {
	page := newFake().tidemark(t, "man").want(t, 0, ".TH \"TIDEMARK\" 1", "").out
	plain := strings.ReplaceAll(page, `\-`, "-")
	for _, c := range newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Model.Leaves(true) {
		if !strings.Contains(plain, ".SS \""+c.FullPath()) {
			t.Errorf("the page lacks %q", c.FullPath())
		}
		for _, f := range c.Flags {
			if !f.Hidden && !strings.Contains(plain, "--"+f.Name) {
				t.Errorf("the page lacks --%s of %q", f.Name, c.FullPath())
			}
		}
	}
	if strings.Contains(plain, "completion words") {
		t.Error("the page has a hidden command")
	}
}

// TestManIsWellFormed by groff, which reads such pages.
func TestManIsWellFormed(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("needs groff: not installed")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8")
	cmd.Stdin = strings.NewReader(newFake().tidemark(t, "man").out)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff says %q, %v", out, err)
	}
}

// TestExitCodesAreDescribedAlike in the page and in docs/cli.md.
func TestExitCodesAreDescribedAlike(t *testing.T) {
	docs, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range manPage.Exits {
		if row := "| " + e.Term + " | " + e.Text + " |"; !strings.Contains(string(docs), row) {
			t.Errorf("docs/cli.md lacks the row %q", row)
		}
	}
	if rows := strings.Count(string(docs), "\n| 64 |") + strings.Count(string(docs), "\n| 8 |"); rows != 2 {
		t.Errorf("docs/cli.md has %d rows of two codes", rows)
	}
}
