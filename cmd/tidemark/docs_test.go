package main

import (
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// page is the documentation whose examples are records.
const page = "../../docs/cli.md"

// example is a block of the page: runs of the program with what they print.
var example = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// recorded is one run of a record.
var recorded = regexp.MustCompile(`(?ms)^\$ (tidemark.*?)\n(.*?)^--- exit code (\d+)\n\n`)

// TestDocsShowWhatTheProgramPrints: each example of docs/cli.md is a run that a
// golden file records; with -update it becomes one. No command is left out.
func TestDocsShowWhatTheProgramPrints(t *testing.T) {
	runs := allRuns(t)
	text := readFile(t, page)
	shown := example.ReplaceAllStringFunc(text, func(block string) string {
		body := example.FindStringSubmatch(block)[1]
		var b strings.Builder
		for _, part := range strings.SplitAfter("\n"+body, "\n$ ")[1:] {
			line, _, _ := strings.Cut(part, "\n")
			old := "$ " + strings.TrimSuffix(part, "$ ")
			list := runs[line]
			switch {
			case len(list) == 0:
				t.Errorf("no golden file records %q", line)
				b.WriteString(old)
			case slices.Contains(list, old):
				b.WriteString(old)
			default:
				b.WriteString(list[0])
			}
		}
		return "```console\n" + b.String() + "```\n"
	})
	if shown != text && *update {
		write(t, page, shown)
	} else if shown != text {
		t.Errorf("%s does not show what the program prints; run the test again with -update\n%s", page, firstDifference(shown, text))
	}
	for _, leaf := range newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Model.Leaves(true) {
		if name := leaf.FullPath(); !strings.Contains(shown, "\n$ "+name) {
			t.Errorf("%s shows no example of %q", page, name)
		}
	}
}

// allRuns reads the golden files: what each command line prints, as the page
// shows it, in the order of the files.
func allRuns(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	runs := map[string][]string{}
	for _, f := range files {
		for _, m := range recorded.FindAllStringSubmatch(readFile(t, f), -1) {
			out := "$ " + m[1] + "\n" + strings.Replace(m[2], "--- standard error\n", "", 1)
			if m[3] != "0" {
				out += "(exit code " + m[3] + ")\n"
			}
			runs[m[1]] = append(runs[m[1]], out)
		}
	}
	return runs
}
