// Package verify checks recorded histories. DESIGN.md in the folder above says
// what each check rests on and what it gives up.
package verify

import (
	"errors"
	"fmt"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// Violation is a promise that a history breaks.
type Violation struct {
	// Check names the check.
	Check string
	// Text says what was found.
	Text string
	// Keys are those it is about, if it is about some.
	Keys []offset.Key
}

// Error says which promise is broken.
func (v *Violation) Error() string { return v.Check + ": " + v.Text }

func violation(check, format string, args ...any) *Violation {
	return &Violation{Check: check, Text: fmt.Sprintf(format, args...)}
}

// Counts are what the checks have looked at.
type Counts struct {
	// Entries of the log were replayed, Answers compared with what they gave.
	Entries, Answers int
	// Parts of the history were checked by porcupine, with so many Operations in
	// all; Open ones were given up, since they took too long.
	Parts, Operations, Open int
}

// All runs all checks on a history, the plain ones first. The error is a
// *Violation, or several joined, or says that the history can't be checked.
func All(h *record.History) (c Counts, err error) {
	for _, check := range []func(*record.History, *Counts) error{Plain, Replay, Linear} {
		err = errors.Join(err, check(h, &c))
	}
	return c, err
}
