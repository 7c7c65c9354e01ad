package entry

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// Bounds of the format. They never get smaller, since a log may hold what was
// allowed when it was written.
const (
	// MaxEntry is the longest entry that is written or read, in bytes: twice
	// what a single request may take, so that one can join a started entry.
	MaxEntry = 2 * offset.MaxRequest
	// MaxRequests is how many requests one entry holds.
	MaxRequests = 1 << 15
	// MaxString is the longest string in an entry, in bytes: longer than a
	// name may be, since addresses and ids are strings as well.
	MaxString = 512
)

// Request is one thing that one caller, or the cluster itself, asks for. It
// is decided on its own, whatever else its entry holds. Exactly one of the
// things is set.
type Request struct {
	// Principal and From are the caller's name and address, for the audit log; both
	// are empty for what a member asks for itself.
	Principal, From string

	Commits *offset.Commits
	Set     *offset.Set
	// Act is an act, and Step which of its entries this is: 0 first, then
	// ActResult.Next.
	Act  *offset.Act
	Step uint32
	// Member is what a member announces of itself.
	Member *offset.Member
	// Forget is the raft server id of a member whose announcement is dropped.
	Forget string
	// Level raises the format level; 0 is no such request.
	Level uint8
	// Checkpoint asks each node to note its digest.
	Checkpoint bool
	// Later is what later format levels add.
	Later Later
}

// Alone reports whether the request must be the only one of its entry: a
// claim, since an epoch that equals the claim must mean "read after it"; and
// what changes the format level, so that an entry is of one level throughout.
func (r *Request) Alone() bool {
	return r.Level != 0 || r.Act != nil && r.Act.Take != nil
}

// Entry is a decoded log entry.
type Entry struct {
	// Level is the format level that it was written at.
	Level uint8
	// Cluster is the cluster whose log it belongs to.
	Cluster offset.ClusterID
	// Time is the leader's clock when it was sealed, Unix milliseconds.
	Time int64
	// Requests in the order in which they are applied.
	Requests []Request
}
