package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestManual: the page has every option and exit code, and groff reads it.
func TestManual(t *testing.T) {
	r := try(t, nil, "--man")
	if r.code != 0 || r.errs != "" || !strings.HasPrefix(r.out, `.TH "TIDEMARKD" 8 `) {
		t.Fatalf("got %+v", r)
	}
	plain := strings.ReplaceAll(r.out, `\-`, "-")
	p, err := parse(nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.flags {
		if has := strings.Contains(plain, "--"+f.Name); has == f.Hidden {
			t.Errorf("--%s is on the page: %v", f.Name, has)
		}
	}
	for _, c := range exitCodes {
		if !strings.Contains(plain, "\n"+c.meaning+"\n") {
			t.Errorf("the page lacks the code %d", c.code)
		}
	}
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("needs groff: not installed")
	}
	cmd := exec.CommandContext(t.Context(), groff, "-man", "-ww", "-z", "-Tutf8")
	cmd.Stdin = strings.NewReader(r.out)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("groff says %q, %v", out, err)
	}
}
