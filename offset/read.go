package offset

import "time"

// Level says how fresh a read must be.
type Level uint8

// The levels of reading, the strictest first. The zero value is Linearizable.
const (
	// Linearizable: never older than anything acknowledged before the request
	// came; costs one leadership confirmation, shared by all reads that wait.
	Linearizable Level = iota
	// AtLeast: this node has applied the given index: read your writes on any node.
	AtLeast
	// Local: a committed state as this node has it, with its index and the
	// age of the last contact with a leader; ErrNotReady until the node has
	// caught up with what its first contact with a leader named.
	Local
)

// String gives the level's name as the API and the CLI spell it.
func (l Level) String() string {
	switch l {
	case Linearizable:
		return "linearizable"
	case AtLeast:
		return "at-least"
	case Local:
		return "local"
	}
	return "unknown"
}

// ReadAt is the part of a read request that says how fresh it must be.
type ReadAt struct {
	Level Level
	// Index is the index to have applied; for AtLeast only.
	Index uint64
}

// Validate refuses an index that the level does not look at; the error wraps
// ErrInvalid.
func (at ReadAt) Validate() error {
	if at.Index > 0 && at.Level != AtLeast {
		return Errorf(ErrInvalid, "at_index %d goes with READ_LEVEL_AT_LEAST, not with a %s read", at.Index, at.Level)
	}
	return nil
}

// Meta comes with every answer.
type Meta struct {
	// Cluster is the answering cluster.
	Cluster ClusterID
	// Index is the raft index of the last command that the answering state holds.
	Index uint64
	// LastAct is the index of the last act of any kind in that state. When it
	// has moved, a client asks whether its keys are concerned.
	LastAct uint64
	// Leader is the API address of the leader, empty if none is known.
	Leader string
	// Age is the time since this node last heard from a leader; 0 on the leader.
	Age time.Duration
}

// Fetch asks for the states of keys, all from one root of the table.
type Fetch struct {
	At   ReadAt
	Keys []Key
}

// Validate checks the request; the error wraps ErrInvalid.
func (f *Fetch) Validate() error {
	if len(f.Keys) == 0 || len(f.Keys) > MaxCommits {
		return Errorf(ErrInvalid, "%d keys in one request; 1 to %d are allowed", len(f.Keys), MaxCommits)
	}
	for _, k := range f.Keys {
		if err := k.Validate(); err != nil {
			return err
		}
	}
	return f.At.Validate()
}

// List asks for one page of what a filter selects, all from one root. The
// order is that of Key.Compare, or of the names; it is stable, so that paging
// with After sees every row that exists throughout exactly once.
type List struct {
	At ReadAt
	// What is listed.
	What ListKind
	// Group, Topic and Broker narrow the listing, each by its exact name.
	// HasBroker tells a filter for the empty broker name from no filter.
	Group, Topic, Broker string
	HasBroker            bool
	// Prefix narrows the names listed, for ListGroups and ListTopics.
	Prefix string
	// NewerThan lists only keys whose index or epoch (that a commit must
	// carry) is above it; 0 is no filter. For ListKeys.
	NewerThan uint64
	// Pending lists only pending positions. For ListKeys.
	Pending bool
	// After is the last row of the page before; nil starts at the front.
	// For names only Group or Topic counts.
	After *Key
	// Limit is the number of rows wanted; 0 or more than MaxPage means MaxPage.
	Limit int
}

// Validate checks the request; the error wraps ErrInvalid. It refuses also a filter
// that the kind of listing does not have: ignored, it would let its caller take all
// rows for those it asked for.
func (l *List) Validate() error {
	switch {
	case l.What > ListKeys:
		return Errorf(ErrInvalid, "unknown kind of listing %d", l.What)
	case l.What == ListKeys && l.Prefix != "":
		return Errorf(ErrInvalid, "prefix narrows the names of groups and topics, not keys; list the groups first, or name one")
	case l.What != ListKeys && (l.NewerThan > 0 || l.Pending):
		return Errorf(ErrInvalid, "newer_than and pending narrow a listing of keys; what must be LIST_KIND_KEYS")
	}
	if err := l.At.Validate(); err != nil {
		return err
	}
	for _, f := range []struct{ field, name string }{{"group", l.Group}, {"topic", l.Topic}, {"broker", l.Broker}, {"prefix", l.Prefix}} {
		if err := ValidateName(f.field, f.name, true); err != nil {
			return err
		}
	}
	return nil
}

// ListKind is what a List lists.
type ListKind uint8

// The listings.
const (
	// ListGroups lists the names of groups (of a topic, if Topic is set).
	ListGroups ListKind = iota
	// ListTopics lists the names of topics (of a group, if Group is set).
	ListTopics
	// ListKeys lists keys with their states: of a group, of a topic in a
	// group, of a topic in all groups, of a broker, or all.
	ListKeys
)

// Page is one page of a listing.
type Page struct {
	Meta Meta
	// Names are the rows of ListGroups and ListTopics.
	Names []string
	// Keys are the rows of ListKeys.
	Keys []KeyedState
	// More: there are further rows after the last of these.
	More bool
}
