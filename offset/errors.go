package offset

import (
	"errors"
	"fmt"
)

// Code is the number of an error on the wire and in the log. Numbers never
// change their meaning.
type Code uint8

// The codes. See the sentinels of the same names.
const (
	CodeOK Code = iota
	CodeInvalid
	CodeDenied
	CodeNotLeader
	CodeNotReady
	CodeBusy
	CodeNoLeader
	CodeFenced
	CodeNotApplied
	CodeSuperseded
	CodeTooOld
	CodeNotFound
	CodeOutcomeUnknown
	CodeForeignCluster
	CodeImportBusy
	CodeNoImport
	CodeLimit
	CodeLevel
	CodeClosed
	CodeDamaged
	CodeUnreachable
)

// Errors that the cluster answers. Test with errors.Is; see Outcome for what
// each says of the request.
var (
	// ErrInvalid: the request breaks a bound or lacks a field.
	ErrInvalid = errors.New("invalid request")
	// ErrDenied: the principal may not do this, or a guard refuses it, since
	// the cluster would stand still after it.
	ErrDenied = errors.New("not permitted")
	// ErrNotLeader: this node does not lead; the answer may name the leader.
	ErrNotLeader = errors.New("not the leader")
	// ErrNotReady: this node cannot answer yet (starting, catching up).
	ErrNotReady = errors.New("not ready")
	// ErrBusy: a bound on what is in flight is reached.
	ErrBusy = errors.New("busy")
	// ErrNoLeader: no leader became known within the deadline, or the member
	// asked is cut off from the others.
	ErrNoLeader = errors.New("no leader")
	// ErrFenced: the epoch or cluster is not the key's; the consumer has
	// missed an act. At the first send: not applied, and never will be.
	ErrFenced = errors.New("fenced")
	// ErrNotApplied: another commit of the same atomic set was fenced.
	ErrNotApplied = errors.New("not applied: another commit of the atomic set was fenced")
	// ErrSuperseded: a newer act, or claim, is in the way of this one.
	ErrSuperseded = errors.New("superseded by a newer act")
	// ErrTooOld: the act's base is older than the remembered acts. At the
	// first send: not applied; after a resend: unknown.
	ErrTooOld = errors.New("act too old")
	// ErrNotFound: what the act names does not exist.
	ErrNotFound = errors.New("not found")
	// ErrOutcomeUnknown: may or may not be applied; resending is safe.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrForeignCluster: the request names another cluster.
	ErrForeignCluster = errors.New("another cluster")
	// ErrImportBusy: another import is under way.
	ErrImportBusy = errors.New("another import is under way")
	// ErrNoImport: the import named is not under way.
	ErrNoImport = errors.New("no such import under way")
	// ErrLimit: a bound on what the cluster keeps is reached.
	ErrLimit = errors.New("limit reached")
	// ErrLevel: the cluster's format level does not have this yet.
	ErrLevel = errors.New("not in the cluster's format level")
	// ErrClosed: this client or node is closed.
	ErrClosed = errors.New("closed")
	// ErrDamaged: a file or snapshot does not hold what it should.
	ErrDamaged = errors.New("damaged")
	// ErrUnreachable: no connection to the other side could be made, so that
	// nothing was sent.
	ErrUnreachable = errors.New("cannot be reached")
)

// Errors that only a client library gives of what it holds itself. They never
// travel; CodeOf gives the code that comes nearest. All are NotDone.
var (
	// ErrNoOffset: the queue has no offset; an answer, not a failure to ask.
	ErrNoOffset = errors.New("no offset")
	// ErrNotRead: the queue's offset was never read from the store, so there
	// is no epoch to commit it with.
	ErrNotRead = errors.New("not read from the store yet")
	// ErrOvertaken: a commit came before a consumer's own Set; the Set is not
	// done and never will be, and no act was missed.
	ErrOvertaken = errors.New("overtaken by a commit")
	// ErrDropped: a value left the memory before it was persisted.
	ErrDropped = errors.New("dropped before it was persisted")
)

