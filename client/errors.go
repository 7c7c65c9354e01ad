package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/conn"
)

// Error says which call failed, and how. errors.Is finds exactly one sentinel
// of package offset, along with the context's error where the deadline ended
// the call.
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
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Subject != "" {
		b.WriteString(" " + e.Subject)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, " (%d attempts)", e.Attempts)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Refused is the cause of a request that was answered, of which some keys were
// refused. errors.Is finds offset.ErrFenced, offset.ErrNotApplied or
// offset.ErrOvertaken, as any of the keys has it.
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
func (r *Refused) Error() string {
	k := r.Keys[0]
	text := fmt.Sprintf("%v: %s is at %s, epoch %d", k.Err, k.Key, describe(k.State), k.State.Epoch)
	if n := len(r.Keys) - 1; n > 0 {
		text += fmt.Sprintf("; and %d more", n)
	}
	return text + "; remove the offset and read it again"
}

// Unwrap returns the causes of all keys.
func (r *Refused) Unwrap() []error {
	list := make([]error, len(r.Keys))
	for i := range r.Keys {
		list[i] = r.Keys[i].Err
	}
	return list
}

func describe(s offset.KeyState) string {
	if !s.Exists {
		return "no offset"
	}
	return fmt.Sprintf("offset %d", s.Position.Offset)
}

// dialError marks what a connection that could not be opened failed with, so
// that it is known of a unary call, too, that it was never sent.
type dialError struct{ err error }

func (d *dialError) Error() string { return d.err.Error() }
func (d *dialError) Unwrap() error { return d.err }

// unsent reports whether err says that the call it ended never left this process.
func unsent(err error) bool {
	if e := (*conn.Error)(nil); errors.As(err, &e) {
		return !e.Sent
	}
	d := (*dialError)(nil)
	return errors.As(err, &d)
}

// broken reports whether err is this side's finding on a connection and not an answer
// of a server. A request that is too large for a message is so on any connection.
func broken(err error) bool {
	e, d := (*conn.Error)(nil), (*dialError)(nil)
	return errors.As(err, &e) && !errors.Is(err, offset.ErrInvalid) || errors.As(err, &d)
}

// only wraps sentinel with the words of cause, and with the context's error if
// that ended the call; no other sentinel stays in the chain.
func only(sentinel, cause, ended error) error {
	text := words(sentinel, cause)
	switch {
	case ended == nil:
		return offset.Errorf(sentinel, "%s", text)
	case text == "" || errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, context.Canceled):
		return fmt.Errorf("%w: %w", sentinel, ended)
	}
	return fmt.Errorf("%w: %w; the last answer was: %s", sentinel, ended, text)
}

// words gives the text of a cause without that of its sentinel.
func words(sentinel, cause error) string {
	if cause == nil {
		return ""
	}
	text := strings.TrimPrefix(cause.Error(), sentinel.Error())
	return strings.TrimPrefix(text, ": ")
}
