// Package record keeps what clients called and what they were answered.
package record

import (
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Op is one send of one request to one node, and its answer. A request that is
// sent again is an Op of its own with the same content. Exactly one of Commits,
// Set, Act, Fetch and List is set.
type Op struct {
	// Client sent it, to Node.
	Client int
	Node   string
	// Call and Return are when it was sent and when the client went on, in time
	// since the history began, by a clock that never goes back.
	Call, Return time.Duration

	Commits *offset.Commits `json:",omitempty"`
	Set     *offset.Set     `json:",omitempty"`
	Act     *offset.Act     `json:",omitempty"`
	Fetch   *offset.Fetch   `json:",omitempty"`
	List    *offset.List    `json:",omitempty"`

	// Code is that of the error that the call failed with. CodeOK: it was
	// answered, by what follows, which may say of a commit or an act that it was
	// not done.
	Code offset.Code
	// Error is its text.
	Error string `json:",omitempty"`

	// Meta came with the answer.
	Meta offset.Meta
	// Verdicts answer Commits, or Set (one).
	Verdicts []offset.Verdict  `json:",omitempty"`
	Result   *offset.ActResult `json:",omitempty"`
	States   []offset.KeyState `json:",omitempty"`
	Page     *offset.Page      `json:",omitempty"`
	// Begun is, of a step of an import but the first, its first entry's act.
	Begun *offset.Act `json:",omitempty"`
}

// Answered tells whether there is an answer; else Code says why there is none.
func (o *Op) Answered() bool { return o.Code == offset.CodeOK }

// Unknown tells whether it may have been applied, or may still be, for all that
// its sender knows.
func (o *Op) Unknown() bool {
	return o.Code != offset.CodeOK && offset.OutcomeOf(o.Code.Err()) == offset.Unknown
}

// Writes tells whether it is more than a read.
func (o *Op) Writes() bool { return o.Commits != nil || o.Set != nil || o.Act != nil }

// Level is that of a read.
func (o *Op) Level() offset.ReadAt {
	if o.Fetch != nil {
		return o.Fetch.At
	}
	return o.List.At
}

// Answers counts the verdicts, states and rows in its answer.
func (o *Op) Answers() int {
	n := len(o.Verdicts) + len(o.States)
	if o.Result != nil {
		n++
	}
	if o.Page != nil {
		n += len(o.Page.Keys) + len(o.Page.Names)
	}
	return n
}

// Each calls f with each commit of a request, in its order.
func Each(c *offset.Commits, f func(i int, x offset.Commit)) {
	i := 0
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
			f(i, offset.Commit{Key: k, Offset: q.Offset, Epoch: q.Epoch})
			i++
		}
	}
}
