package server

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// Service is what the edges need of a member; package node implements it.
//
// All methods may be called from any goroutine at any time. A deadline on ctx
// bounds the wait; what was proposed before it passes ends as
// offset.ErrOutcomeUnknown, anything else as an error that says that it was not
// done. Requests are validated by the callee. A node that does not lead
// forwards what needs the leader, one hop at most. Every method authorizes
// the principal itself.
type Service interface {
	// Commit answers one verdict per commit, in the order of the request.
	Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error)
	// Set answers CodeOK or CodeFenced, with the key as it is after.
	Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error)
	// Act drives an act to its end (an import: one step of it). The error is
	// nil whenever the act's own answer is known; its Code says what that is.
	Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error)

	// Fetch reads the states of keys from one root, in the order of the request.
	Fetch(ctx context.Context, p auth.Principal, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error)
	// List gives one page.
	List(ctx context.Context, p auth.Principal, l *offset.List) (offset.Page, error)
	// Claims gives the newest claim of one scope, or of each.
	Claims(ctx context.Context, p auth.Principal, c *offset.Claims) ([]offset.Claim, offset.Meta, error)
	// Export yields all keys that l selects, from one root, in pages; it ends
	// with the first error of yield. Limit and After are ignored.
	Export(ctx context.Context, p auth.Principal, l *offset.List, yield func(offset.Page) error) error

	// Status is answered by the node itself, leader or not, ready or not. leader asks the leader instead.
	Status(ctx context.Context, p auth.Principal, leader bool) (offset.Status, error)
	// AddMember adds id ("name/member-id") at a peer address as a nonvoter.
	AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error)
	// PromoteMember makes a nonvoter a voter once it has caught up.
	PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error)
	// RemoveMember takes a member out, voter or not, by id or, where that is unambiguous, by name.
	RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error)
	// Transfer hands leadership to a voter ("" for any that has caught up) and returns which.
	Transfer(ctx context.Context, p auth.Principal, to string) (leader string, m offset.Meta, err error)
	// Snapshot takes a snapshot on this node now.
	Snapshot(ctx context.Context, p auth.Principal) (index, bytes uint64, m offset.Meta, err error)
	// Backup yields a backup of all that there is, from one root that is as
	// fresh as at says, piece by piece; it ends with the first error of yield.
	Backup(ctx context.Context, p auth.Principal, at offset.ReadAt, yield func(offset.BackupPart) error) error
	// RaiseLevel raises the format level when all members can read it.
	RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error)

	// Ready returns nil, or why this node does not serve; it never touches
	// the disk and never waits.
	Ready() error
	// Live returns nil, or why this process should be replaced; it never waits either.
	Live() error
	// Leader returns the API address of the leader as this node knows it.
	Leader() string
}
