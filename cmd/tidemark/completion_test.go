package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cmd/internal/complete"
)

func TestCompletionWords(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("billing", "orders", "", 0), key("bill of sale", "orders", "", 0), key("audit", "refunds", "", 0))
	f.saved = filepath.Join(t.TempDir(), "contexts")
	f.tidemark(t, "contexts", "add", "prod", "h:7411").want(t, 0, "prod", "")
	for words, want := range map[string]string{
		"group describe b":           "bill of sale,billing",
		"get billing o":              "orders",
		"export --group=b":           "--group=bill of sale,--group=billing",
		"export --without ":          "audit,bill of sale,billing",
		"export --topic r":           "refunds",
		"--context p":                "prod",
		"import --format n":          "native",
		"import x.json ":             ":files",
		"export x --base ":           ":files",
		"cluster st":                 "status\tShow the members, who leads, and how each of them is.",
		"completion b":               "bash\tPrint what bash reads: source <(tidemark completion bash).",
		"--endpoints none group d a": "",
	} {
		args := append([]string{"completion", "words", "--"}, strings.Split(words, " ")...)
		r := f.tidemark(t, args...)
		if got := strings.ReplaceAll(strings.TrimSuffix(r.out, "\n"), "\n", ","); got != want || r.code != 0 || r.err != "" {
			t.Errorf("%q gives %q, %d, %q; want %q", words, got, r.code, r.err, want)
		}
	}
	f.down = fmt.Errorf("gone")
	f.tidemark(t, "completion", "words", "--", "group", "describe", "b").want(t, 0, "", "")
	f.tidemark(t, "completion", "words").want(t, 0, "cluster", "")
	f.tidemark(t, "completion").want(t, exitUsage, "", "expected one of")
	f.tidemark(t, "completion", "tcsh").want(t, exitUsage, "", "tcsh")
}

// shellTest is what a shell must offer for a command line that ends here. In
// bash the words are those that it makes of the line.
type shellTest struct{ words, want string }

var shellTests = []shellTest{
	{"group re", "remove reset"},
	{"import --format nat", "native"},
	{"group list --no-such ", ""},
	{"dump log ./some-f", "./some-file"},
}

// inShell runs a script of a shell in a folder, where tidemark is this program.
func inShell(t *testing.T, shell string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("needs %s: not installed", shell)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "some-file"), "")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, self)
	if err := os.WriteFile(filepath.Join(dir, "tidemark"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+dir, "TIDEMARK_ENDPOINTS=127.0.0.1:1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", shell, err, out)
	}
	return string(out)
}

func TestCompletionInBash(t *testing.T) {
	const ask = `source <(tidemark completion bash)
complete -p tidemark >/dev/null || exit 9
compopt() { :; } # there is no completion under way
COMP_WORDS=(tidemark "$@") COMP_CWORD=$#
_tidemark
echo "${COMPREPLY[*]}"`
	tests := append(shellTests,
		shellTest{"import --format = nat", "native"}, // bash parts at '='
		shellTest{"export x --base = ./some-f", "./some-file"},
		shellTest{"group describe --lev", "--level"})
	for _, c := range tests {
		args := append([]string{"--norc", "-c", ask, "bash"}, strings.Split(c.words, " ")...)
		if got := sorted(inShell(t, "bash", args...)); got != c.want {
			t.Errorf("%q offers %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompletionInZsh(t *testing.T) {
	const ask = `compdef() { :; }
compset() { :; }
_files() { print -- "./some-file" }
_describe() { print -- ${${(P)@[-1]}%%:*} }
source <(tidemark completion zsh)
words=(tidemark "$@") CURRENT=$#words
_tidemark || true # it fails where there is nothing to offer`
	for _, c := range shellTests {
		args := append([]string{"-f", "-c", ask, "zsh"}, strings.Split(c.words, " ")...)
		if got := sorted(inShell(t, "zsh", args...)); got != c.want {
			t.Errorf("%q offers %q, want %q", c.words, got, c.want)
		}
	}
}

func TestCompletionInFish(t *testing.T) {
	for _, c := range shellTests {
		out := inShell(t, "fish", "-N", "-c", fmt.Sprintf("tidemark completion fish | source; complete -C 'tidemark %s'", c.words))
		if got := sorted(regexp.MustCompile(`\t.*`).ReplaceAllString(out, "")); got != c.want {
			t.Errorf("%q offers %q, want %q", c.words, got, c.want)
		}
	}
}

// sorted puts words in order, since each shell has one of its own.
func sorted(words string) string {
	list := strings.Fields(words)
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestScriptsAreWellFormed by the shells' own check.
func TestScriptsAreWellFormed(t *testing.T) {
	for _, shell := range complete.Shells {
		r := newFake().tidemark(t, "completion", shell).want(t, 0, "completion words --shell "+shell, "")
		t.Run(shell, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "script")
			write(t, path, r.out)
			inShell(t, shell, "-n", path)
		})
	}
}
