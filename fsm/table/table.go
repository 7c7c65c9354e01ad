package table

import (
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/offset"
)

// Table is the state. All its methods but Root are for one goroutine only.
type Table struct {
	root atomic.Pointer[Root]
}

// New returns an empty table of a cluster, at index 0 and format level 1,
// published.
func New(cluster offset.ClusterID) *Table {
	t := &Table{}
	t.Publish()
	return t
}

// Begin opens the changes of the log entry with that index, which is greater
// than any before. timeMS is what the entry names, in Unix milliseconds; the
// table's time never goes back, an earlier one counts as the last.
func (t *Table) Begin(index uint64, timeMS int64) {}

// Commit applies a request of commits and appends one verdict for each, in
// their order. It keeps nothing of c.
func (t *Table) Commit(c *offset.Commits, out []offset.Verdict) []offset.Verdict { return out }

// Set applies one compare-and-set; what it changed is added to ch, which may be
// nil. CodeFenced: nothing changed.
func (t *Table) Set(s *offset.Set, ch *Changes) offset.Verdict { return offset.Verdict{} }

// Act applies one entry of an act. step is 0 for its first entry; as long as
// the answer is not Done, the proposer sends the act again with step Next (for
// imports it is Import.Chunk that says which entry it is, and step is 0). What
// the entry changed is added to ch, which may be nil.
//
// A claim must be alone in its entry: one that follows something else in its
// entry is refused.
func (t *Table) Act(a *offset.Act, step uint32, ch *Changes) offset.ActResult {
	return offset.ActResult{}
}

// Announce keeps what a member says of itself. Beyond offset.MaxMembers members
// a further one is not kept.
func (t *Table) Announce(m offset.Member) {}

// RemoveMember forgets a member.
func (t *Table) RemoveMember(id string) {}

// RaiseLevel raises the format level; it is never lowered.
func (t *Table) RaiseLevel(level uint8) {}

// Digest is that of the state as it is now, published or not.
func (t *Table) Digest() offset.Digest { return offset.Digest{} }

// Publish makes all changes since the last Publish the new root. Its cost is
// proportional to what changed.
func (t *Table) Publish() { t.root.Store(&Root{}) }

// Root returns the last published state. Any goroutine may call it.
func (t *Table) Root() *Root { return t.root.Load() }
