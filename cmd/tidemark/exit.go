package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// The exit codes. They never change their meaning.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUnreachable = 2
	exitBadInput    = 3
	exitRefused     = 4
	exitUnhealthy   = 5
	exitPartial     = 6
	exitNotFound    = 7
	exitNoLeader    = 8
	exitUsage       = 64
)

// exitError ends the program with a code of its own. Without err nothing is
// printed: the result said it already.
type exitError struct {
	code int
	err  error
}

// Error gives the cause.
func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.err }

// exitf returns an error that ends the program with code.
func exitf(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

// cause is a row of the table of what ends a command.
type cause struct {
	err  error
	code int
	// next is what to do next; empty where the error says it itself.
	next string
}

// causes is looked through from the top.
var causes = []cause{
	{syscall.EPIPE, exitFailed, "whoever read the output closed it early"},
	{offset.ErrUnreachable, exitUnreachable, "check --endpoints, and whether the nodes run"},
	{offset.ErrNoLeader, exitNoLeader, "see \"tidemark cluster status\": a majority of the voters must be up"},
	{offset.ErrNotLeader, exitNoLeader, "an election may be under way; try again"},
	{offset.ErrNotReady, exitUnhealthy, "the node is still starting or catching up; try again, or see its /readyz"},
	{offset.ErrDenied, exitRefused, "ask whoever runs the cluster for the right"},
	{offset.ErrFenced, exitRefused, "the key was moved on purpose meanwhile; look at it again before you repeat this"},
	{offset.ErrNotApplied, exitRefused, "look at the keys again before you repeat this"},
	{offset.ErrSuperseded, exitRefused, "the keys were changed meanwhile; look at them again before you repeat this"},
	{offset.ErrTooOld, exitRefused, "many other acts came between; run it again"},
	{offset.ErrImportBusy, exitRefused, "see \"tidemark cluster status\"; let it end, or drop it with \"tidemark import --abort --execute\""},
	{offset.ErrForeignCluster, exitRefused, "check --endpoints: they belong to another cluster than before"},
	{offset.ErrLimit, exitRefused, "the cluster keeps no more of these; remove what is not needed"},
	{offset.ErrLevel, exitRefused, "upgrade all members, then raise the format level"},
	{offset.ErrNoOffset, exitNotFound, ""},
	{offset.ErrNotFound, exitNotFound, "see \"tidemark group list\" for what there is"},
	{offset.ErrNoImport, exitNotFound, "see \"tidemark cluster status\""},
	{offset.ErrInvalid, exitBadInput, ""},
	{offset.ErrDamaged, exitBadInput, ""},
	{offset.ErrOutcomeUnknown, exitFailed, "it may have been done or not; look, then run it again"},
	{offset.ErrBusy, exitFailed, "try again later"},
	{context.Canceled, exitFailed, "stopped by a signal"},
	{context.DeadlineExceeded, exitUnreachable, "no answer in time; check --endpoints, or raise --timeout"},
	{fs.ErrExist, exitRefused, "it is not replaced; name another file, or move it away"},
	{fs.ErrNotExist, exitBadInput, "check the path"},
	{fs.ErrPermission, exitBadInput, "check who may read or write there"},
}

// causeOf finds the row of an error.
func causeOf(err error) cause {
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c
		}
	}
	return cause{code: exitFailed}
}

// codeOf returns the exit code of an error.
func codeOf(err error) int {
	var e *exitError
	var f *offsetfile.Fault
	var locked *store.LockedError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &e):
		return e.code
	case errors.As(err, &f):
		return exitBadInput
	case errors.As(err, &locked):
		return exitRefused
	}
	return causeOf(err).code
}

// finish prints the error of a command, if there is something to print, and
// returns the exit code.
func (s *session) finish(err error) int {
	var e *exitError
	if err != nil && !(errors.As(err, &e) && e.err == nil) {
		s.note("tidemark: %s", oneLine(err))
	}
	return codeOf(err)
}

// oneLine gives an error and what to do next in one line of plain characters;
// one that names a command says so itself.
func oneLine(err error) string {
	text := err.Error()
	var e *exitError
	if next := causeOf(err).next; next != "" && !errors.As(err, &e) && !strings.Contains(text, "`tidemark ") {
		text += " (" + next + ")"
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// usage prints what is wrong with the command line, or that a number in args is
// below 0, which is bad input.
func usage(st streams, args []string, err error) int {
	if n := negative(args); n != "" && strings.HasPrefix(err.Error(), "unknown flag -") {
		err := offset.Errorf(offset.ErrInvalid, "%s is negative; queues and offsets are 0 or more (a name that begins with a dash goes after --)", n)
		fmt.Fprintf(st.err, "tidemark: %s\n", oneLine(err))
		return exitBadInput
	}
	fmt.Fprintf(st.err, "tidemark: %s (see \"%s --help\")\n", oneLine(err), commandOf(err))
	return exitUsage
}

// commandOf gives the command whose help says more of what is wrong with the
// command line.
func commandOf(err error) string {
	var e *kong.ParseError
	if errors.As(err, &e) && e.Context.Selected() != nil {
		return e.Context.Selected().FullPath()
	}
	return "tidemark"
}

// text refuses bytes that are no text: the parser would put another character
// in their place, and so name something else.
func text(args []string) error {
	for _, a := range args {
		if !utf8.ValidString(a) {
			return offset.Errorf(offset.ErrInvalid, "%q is not valid UTF-8, as all names are", a)
		}
	}
	return nil
}

// narrowed are the flags that say which of all there is a command is about.
var narrowed = []string{"group", "topic", "queue", "from-group", "prefix", "namespace", "without"}

// narrowing refuses such a flag that was given an empty value: a command would
// do with all there is what it was to do with some, where a variable is not set.
func narrowing(command *kong.Context) error {
	for _, p := range command.Path {
		if f := p.Flag; f != nil && slices.Contains(narrowed, f.Name) && empty(f.Target) {
			return offset.Errorf(offset.ErrInvalid, "--%s is empty; give it a value, or leave the flag out", f.Name)
		}
	}
	return nil
}

// empty tells whether a flag has an empty value, or one among its values.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.String:
		return v.Len() == 0
	case reflect.Slice:
		for i := range v.Len() {
			if empty(v.Index(i)) {
				return true
			}
		}
		return v.Len() == 0
	}
	return false
}

// numbers are the flags behind which a number below 0 is read: as what is meant,
// or to be refused for what it is.
var numbers = []string{"--shift-by", "--to-offset", "--limit"}

// joined puts a number below 0 behind the flag that it belongs to, since the
// parser would take it for a flag of its own.
func joined(args []string) []string {
	list := make([]string, 0, len(args))
	for i, a := range args {
		if a == "--" {
			return append(list, args[i:]...)
		}
		if n := len(list); n > 0 && slices.Contains(numbers, list[n-1]) && negative([]string{a}) != "" {
			list[n-1] += "=" + a
			continue
		}
		list = append(list, a)
	}
	return list
}

// negative returns the first of args that is a negative number and that the
// parser takes for a flag; empty if there is none.
func negative(args []string) string {
	for _, a := range args {
		if a == "--" {
			break
		}
		if rest, ok := strings.CutPrefix(a, "-"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return a
		}
	}
	return ""
}
