package complete

import (
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// line is a small command line with all that a model can hold.
type line struct {
	Format string   `short:"o" enum:"json,yaml" default:"json" help:"How it looks."`
	Where  []string `help:"Where it is." name:"where"`
	Loud   bool     `help:"Say more."`
	Secret string   `hidden:""`

	Group struct {
		List struct {
			Limit int `help:"At most so many. 0 for all."`
		} `cmd:"" help:"List them."`
		Show struct {
			Name string   `arg:"" help:"Which."`
			Kind string   `arg:"" optional:"" enum:"one,two," default:""`
			Rest []string `arg:"" optional:""`
		} `cmd:"" help:"Show one."`
	} `cmd:"" help:"Groups."`
	Gone struct{} `cmd:"" hidden:""`
	Load struct {
		File string `arg:""`
	} `cmd:"" help:"Load."`
}

func suggest(t *testing.T, words string) Suggestion {
	t.Helper()
	k, err := kong.New(&line{}, kong.Name("prog"))
	if err != nil {
		t.Fatal(err)
	}
	return Suggest(k.Model.Node, strings.Split(words, " "))
}

func TestSuggest(t *testing.T) {
	for words, want := range map[string]string{
		"":                         "group load",
		"g":                        "group",
		"group ":                   "list show",
		"group l":                  "list",
		"group list --l":           "--loud --limit",
		"group list --limit 3 --l": "--loud",
		"group list --limit --l":   "", // the value of --limit
		"--loud group list --":     "--help --format --where --limit",
		"--where a group --w":      "--where",
		"-o ":                      "json yaml",
		"-o y":                     "yaml",
		"-o json gr":               "group",
		"-ojson group s":           "show",
		"--format=":                "--format=json --format=yaml",
		"--format=y":               "--format=yaml",
		"--format y":               "yaml",
		"--nonsense=":              "",
		"--loud=":                  "",
		"group show x ":            "one two ",
		"group show x t":           "two",
		"group show -- --limit t":  "two",
		"group show x one --loud ": "",
		"group list -- --l":        "",
		"gone --h":                 "--help",
		"unknown ":                 "group load",
	} {
		var got []string
		for _, w := range suggest(t, words).Words {
			got = append(got, w.Text)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q suggests %q, want %q", words, got, want)
		}
	}
}

// TestSuggestNamesTheValue, so that the caller may add what it knows.
func TestSuggestNamesTheValue(t *testing.T) {
	for words, want := range map[string]string{
		"load ": "file", "load x ": "", "group show ": "name", "group show a one b c ": "rest", "--where ": "where", "--where=a": "where", "group list --limit ": "limit", "": "",
	} {
		got := ""
		if v := suggest(t, words).Value; v != nil {
			got = v.Name
		}
		if got != want {
			t.Errorf("%q asks for %q, want %q", words, got, want)
		}
	}
	s := suggest(t, "--where a --loud load --where=b")
	s.Offer("bcd")
	s.Offer("xyz")
	if len(s.Words) != 1 || s.Words[0].Text != "--where=bcd" || s.Flags["where"] != "a" || s.Flags["loud"] != "true" {
		t.Errorf("got %+v", s)
	}
	if got := Suggest((&kong.Kong{Model: &kong.Application{Node: &kong.Node{}}}).Model.Node, nil); len(got.Words) > 0 {
		t.Errorf("an empty model suggests %v", got)
	}
}

// TestJoined: bash takes words apart at '=' and ':'.
func TestJoined(t *testing.T) {
	for _, c := range []struct {
		words string
		want  string
		cut   int
	}{
		{"", "", 0},
		{"a|b", "a|b", 0},
		{"--format|=|na", "--format=na", 9},
		{"--format|=", "--format=", 9},
		{"--endpoints|h|:|7411|get|", "--endpoints|h:7411|get|", 0},
		{"--endpoints|=|h|:|74", "--endpoints=h:74", 14},
		{"get|'a b", "get|a b", 0},
		{`get|a\ b`, "get|a b", 0},
	} {
		got, cut := Joined("bash", strings.Split(c.words, "|"))
		if strings.Join(got, "|") != c.want || cut != c.cut {
			t.Errorf("%q is %q, cut %d; want %q, %d", c.words, got, cut, c.want, c.cut)
		}
	}
	if got, cut := Joined("zsh", []string{"--a", "=", "b"}); !slices.Equal(got, []string{"--a", "=", "b"}) || cut != 0 {
		t.Errorf("zsh's are %q, %d", got, cut)
	}
	if got, _ := Joined("bash", nil); !slices.Equal(got, []string{""}) {
		t.Errorf("nothing is %q", got)
	}
}

// FuzzSuggest: whatever stands in a command line, nothing breaks, and what is
// suggested continues it.
func FuzzSuggest(f *testing.F) {
	f.Add("group show x --limit= -o", true)
	f.Add("-|--|=|:|--=", false)
	f.Fuzz(func(t *testing.T, words string, bash bool) {
		shell := "fish"
		if bash {
			shell = "bash"
		}
		list, cut := Joined(shell, strings.Split(words, " "))
		k, err := kong.New(&line{}, kong.Name("prog"))
		if err != nil {
			t.Fatal(err)
		}
		s := Suggest(k.Model.Node, list)
		last := list[len(list)-1]
		if cut > len(last) {
			t.Fatalf("cut %d of %q", cut, last)
		}
		for _, w := range s.Words {
			if !strings.HasPrefix(w.Text, s.Before+s.Partial) {
				t.Fatalf("%q suggests %q", words, w.Text)
			}
		}
		if err := Print(&strings.Builder{}, shell, s, cut, true); err != nil {
			t.Fatal(err)
		}
	})
}