// Outcome says what an error means for the request that got it.
type Outcome uint8

// The outcomes.
const (
	// NotDone: not applied by this send, and never will be.
	NotDone Outcome = iota
	// Unknown: may be applied already or later; resending is safe.
	Unknown
)

type codeRow struct {
	code      Code
	err       error
	retriable bool
	outcome   Outcome
}

// codes is the table of errors on the wire.
var codes = []codeRow{
	{CodeInvalid, ErrInvalid, false, NotDone},
	{CodeDenied, ErrDenied, false, NotDone},
	{CodeNotLeader, ErrNotLeader, true, NotDone},
	{CodeNotReady, ErrNotReady, true, NotDone},
	{CodeBusy, ErrBusy, true, NotDone},
	{CodeNoLeader, ErrNoLeader, true, NotDone},
	{CodeFenced, ErrFenced, false, NotDone},
	{CodeNotApplied, ErrNotApplied, false, NotDone},
	{CodeSuperseded, ErrSuperseded, false, NotDone},
	{CodeTooOld, ErrTooOld, false, NotDone},
	{CodeNotFound, ErrNotFound, false, NotDone},
	{CodeOutcomeUnknown, ErrOutcomeUnknown, true, Unknown},
	{CodeForeignCluster, ErrForeignCluster, false, NotDone},
	{CodeImportBusy, ErrImportBusy, false, NotDone},
	{CodeNoImport, ErrNoImport, false, NotDone},
	{CodeLimit, ErrLimit, false, NotDone},
	{CodeLevel, ErrLevel, false, NotDone},
	{CodeClosed, ErrClosed, false, NotDone},
	{CodeDamaged, ErrDamaged, false, NotDone},
	{CodeUnreachable, ErrUnreachable, true, NotDone},
}

// local is the table of errors that never travel.
var local = []codeRow{
	{CodeNotFound, ErrNoOffset, false, NotDone},
	{CodeInvalid, ErrNotRead, false, NotDone},
	{CodeFenced, ErrOvertaken, false, NotDone},
	{CodeNotApplied, ErrDropped, false, NotDone},
}

// row finds the first row that err belongs to.
func row(err error) (codeRow, bool) {
	for _, table := range [][]codeRow{codes, local} {
		for _, r := range table {
			if errors.Is(err, r.err) {
				return r, true
			}
		}
	}
	return codeRow{}, false
}

// Error is a sentinel with what there is to say of this case. errors.Is finds
// the sentinel.
type Error struct {
	// Err is one of the sentinels above.
	Err error
	// Text says what is wrong and what to do next, without the sentinel's words.
	Text string
	// Leader is the leader's API address where the answer named one.
	Leader string
}

// Error gives the sentinel's words and the text.
func (e *Error) Error() string {
	if e.Text == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Text
}

// Unwrap returns the sentinel.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an *Error of the given sentinel.
func Errorf(sentinel error, format string, args ...any) error {
	return &Error{Err: sentinel, Text: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of err: CodeOK for nil, CodeOutcomeUnknown for an
// error that wraps none of the sentinels, which is the careful reading.
func CodeOf(err error) Code {
	if err == nil {
		return CodeOK
	}
	if r, ok := row(err); ok {
		return r.code
	}
	return CodeOutcomeUnknown
}

// Err returns the sentinel of the code, nil for CodeOK. A code that this build
// does not know is ErrOutcomeUnknown.
func (c Code) Err() error {
	if c == CodeOK {
		return nil
	}
	for _, r := range codes {
		if r.code == c {
			return r.err
		}
	}
	return ErrOutcomeUnknown
}

// Retriable reports whether sending the same request again can help.
func Retriable(err error) bool {
	r, _ := row(err)
	return r.retriable
}

// OutcomeOf gives what err says of the send that got it. An error that wraps
// none of the sentinels is Unknown.
func OutcomeOf(err error) Outcome {
	if r, ok := row(err); ok {
		return r.outcome
	}
	return Unknown
}
