package main

import (
	"io"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/cmd/internal/manpage"
	"github.com/tidemark-mq/tidemark/node"
)

// exitCodes is the table of what the process ends with, but for 0 and 1.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{exitWrong, "an option, or the file, is wrong, or the data folder is another member's, somebody else's, or cannot be written; nothing was written"},
	{exitUsage, "the command line is wrong"},
	{node.ExitLatched, "an entry of the log could not be applied; the state of this member can no longer be trusted"},
	{node.ExitDamaged, "the data folder is damaged, a copy of one in use, of another cluster, or of a later format level than this build reads"},
	{node.ExitRemoved, "the member has been removed from its cluster"},
	{node.ExitHang, "applying an entry did not come to an end"},
	{74, "the disk gave an error"},
	{75, "the disk is full"},
	{76, "a write to the disk hung"},
	{77, "the log contradicted an installed snapshot and was dropped; start the member again"},
	{node.ExitLocked, "another process uses the data folder"},
}

// printManual writes the manual page, made from the options.
func printManual(out io.Writer, model *kong.Node) error {
	p := manpage.Page{
		Section: "8", Version: version(),
		About: []string{
			"tidemarkd is a member of a cluster that keeps how far message consumers have come. It serves clients on one port and other members on another, keeps its state in a data folder, and logs to standard error.",
			"Each option is a flag, an environment variable and a key of the YAML file that --config names; a flag wins over the environment, which wins over the file. --print-config shows what is in effect. What is wrong ends the start before anything is written.",
			"The first SIGTERM or SIGINT hands leadership over, answers what was taken, and ends; a second one ends at once.",
		},
		Exits: []manpage.Item{{Term: "0", Text: "stopped by a signal, cleanly"}, {Term: "1", Text: "anything without a code of its own; also a stop that was cut short"}},
		Files: []manpage.Item{
			{Term: "member.json", Text: "in the data folder: who the member is"},
			{Term: "raft/", Text: "in the data folder: log, vote and snapshots"},
			{Term: "audit.log", Text: "in the data folder: a line for each act of an operator"},
		},
		Also: []string{"tidemark(1)"},
	}
	for _, c := range exitCodes {
		p.Exits = append(p.Exits, manpage.Item{Term: strconv.Itoa(c.code), Text: c.meaning})
	}
	return manpage.Write(out, model, p)
}
