package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var fence = regexp.MustCompile("(?s)```(sh|json|text)\n(.*?)```")

// The examples of docs/api.md, run one after the other in one shell against a
// daemon, answer what the page says. Where the page has "…" anything may
// stand.
func TestExamplesOfTheAPIPage(t *testing.T) {
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s: not installed", tool)
		}
	}
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	p := spawn(t, dev(t)...)
	p.ready(t)
	await(t, "the member's announcement of its address", func() bool {
		_, answer, err := post("http://"+p.api+"/tidemark.v1.ClusterService/Status", `{}`)
		return err == nil && strings.Count(answer, p.api) == 2 // as the leader, and among the members
	})
	const between = "\x1e"
	var script bytes.Buffer
	var want []string
	for _, block := range fence.FindAllSubmatch(page, -1) {
		text := strings.ReplaceAll(string(block[2]), "127.0.0.1:7411", p.api)
		if string(block[1]) == "sh" {
			fmt.Fprintf(&script, "printf '%s'\n%s", between, text)
			want = append(want, "")
		} else if len(want) > 0 {
			want[len(want)-1] = text
		}
	}
	var errs bytes.Buffer
	sh := exec.Command("bash", "-eu", "-o", "pipefail")
	sh.Stdin, sh.Stderr, sh.Env = &script, &errs, cleanEnv()
	out, err := sh.Output()
	if err != nil {
		t.Fatalf("the examples: %v\n%s\n%s", err, out, errs.String())
	}
	got := strings.Split(string(out), between)[1:]
	if len(got) != len(want) || len(want) < 10 {
		t.Fatalf("%d examples gave %d answers", len(want), len(got))
	}
	for i, w := range want {
		compare(t, i, strings.TrimSpace(got[i]), strings.TrimSpace(w))
	}
	p.signal(t, syscall.SIGTERM)
	if code := p.wait(t); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}

func compare(t *testing.T, i int, got, want string) {
	t.Helper()
	var g, w any
	if json.Unmarshal([]byte(want), &w) != nil || !strings.HasPrefix(want, "{") {
		if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
			t.Errorf("example %d answers %q, the page has %q", i+1, got, want)
		}
		return
	}
	if err := json.Unmarshal([]byte(got), &g); err != nil {
		t.Errorf("example %d answers %q: %v", i+1, got, err)
		return
	}
	if fault := differs("", g, w); fault != "" {
		t.Errorf("example %d: %s\nit answers %s\nthe page has %s", i+1, fault, got, want)
	}
}

// differs names the first place where got is not what want has.
func differs(at string, got, want any) string {
	switch w := want.(type) {
	case string:
		if g, ok := got.(string); ok && (w == "…" && g != "" || g == w) {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has %v, not %v", at, got, want)
		}
		for k := range w {
			if fault := differs(at+"."+k, g[k], w[k]); fault != "" {
				return fault
			}
		}
		return ""
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			return fmt.Sprintf("%s has %v, not %v", at, got, want)
		}
		for i := range w {
			if fault := differs(fmt.Sprintf("%s[%d]", at, i), g[i], w[i]); fault != "" {
				return fault
			}
		}
		return ""
	default:
		if reflect.DeepEqual(got, want) {
			return ""
		}
	}
	return fmt.Sprintf("%s is %v, not %v", at, got, want)
}
