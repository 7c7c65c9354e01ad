// Package client is the library that applications embed.
package client

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/offset"
)

var errSkeleton = errors.New("not written yet")

// Client talks to a cluster. All methods may be called from any goroutine.
type Client struct{}

// New returns a Client of the cluster that the seeds ("host:port" of API
// ports) belong to. It does no I/O. The error wraps offset.ErrInvalid.
func New(seeds []string, opts ...Option) (*Client, error) { return nil, errSkeleton }

// Close ends all connections and waits for what belongs to them. Calls under
// way end as if the connection had broken.
func (c *Client) Close() error { return errSkeleton }

// Leader is the API address of the leader as the last answer named it; empty if unknown.
func (c *Client) Leader() string { return "" }

// Commit sends commits, each with a fate of its own; cluster is the one that
// their epochs were read from. The verdicts are in the order of list. If any is
// not CodeOK the error is a *Refused, and the verdicts are there all the same.
func (c *Client) Commit(ctx context.Context, cluster offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error) {
	return nil, offset.Meta{}, errSkeleton
}

// CommitAtomic is Commit, but if one commit is fenced none is applied.
func (c *Client) CommitAtomic(ctx context.Context, cluster offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error) {
	return nil, offset.Meta{}, errSkeleton
}

// Set moves one key on purpose. A nil error: done, or as good as done. A
// *Refused holds offset.ErrFenced or offset.ErrOvertaken: not done.
func (c *Client) Set(ctx context.Context, s offset.Set) (offset.Verdict, offset.Meta, error) {
	return offset.Verdict{}, offset.Meta{}, errSkeleton
}

// Fetch reads the states of keys from one root, in the order of keys.
func (c *Client) Fetch(ctx context.Context, at offset.ReadAt, keys ...offset.Key) ([]offset.KeyState, offset.Meta, error) {
	return nil, offset.Meta{}, errSkeleton
}

// List gives one page.
func (c *Client) List(ctx context.Context, l offset.List) (offset.Page, error) {
	return offset.Page{}, errSkeleton
}

// Export yields all keys that l selects, from one root, in pages. It is not
// tried again once a page was yielded.
func (c *Client) Export(ctx context.Context, l offset.List, yield func(offset.Page) error) error {
	return errSkeleton
}

// Act sends an act (an import: one step of it) and resends it with the same id
// and base until its answer is known. A code other than CodeOK in the result is
// the error's sentinel too; ErrTooOld after a resend is offset.ErrOutcomeUnknown.
func (c *Client) Act(ctx context.Context, a offset.Act) (offset.ActResult, offset.Meta, error) {
	return offset.ActResult{}, offset.Meta{}, errSkeleton
}

// Status asks the node at addr how it sees the cluster; empty: the first that answers.
func (c *Client) Status(ctx context.Context, addr string) (offset.Status, error) {
	return offset.Status{}, errSkeleton
}

// AddMember adds id ("name/member-id") with its peer address as a nonvoter.
func (c *Client) AddMember(ctx context.Context, id, address string) (offset.Meta, error) {
	return offset.Meta{}, errSkeleton
}

// PromoteMember makes a nonvoter that has caught up a voter.
func (c *Client) PromoteMember(ctx context.Context, id string) (offset.Meta, error) {
	return offset.Meta{}, errSkeleton
}

// RemoveMember takes a member out, by id or, where that is unambiguous, by name.
func (c *Client) RemoveMember(ctx context.Context, id string) (offset.Meta, error) {
	return offset.Meta{}, errSkeleton
}

// Transfer hands leadership to a voter ("" for any that has caught up), and tells which.
func (c *Client) Transfer(ctx context.Context, to string) (leader string, m offset.Meta, err error) {
	return "", offset.Meta{}, errSkeleton
}

// Snapshot takes a snapshot on the node at addr now; empty: on the first that answers.
func (c *Client) Snapshot(ctx context.Context, addr string) (index, bytes uint64, m offset.Meta, err error) {
	return 0, 0, offset.Meta{}, errSkeleton
}

// RaiseLevel raises the format level when all members can read it.
func (c *Client) RaiseLevel(ctx context.Context, level uint8) (offset.Meta, error) {
	return offset.Meta{}, errSkeleton
}
