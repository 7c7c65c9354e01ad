package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

var update = flag.Bool("update", false, "write the files of testdata/golden anew")

// story is a series of runs of the program on a cluster that is empty at first.
// Its record is testdata/golden/NAME.txt: of each run the command line, the exit
// code, and what came out, byte for byte; random ids are numbered.
//
// The record is made on the cluster in memory, where indexes and times are the
// same each time. On a cluster with raft, disks and connections the same runs
// must give the same, but for what normal takes out.
type story struct {
	name string
	// tell does the runs.
	tell func(s *telling)
	// apart: the story looks at what only the cluster in memory has, such as
	// members of given names, and is not told on a real one.
	apart bool
}

// telling is a story as it is told on one cluster.
type telling struct {
	*testing.T
	cluster
	// fake is the cluster in memory; nil where the story is told on a real one.
	fake *fake
	// exec runs the program.
	exec func(t *testing.T, args ...string) ran
	// words are replaced in what is recorded, such as the names of temporary folders.
	words  []string
	folder string
	record strings.Builder
}

// tidemark runs the program and records it.
func (s *telling) tidemark(args ...string) ran {
	s.Helper()
	r := s.exec(s.T, args...)
	word := strings.NewReplacer(s.words...)
	fmt.Fprintf(&s.record, "$ tidemark%s\n", word.Replace(quotedAll(args)))
	s.record.WriteString(word.Replace(r.out))
	if r.err != "" {
		fmt.Fprintf(&s.record, "--- standard error\n%s", word.Replace(r.err))
	}
	fmt.Fprintf(&s.record, "--- exit code %d\n\n", r.code)
	return r
}

// forms runs the program once for each form of the output.
func (s *telling) forms(args ...string) {
	s.Helper()
	s.tidemark(args...)
	for _, form := range []string{"json", "yaml"} {
		s.tidemark(append(args[:len(args):len(args)], "-o", form)...)
	}
}

// quotedAll gives arguments as a shell takes them, each behind a blank.
func quotedAll(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteByte(' ')
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?#&;|<>()[]{}!~") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		b.WriteString(a)
	}
	return b.String()
}

// dir is a folder for the story's files, which the record calls DIR.
func (s *telling) dir() string {
	s.Helper()
	if s.folder == "" {
		s.folder = s.TempDir()
		s.words = append(s.words, s.folder, "DIR")
	}
	return s.folder
}

// set commits an offset to each key, as consumers do.
func (s *telling) set(n int64, keys ...offset.Key) {
	s.Helper()
	commitTo(s.T, s.cluster, n, keys...)
}

// claim claims a broker, as its own process does.
func (s *telling) claim(broker, holder string) {
	s.Helper()
	_, m, err := s.Fetch(s.Context(), offset.ReadAt{}, key("g", "t", broker, 0))
	if err == nil {
		_, _, err = s.Act(s.Context(), offset.Act{
			ID: newID(), Base: m.Index, Cluster: m.Cluster,
			Take: &offset.Take{ByBroker: true, Name: broker, Holder: holder},
		})
	}
	if err != nil {
		s.Fatal(err)
	}
}

// TestGolden tells each story on the cluster in memory, and compares byte for byte.
func TestGolden(t *testing.T) {
	for _, st := range append(stories, helpStories()...) {
		t.Run(st.name, func(t *testing.T) {
			f := newFake()
			s := &telling{T: t, cluster: f, fake: f, exec: f.tidemark}
			st.tell(s)
			path, got := goldenFile(st.name), numbered(s.record.String())
			if *update {
				write(t, path, got)
			}
			if want := readFile(t, path); got != want {
				t.Errorf("%s is not what the program prints; see what changed by running the test again with -update\n%s", path, firstDifference(want, got))
			}
		})
	}
}

// TestGoldenFilesAreAllTold: a record that no story makes would stand for nothing.
func TestGoldenFilesAreAllTold(t *testing.T) {
	files, err := filepath.Glob(goldenFile("*"))
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, st := range append(stories, helpStories()...) {
		told[goldenFile(st.name)] = true
	}
	for _, f := range files {
		if !told[f] {
			t.Errorf("no story tells %s", f)
		}
	}
}

// helpStories are the help texts, one for each command that there is.
func helpStories() []story {
	var list []story
	for _, leaf := range newParser(&app{}, streams{out: io.Discard, err: io.Discard}, nil).Model.Leaves(true) {
		words := strings.Fields(leaf.FullPath())[1:]
		list = append(list, story{name: "help-" + strings.Join(words, "-"), apart: true, tell: func(s *telling) {
			s.tidemark(append(words, "--help")...)
		}})
	}
	return list
}

// randomID is an id that is drawn at random.
var randomID = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// What is drawn, or follows the clock, in tokens and certificates.
var (
	drawnToken  = regexp.MustCompile(`tdm_[A-Za-z0-9_-]{43}`)
	drawnHash   = regexp.MustCompile(`\b(billing-app|ops) [0-9a-f]{64}\b`)
	certEnd     = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, (\d+) days`)
	certEndJSON = regexp.MustCompile(`(until"?: "?)20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// numbered replaces random ids by numbers, in the order in which they come.
func numbered(record string) string {
	ids := map[string]string{}
	record = drawnToken.ReplaceAllString(record, "tdm_"+strings.Repeat("A", 43))
	record = drawnHash.ReplaceAllString(record, "$1 "+strings.Repeat("0", 64))
	record = certEnd.ReplaceAllString(record, "2027-11-30 12:00:00 UTC, $1 days")
	record = certEndJSON.ReplaceAllString(record, "${1}2027-11-30T12:00:00Z")
	return randomID.ReplaceAllStringFunc(record, func(id string) string {
		if ids[id] == "" {
			ids[id] = fmt.Sprintf("%032x", len(ids)+1)
		}
		return ids[id]
	})
}

func goldenFile(name string) string { return filepath.Join("testdata", "golden", name+".txt") }

func readFile(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// firstDifference gives the first line in which two texts differ.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		if i >= len(w) || i >= len(g) || w[i] != g[i] {
			return fmt.Sprintf("line %d:\nwant %q\ngot  %q", i+1, at(w, i), at(g, i))
		}
	}
	return "no difference"
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(the end)"
}
