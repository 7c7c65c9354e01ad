package conn

import (
	"context"
	"errors"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// Error is what a call failed with on this side of the connection. The error
// that a server answers with is not one of these: it comes in the reply.
type Error struct {
	// Sent says whether the call may have reached the server. If not, it never
	// will, and may be sent elsewhere.
	Sent bool
	// Cause is the context's error, or what the connection ended with.
	Cause error
}

// Error says what happened to the call.
func (e *Error) Error() string {
	if e.Sent {
		return fmt.Sprintf("sent, not answered: %v", e.Cause)
	}
	return fmt.Sprintf("not sent: %v", e.Cause)
}

// Unwrap gives the sentinels: of a call that was sent offset.ErrOutcomeUnknown
// and no other, next to the context's error if that ended it.
func (e *Error) Unwrap() []error {
	switch {
	case !e.Sent:
		return []error{e.Cause}
	case errors.Is(e.Cause, context.Canceled), errors.Is(e.Cause, context.DeadlineExceeded):
		return []error{offset.ErrOutcomeUnknown, e.Cause}
	}
	return []error{offset.ErrOutcomeUnknown}
}

// Reasons that a connection ends for, other than the error its stream fails with.
var (
	errClosed  = fmt.Errorf("the connection was closed here: %w", offset.ErrClosed)
	errRetired = fmt.Errorf("the connection was given up for another: %w", offset.ErrClosed)
	errClosing = fmt.Errorf("the server is stopping: %w", offset.ErrClosed)
)
