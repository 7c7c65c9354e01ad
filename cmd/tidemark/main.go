// Command tidemark is the command line of a Tidemark cluster: it reads and
// commits offsets, moves groups in and out, and looks after members.
//
// Results go to standard output, everything else to standard error; an error
// is one line that says what to do next. The exit codes are in exit.go. What
// changes something shows what it would do, and does it with --execute.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	// A closed pipe is an error of the write, and so an exit code, not a signal.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends what does not look at ctx, such as the wait for a pipe's writer
	code := run(ctx, os.Args[1:], streams{
		out:      os.Stdout,
		err:      os.Stderr,
		terminal: term.IsTerminal(int(os.Stderr.Fd())),
		screen:   term.IsTerminal(int(os.Stdout.Fd())),
	}, dial)
	stop()
	os.Exit(code)
}
