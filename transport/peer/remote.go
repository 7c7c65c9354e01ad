package peer

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// Remote is another member, to be called. Its methods may be called from any
// goroutine, any number at a time.
//
// Errors: offset.ErrUnreachable means that nothing was sent. What the other
// side answered is the error it answered, with offset.ErrNotLeader among them.
// A call that was sent and not answered, by a passed deadline or a broken
// connection, is offset.ErrOutcomeUnknown. So only the first, and
// offset.ErrNotLeader, may be sent again as if for the first time. Nothing is
// ever sent twice by the Remote itself.
type Remote struct{}

// ID is the member's id, empty where anybody is meant.
func (r *Remote) ID() string { return "" }

// Addr is the address of its raft port.
func (r *Remote) Addr() string { return "" }

// Commit forwards a caller's commits to the leader.
func (r *Remote) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	return nil, offset.Meta{}, offset.ErrUnreachable
}

// Set forwards a caller's Set to the leader.
func (r *Remote) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	return offset.Verdict{}, offset.Meta{}, offset.ErrUnreachable
}

// Act forwards a caller's act to the leader.
func (r *Remote) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	return offset.ActResult{}, offset.Meta{}, offset.ErrUnreachable
}

// Status asks how the member sees itself.
func (r *Remote) Status(ctx context.Context, p auth.Principal) (offset.Status, error) {
	return offset.Status{}, offset.ErrUnreachable
}

// AddMember forwards the addition of a nonvoter to the leader.
func (r *Remote) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrUnreachable
}

// PromoteMember forwards a promotion to the leader.
func (r *Remote) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrUnreachable
}

// RemoveMember forwards a removal to the leader.
func (r *Remote) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrUnreachable
}

// Transfer asks the leader to hand leadership over.
func (r *Remote) Transfer(ctx context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	return "", offset.Meta{}, offset.ErrUnreachable
}

// RaiseLevel asks the leader to raise the format level.
func (r *Remote) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrUnreachable
}

// ReadIndex asks the leader to confirm that it leads, by a round begun after
// the call, and for the last command that its FSM has applied.
func (r *Remote) ReadIndex(ctx context.Context) (uint64, error) { return 0, offset.ErrUnreachable }

// Hello asks what the node is.
func (r *Remote) Hello(ctx context.Context) (Hello, error) { return Hello{}, offset.ErrUnreachable }

// Found gives an empty founder the cluster id and the configuration.
func (r *Remote) Found(ctx context.Context, f Founding) error { return offset.ErrUnreachable }

// Announce asks the leader to write what this node announces into the state.
func (r *Remote) Announce(ctx context.Context, m offset.Member) error { return offset.ErrUnreachable }

// Digest asks for the digest noted at the checkpoint of that index.
func (r *Remote) Digest(ctx context.Context, index uint64) (Checkpoint, error) {
	return Checkpoint{}, offset.ErrUnreachable
}
