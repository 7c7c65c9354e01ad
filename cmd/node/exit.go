package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/node"
)

// The exit codes of the daemon that do not come from package node.
const (
	exitOK    = 0
	exitWrong = node.ExitConfig
	exitUsage = 64
)

// usageError is what is wrong with the command line itself.
type usageError struct{ err error }

// Error gives what is wrong.
func (e *usageError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *usageError) Unwrap() error { return e.err }

// wrongOption is a value that cannot be: of an option, or in the file.
type wrongOption struct {
	// where names the option, or file and line.
	where string
	err   error
}

// Error names the option first.
func (e *wrongOption) Error() string { return e.where + " " + e.err.Error() }

// Unwrap returns the cause.
func (e *wrongOption) Unwrap() error { return e.err }

// wrong says what is the matter with an option; the text goes on after its name.
func wrong(option, format string, args ...any) error {
	return &wrongOption{option, fmt.Errorf(format, args...)}
}

// logged is an error that belongs into the log, since the daemon had begun.
type logged struct {
	err error
	log hclog.Logger
	// json: the log is for programs.
	json bool
}

// Error gives the cause.
func (e *logged) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *logged) Unwrap() error { return e.err }

// tell says why the program ends: in the log, in its form, once that has
// begun; else in a line of its own. What an error has on further lines, such as
// commands to be copied, stands on lines of its own too; a log in JSON has it in one.
func tell(errs io.Writer, err error) {
	l := (*logged)(nil)
	if !errors.As(err, &l) {
		fmt.Fprintf(errs, "tidemarkd: %s\n", oneLine(err.Error()))
		return
	}
	if l.json {
		l.log.Error("the member has ended", "cause", oneLine(err.Error()), "exit_code", exitCode(err))
		return
	}
	lines := strings.Split(err.Error(), "\n")
	l.log.Error("the member has ended", "cause", oneLine(lines[0]), "exit_code", exitCode(err))
	for _, line := range lines[1:] {
		l.log.Error(oneLine(line))
	}
}

// exitCode gives the code that the process ends with.
func exitCode(err error) int {
	var usage *usageError
	var option *wrongOption
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.As(err, &option):
		return exitWrong
	}
	return node.ExitCode(err)
}

// oneLine keeps a text to one line.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
