package client

import (
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// Error says which call failed, and how. errors.Is finds the sentinel of
// package offset, and the context's error where the deadline ended it.
type Error struct {
	// Op is the call: "commit", "set", "fetch", "list", "reset", …
	Op string
	// Subject is the first key, the group or the member that it was about; may be empty.
	Subject string
	// Attempts is how many times it was sent, or tried to be.
	Attempts int
	// Leader is the address of the leader as the Client last heard; empty if none is known.
	Leader string
	// Err is the cause.
	Err error
}

// Error gives one line.
func (e *Error) Error() string { return fmt.Sprintf("%s %s: %v", e.Op, e.Subject, e.Err) }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refused is the error of a request that was answered, of which some keys were
// refused. errors.Is finds offset.ErrFenced, offset.ErrNotApplied or
// offset.ErrOvertaken, as one of the keys has it.
type Refused struct {
	// Keys are the refused ones, in the order of the request.
	Keys []RefusedKey
}

// RefusedKey is one key that was refused.
type RefusedKey struct {
	Key offset.Key
	// State is the key as it is.
	State offset.KeyState
	// Err is offset.ErrFenced, offset.ErrNotApplied or offset.ErrOvertaken.
	Err error
}

// Error names the first key.
func (r *Refused) Error() string { return fmt.Sprintf("%v", r.Keys) }

// Unwrap returns the causes of all keys.
func (r *Refused) Unwrap() []error { return nil }
