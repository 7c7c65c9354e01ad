package fsm

import "github.com/tidemark-mq/tidemark/offset"

// Answers is what the Response of an Apply future holds, always as *Answers.
// It belongs to whoever got it; the FSM keeps nothing of it.
type Answers struct {
	// Index is the raft index of the entry.
	Index uint64
	// LastAct is the index of the last act of any kind once the entry was applied.
	LastAct uint64
	// Requests holds one answer for each request of the entry, in its order.
	Requests []Answer
	// Err is the cause if this node's FSM has latched: then the entry was not
	// applied here and Requests is empty. It is committed, so that for the
	// callers the outcome is unknown.
	Err error
}

// Answer is what became of one request.
type Answer struct {
	// Verdicts has one verdict for each commit of a request of commits, in its
	// order, and exactly one for a Set. Empty for all else.
	Verdicts []offset.Verdict
	// Act is the answer to an act.
	Act offset.ActResult
	// Code is, for a member's announcement, CodeLimit if the state has no room
	// for it, until another is forgotten. CodeOK for all else.
	Code offset.Code
	// Digest is, for a checkpoint, the digest that this node noted there.
	Digest offset.Digest
}
