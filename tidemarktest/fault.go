package tidemarktest

import "math"

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
	// List is a listing or an export.
	List Call = "list"
	// AnyCall stands for all of them.
	AnyCall Call = "any"
)

// Always is a number of calls that is not reached.
const Always = math.MaxInt

// Fault is what happens to a call: one of Refuse, LoseCall and LoseAnswer. The
// zero value is none.
type Fault struct {
	err        error
	lose, done bool
}

// Refuse answers a call with err, and does not do it. err should be, or wrap,
// a sentinel of package offset that a node answers; a client tries again by
// itself, until its deadline, what offset.Retriable names.
func Refuse(err error) Fault { return Fault{err: err} }

// LoseCall breaks the connection before the call is done.
func LoseCall() Fault { return Fault{lose: true} }

// LoseAnswer does the call and breaks the connection before the answer: the
// client can't know that it was done, and sends again until its deadline; then
// it is offset.ErrOutcomeUnknown.
func LoseAnswer() Fault { return Fault{lose: true, done: true} }

// FailNext makes the next n calls of a kind fail, at whichever node they
// arrive; further calls of FailNext wait for their turn behind. With Always
// they fail until Heal.
//
// A client repeats by itself what can be repeated within the caller's
// deadline. So to see an error come out of it, let more calls fail than it
// repeats, and the deadline be short.
func (c *Cluster) FailNext(n int, call Call, fault Fault) {}

// Calls counts the calls of a kind that have arrived at any node, those that
// were made to fail included.
func (c *Cluster) Calls(call Call) int { return 0 }
