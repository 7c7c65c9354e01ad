package tidemarktest

import (
	"math"
	"time"
)

// Call is a kind of call that a client makes.
type Call string

// The kinds of calls.
const (
	// Commit carries what a RemoteStore persists.
	Commit Call = "commit"
	// Set is a consumer's own lowering of one offset.
	Set Call = "set"
	// Fetch reads offsets.
	Fetch Call = "fetch"
	// Act is an operator's reset, removal, clone, import and so on.
	Act Call = "act"
	// List is a page of a listing, or an export.
	List Call = "list"
	// AnyCall stands for all of them.
	AnyCall Call = "any"
)

// Always is a number of calls that is not reached.
const Always = math.MaxInt

// Fault is what happens to a call: Refuse, LoseCall, LoseAnswer or Delay. The
// zero value is nothing.
type Fault struct {
	err        error
	lose, done bool
	delay      time.Duration
}

// Refuse answers a call with err, and does not do it. err should be, or wrap,
// a sentinel of package offset that a node answers. What offset.Retriable
// names, a client sends again by itself until its caller's deadline.
// offset.ErrFenced is the verdict on each commit of a request, as if an
// operator had moved every queue of it.
func Refuse(err error) Fault { return Fault{err: err} }

// LoseCall breaks the connection before the call is done. Its client can't
// know that it was not.
func LoseCall() Fault { return Fault{lose: true} }

// LoseAnswer does the call and breaks the connection before the answer. Its
// client can't know that it was done, and sends it again until its caller's
// deadline; then it is offset.ErrOutcomeUnknown.
func LoseAnswer() Fault { return Fault{lose: true, done: true} }

// Delay does the call after d, or not at all if its deadline comes before.
func Delay(d time.Duration) Fault { return Fault{delay: d} }

// FailNext makes the next n calls of a kind fail, at whichever node they
// arrive; with Always until Heal. What several calls of FailNext ask for
// happens one after the other.
//
// A client repeats by itself, within its caller's deadline, what can be
// repeated. To see an error come out of it, let calls fail Always, and give the
// caller a short deadline; it is offset.ErrOutcomeUnknown where that comes
// between a send and its refusal. To see that nothing comes out of it, let one
// fail.
// A connection that breaks takes along the other calls that are on it.
func (c *Cluster) FailNext(n int, call Call, fault Fault) { c.failures.add(n, call, fault) }

// Calls counts the calls of a kind that have arrived at any node, those that
// were made to fail included.
func (c *Cluster) Calls(call Call) int { return c.failures.count(call) }
