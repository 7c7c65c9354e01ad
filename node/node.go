package node

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// Node is one member. It implements the Service of transport/server; its
// methods may be called from any goroutine, before, during and after Run.
type Node struct {
	config Config
}

// New returns a member. It does no I/O. The error wraps offset.ErrInvalid.
func New(c Config) (*Node, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Node{config: c.withDefaults()}, nil
}

// Run opens the data folder, founds or restarts the member, and serves until
// ctx is done or a cause ends it; then it hands leadership over if it can,
// closes everything, and returns nil or that cause (see ExitCode). It is
// called once.
func (n *Node) Run(ctx context.Context) error { return offset.ErrNotReady }

// Close ends Run, if it runs, as the end of its context would, and waits for it.
func (n *Node) Close() error { return nil }

// ExitCode returns the exit code of the daemon for what Run returned.
func ExitCode(err error) int { return 1 }

// Commit answers one verdict per commit, in the order of the request.
func (n *Node) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	return nil, offset.Meta{}, offset.ErrNotReady
}

// Set answers CodeOK or CodeFenced, with the key as it is after.
func (n *Node) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	return offset.Verdict{}, offset.Meta{}, offset.ErrNotReady
}

// Act drives an act to its end (an import: one step of it).
func (n *Node) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	return offset.ActResult{}, offset.Meta{}, offset.ErrNotReady
}

// Fetch reads the states of keys from one root.
func (n *Node) Fetch(ctx context.Context, p auth.Principal, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error) {
	return nil, offset.Meta{}, offset.ErrNotReady
}

// List gives one page of a listing.
func (n *Node) List(ctx context.Context, p auth.Principal, l *offset.List) (offset.Page, error) {
	return offset.Page{}, offset.ErrNotReady
}

// Export yields all keys that l selects, from one root, in pages.
func (n *Node) Export(ctx context.Context, p auth.Principal, l *offset.List, yield func(offset.Page) error) error {
	return offset.ErrNotReady
}

// Status tells how this member (or the leader) sees itself and its cluster.
func (n *Node) Status(ctx context.Context, p auth.Principal, leader bool) (offset.Status, error) {
	return offset.Status{}, offset.ErrNotReady
}

// AddMember adds id ("name/member-id") at a peer address as a nonvoter.
func (n *Node) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrNotReady
}

// PromoteMember makes a nonvoter a voter once it has caught up.
func (n *Node) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrNotReady
}

// RemoveMember takes a member out, by id or, where unambiguous, by name.
func (n *Node) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrNotReady
}

// Transfer hands leadership to a voter ("" for any that has caught up).
func (n *Node) Transfer(ctx context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	return "", offset.Meta{}, offset.ErrNotReady
}

// Snapshot takes a snapshot on this node now.
func (n *Node) Snapshot(ctx context.Context, p auth.Principal) (index, bytes uint64, m offset.Meta, err error) {
	return 0, 0, offset.Meta{}, offset.ErrNotReady
}

// RaiseLevel raises the format level when all members can read it.
func (n *Node) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	return offset.Meta{}, offset.ErrNotReady
}

// Checkpoint has all members note and compare their digests now, if this
// member leads; the answer gives the index and the leader's digest there.
func (n *Node) Checkpoint(ctx context.Context) (index uint64, d offset.Digest, err error) {
	return 0, offset.Digest{}, offset.ErrNotReady
}

// Ready returns nil, or why this node does not serve; it never waits.
func (n *Node) Ready() error { return offset.ErrNotReady }

// Live returns nil, or why this process should be replaced; it never waits.
func (n *Node) Live() error { return nil }

// Leader returns the API address of the leader as this node knows it.
func (n *Node) Leader() string { return "" }

// Metrics returns the values of the node's own metrics as they are now; they
// are cheap to take and never touch the disk. The table of names is Metrics'.
func (n *Node) Metrics() []Metric { return nil }

// Metric is one value of the node's own metrics.
type Metric struct {
	// Name has no prefix: "queues", "commits_total". Help says what it counts, with its unit.
	Name, Help string
	// Counter tells a counter from a gauge.
	Counter bool
	Value   float64
}
