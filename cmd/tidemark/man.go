package main

import (
	"strings"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/cmd/internal/manpage"
)

// manCmd prints the manual page.
type manCmd struct{}

// manPage is what the page says beside the command line.
var manPage = manpage.Page{
	Section: "1",
	About: []string{
		"tidemark looks at a cluster of tidemarkd, which keeps how far message consumers have come: for every group, topic, broker and queue the offset of the next message to consume. It reads and commits offsets, moves them, brings them in from files and writes them out, and looks after members.",
		"Any member may be asked; requests find the leader by themselves. What changes something shows what it would do, and does it with --execute. Results go to standard output, as tables, JSON or YAML; all else goes to standard error, and an error is one line that says what to do next.",
		"Names are taken byte for byte. One that begins with a dash goes after --.",
	},
	Exits: []manpage.Item{
		{Term: "0", Text: "done, or shown"},
		{Term: "1", Text: "failed: interrupted, busy, outcome unknown, output closed"},
		{Term: "2", Text: "no node could be reached"},
		{Term: "3", Text: "bad input: a file, a name, a number"},
		{Term: "4", Text: "refused by a guard, by a newer act, or because a right is missing; or the files are those of a running node, or already there"},
		{Term: "5", Text: "the cluster answers, and something is wrong with it"},
		{Term: "6", Text: "done in part: places of a file were skipped, keys left alone, an import interrupted; or a comparison found differences"},
		{Term: "7", Text: "not found"},
		{Term: "8", Text: "no leader"},
		{Term: "64", Text: "the command line is wrong"},
	},
	Examples: []manpage.Item{
		{Term: "tidemark cluster status", Text: "who leads, and how each member is"},
		{Term: "tidemark import broker-a=/mnt/a/store", Text: "what bringing in a broker's offsets would do"},
		{Term: "tidemark export offsets.native --format native", Text: "all offsets, into a file that shows when it is not whole"},
	},
	Also: []string{"tidemarkd(8)"},
}

// Run prints it.
func (manCmd) Run(s *session, command *kong.Context) error {
	var b strings.Builder
	p := manPage
	p.Version = built().Version
	if err := manpage.Write(&b, command.Model.Node, p); err != nil {
		return err
	}
	return s.text(b.String())
}
