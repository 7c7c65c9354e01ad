package fsm

import "github.com/tidemark-mq/tidemark/offset"

// Record is one line of the audit log: what an operator, or a consumer on
// purpose, did to offsets, or the cluster to itself. Every node makes it from
// the entry that it applies; a replay makes it again, and is recognised by its
// Index.
type Record struct {
	// Index is the raft index of the entry, Time its leader's clock (Unix ms).
	Index uint64
	Time  int64
	// Principal and From are who asked, and from what address; empty for what
	// a member asked for itself.
	Principal, From string
	// What is "set", "reset", "remove", "clone", "expire", "claim", "import",
	// "announce", "forget", "level" or "gap". A gap is left by an installed
	// snapshot: what was done between Since and Index has no lines here.
	What  string
	Since uint64

	// Detail is what was asked, for people; names in it are quoted.
	Detail string
	// Code is what became of it.
	Code offset.Code
	// Step is which entry of a cut act, or chunk of an import, this was.
	Step uint32
	// Changed and Kept count the keys moved, and left alone, by this entry.
	Changed, Kept uint64
	// Keys are the first offset.MaxNames keys moved, before and after.
	Keys []Change
}

// Change is one key before and after.
type Change struct {
	Key           offset.Key
	Before, After offset.KeyState
}
