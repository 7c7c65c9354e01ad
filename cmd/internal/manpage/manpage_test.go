package manpage

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

type line struct {
	Format string `short:"o" enum:"json,yaml" default:"json" env:"PROG_FORMAT" help:"How it looks, -o json…"`
	Secret string `hidden:""`
	Show   struct {
		Name string `arg:"" help:".Which \\ \"one\"."`
		Kind string `arg:"" optional:"" help:"'tis what."`
		Deep struct {
			Much bool `help:"All."`
		} `embed:""`
	} `cmd:"" help:"Show one."`
	Gone struct{} `cmd:"" hidden:"" help:"Hidden."`
	Load struct{} `cmd:"" help:"Load."`
}

const golden = `.TH "PROG" 1 "" "prog v1" "Tidemark"
.SH "NAME"
prog \- does it
.SH "SYNOPSIS"
.B prog
COMMAND [ARGUMENT ...] [FLAG ...]
.SH "DESCRIPTION"
.PP
First.
.PP
Two lines.
.SH "FLAGS OF ALL COMMANDS"
.TP
.B \-h, \-\-help
Show context\-sensitive help.
.TP
.B \-o, \-\-format="json"
How it looks, \-o json...
.SH "COMMANDS"
.SS "prog show <name> [<kind>]"
Show one.
.TP
.B <name>
\&.Which \e "one".
.TP
.B <kind>
\&'tis what.
.TP
.B \-\-much
All.
.SS "prog load"
Load.
.SH "EXIT STATUS"
.TP
.B 0
done
.SH "ENVIRONMENT"
.TP
.B PROG_FORMAT
Stands for \-\-format.
.SH "SEE ALSO"
other(8)
`

func page(t *testing.T, w io.Writer) error {
	t.Helper()
	k, err := kong.New(&line{}, kong.Name("prog"), kong.Description("Does it."))
	if err != nil {
		t.Fatal(err)
	}
	return Write(w, k.Model.Node, Page{Section: "1", Version: "v1", About: []string{"First.", "Two\nlines."}, Exits: []Item{{"0", "done"}}, Also: []string{"other(8)"}})
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	if err := page(t, &b); err != nil || b.String() != golden {
		t.Errorf("wrote\n%s\nwant\n%s, %v", &b, golden, err)
	}
	if err := page(t, full{}); !errors.Is(err, errFull) {
		t.Errorf("a write that failed gives %v", err)
	}
}

// TestWriteWithoutCommands: a daemon has flags alone.
func TestWriteWithoutCommands(t *testing.T) {
	k, err := kong.New(&struct {
		Loud bool `help:"Say more."`
	}{}, kong.Name("daemon"), kong.Description("A thing. It has more to say."))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Write(&b, k.Model.Node, Page{Section: "8", Files: []Item{{"/x", "what"}}, Examples: []Item{{"daemon", "runs"}}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"daemon \\- a thing\n", ".B daemon\n[FLAG ...]\n", ".SH \"FLAGS\"\n", ".B \\-\\-loud\nSay more.\n", ".SH \"FILES\"\n.TP\n.B /x\nwhat\n", ".SH \"EXAMPLES\"\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &b)
		}
	}
	if strings.Contains(b.String(), "COMMAND") {
		t.Errorf("there are commands in\n%s", &b)
	}
}

var errFull = errors.New("full")

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
