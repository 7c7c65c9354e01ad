package fsm

import (
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/offset"
)

// Record is one line of the audit log: what an operator, or a consumer on
// purpose, did to offsets, or the cluster to itself. Every node makes it from
// the entry that it applies; a replay makes it again, and is recognised by its
// Index.
type Record struct {
	// Index is the raft index of the entry, Time its leader's clock (Unix ms).
	Index uint64
	Time  int64
	// Principal and From are the caller's name and address; empty for what a member
	// asked for itself.
	Principal, From string
	// What is "set", "reset", "remove", "clone", "expire", "claim", "import",
	// "announce", "forget", "level" or "gap". A gap is left by an installed
	// snapshot, or by a full AuditQueue: what was done after Since, up to
	// Index, may have no lines here.
	What  string
	Since uint64
	// Detail is what was asked, for people, as name=value; names that came
	// from outside are quoted.
	Detail string

	// Act is the id of an act, else zero.
	Act offset.ActID
	// Code is the outcome; CodeOK too for all that has no answer of its own.
	Code offset.Code
	// Answered is the index of the entry whose answer this is. If that isn't
	// Index, it is the answer to a resend, and nothing was done here.
	Answered uint64
	// Step is which entry of a cut act this was; Done: it was the last.
	Step uint32
	Done bool
	// Changed counts the keys that this entry moved or removed, Total those
	// of the whole act up to here, Kept those it left alone.
	Changed, Total, Kept uint64
	// Replaced is, of the swap of a replace, how many keys there were before.
	Replaced uint64
	// Lowered counts, when it is called, how many of those have a lower offset
	// since; nil except for the swap of a replace. It takes some 0.3 µs a key, and
	// holds what was replaced until the record is forgotten.
	Lowered func() uint64
	// Keys are the first offset.MaxNames keys of Changed, before and after; of a
	// swap then the first that are gone.
	Keys []table.Change
}

// setRecord is the record of a Set; its keys are added by the caller.
func setRecord(s *offset.Set, v offset.Verdict, index uint64) Record {
	r := Record{What: "set", Detail: setDetail(s), Code: v.Code, Answered: index, Done: true}
	if v.Code == offset.CodeOK {
		r.Total = 1
	}
	return r
}

// actRecord is the record of one entry of an act.
func actRecord(a *offset.Act, step uint32, res *offset.ActResult) Record {
	return Record{
		What: a.Kind(), Detail: actDetail(a), Act: a.ID, Code: res.Code, Answered: res.Index,
		Step: step, Done: res.Done, Total: res.Changed, Kept: res.Kept,
	}
}
