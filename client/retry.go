package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// kind says what sending a call again may do.
type kind uint8

const (
	// reading: nothing is changed, so that no outcome is unknown.
	reading kind = iota
	// harmless: sending again does no harm (commits, Sets, acts with an id).
	harmless
	// single: not sent again once it may have been done.
	single
)

// trial is one call and what became of its sends so far.
type trial struct {
	op string
	// subject is what it is about; nil for nothing.
	subject fmt.Stringer
	kind    kind
	// whole: one send may take all the time there is.
	whole bool
	// sends counts the attempts. unknown: an earlier one may have been, or may
	// still be, done; while it is false, an answer is that to a first send.
	sends   int
	unknown bool
	// began is when it began; zero if nobody counts.
	began time.Time
}

// margin is how much less time a node is given than there is, so that its own word
// on the outcome comes before the caller's deadline: a tenth, at most this.
const margin = 50 * time.Millisecond

// retry sends a call until it has an answer, may not be sent again, or ctx ends.
// send sends it once; ms is how long the node may take.
func (c *Client) retry(ctx context.Context, t *trial, send func(ms uint32) error) error {
	var last error
	for {
		if ctx.Err() != nil {
			return c.fail(t, last, ctx.Err())
		}
		t.sends++
		renewals := c.renewals.Load()
		err := send(c.patience(ctx, t.whole))
		if err == nil {
			return nil
		}
		if t.kind != reading && !unsent(err) && offset.OutcomeOf(err) == offset.Unknown {
			t.unknown = true
		}
		timeUp := ctx.Err() != nil && unsent(err)
		if last == nil || !t.silent(err) || !timeUp && !errors.Is(last, offset.ErrNoLeader) {
			last = err
		}
		switch {
		case ctx.Err() != nil:
			return c.fail(t, last, ctx.Err())
		case c.life.Err() != nil:
			return c.fail(t, errShut, nil)
		case !t.again(err) && !c.renewed(ctx, err, renewals):
			return c.fail(t, err, nil)
		}
		if h := c.set.hooks.Retried; h != nil {
			h(t.op, t.sends+1, err)
		}
		if err := c.sleep(ctx, c.pauseAfter(t.sends, err)); err == errShut {
			return c.fail(t, errShut, nil)
		}
	}
}

// silent reports whether an error is that of a node that was not reached, or did
// not answer in time. Such an error says less of the cluster than what a node said
// in an earlier try; above all that there is no leader, which takes it a while to say.
func (t *trial) silent(err error) bool {
	return broken(err) || t.kind == reading && errors.Is(err, offset.ErrOutcomeUnknown)
}

// again reports whether the call may be sent once more after err.
func (t *trial) again(err error) bool {
	if t.unknown && t.kind == single {
		return false
	}
	return broken(err) || offset.Retriable(err) || errors.Is(err, offset.ErrClosed)
}

// pauseAfter gives the pause after try n failed. Where to go next is known
// when a leader was named or a connection broke: the first time there is no pause.
func (c *Client) pauseAfter(n int, err error) time.Duration {
	e := (*offset.Error)(nil)
	if broken(err) || errors.As(err, &e) && e.Leader != "" {
		n--
	}
	if n == 0 {
		return 0
	}
	return c.set.backoff(n)
}

// patience is how long a node may take, in milliseconds of the message.
func (c *Client) patience(ctx context.Context, whole bool) uint32 {
	at, ok := ctx.Deadline()
	if !ok {
		if whole {
			return 0
		}
		return uint32(max(c.set.attempt.Milliseconds(), 1))
	}
	left := time.Until(at)
	left -= min(left/10, margin)
	if !whole {
		left = min(left, c.set.attempt)
	}
	return uint32(min(max(left.Milliseconds(), 1), time.Hour.Milliseconds()))
}

// fail makes the error of a call: exactly one sentinel, and what ended it.
func (c *Client) fail(t *trial, last, ended error) error {
	out := &Error{Op: t.op, Attempts: t.sends, Leader: c.Leader()}
	if t.subject != nil {
		out.Subject = t.subject.String()
	}
	switch {
	case t.unknown:
		out.Err = only(offset.ErrOutcomeUnknown, last, ended)
	case last == nil: // it was never tried
		out.Err = only(offset.ErrUnreachable, nil, ended)
	case last == errShut:
		out.Err = errShutCause
	case broken(last), t.kind == reading && offset.OutcomeOf(last) == offset.Unknown:
		out.Err = only(offset.ErrUnreachable, last, ended)
	case ended != nil:
		out.Err = fmt.Errorf("%w; %w", last, ended)
	default:
		out.Err = last
	}
	return out
}
