package peer

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// Handler answers the calls of other members; package node implements it. Its
// methods may be called from any goroutine, any number at a time, from the
// moment Run begins. ctx ends with the caller's deadline, with its connection
// and with Run.
//
// The methods that take a principal are calls of a client that another member
// forwards: the handler authorizes the principal, and never forwards again: where
// it does not lead it answers offset.ErrNotLeader.
type Handler interface {
	// Commit answers as transport/server's Service. Of a verdict that is
	// CodeOK, only the offset reaches the caller.
	Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error)
	// Set answers as transport/server's Service.
	Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error)
	// Act answers as transport/server's Service.
	Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error)
	// Status reports how this member sees itself and its cluster, leader or not.
	Status(ctx context.Context, p auth.Principal) (offset.Status, error)
	// AddMember adds a nonvoter.
	AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error)
	// PromoteMember makes a nonvoter that has caught up a voter.
	PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error)
	// RemoveMember takes a member out, by id or name.
	RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error)
	// Transfer hands leadership over and returns to whom.
	Transfer(ctx context.Context, p auth.Principal, to string) (leader string, m offset.Meta, err error)
	// RaiseLevel raises the format level.
	RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error)

	// ReadIndex confirms leadership by a round begun after the call, and gives
	// an index at which all that was acknowledged before is applied.
	ReadIndex(ctx context.Context) (uint64, error)
	// Hello says what this node is. from is the asking node's id. Nodes that belong
	// to no cluster, or to another, are asked too.
	Hello(ctx context.Context, from string) (Hello, error)
	// Found gives an empty founder the cluster id and the configuration. It
	// returns nil once both are on the disk, also when they were already.
	Found(ctx context.Context, from string, f Founding) error
	// Announce asks the leader to write what m announces of itself into the
	// state. m.ID is the caller's: the connection has been checked for it.
	Announce(ctx context.Context, m offset.Member) error
	// Digest gives the digest noted at the checkpoint of that index.
	Digest(ctx context.Context, index uint64) (Checkpoint, error)
}

// Hello is what a node says of itself.
type Hello struct {
	// ID is "name/member-id".
	ID string
	// Run is drawn by each process at its start: two processes with one ID are
	// two. It comes from the handshake; a Handler leaves it zero.
	Run RunID
	// Cluster is zero while the node belongs to none.
	Cluster offset.ClusterID
	// Empty: its log, vote store and snapshots hold nothing.
	Empty bool
	// Listed: the configuration of its cluster, or the draw it holds, lists
	// the asking node.
	Listed bool
	// MaxLevel is the highest format level it reads, Level the one its cluster uses.
	MaxLevel, Level uint8
	// Peer and API are the addresses it advertises.
	Peer, API string
	// Founders is with whom it would found a cluster, itself among them:
	// name=host:port, by name, separated by commas. Empty once it belongs to
	// one, and where it waits to be added. It is at most MaxFounders long.
	Founders string
}

// MaxFounders bounds Hello.Founders, in bytes: what 32 founders of the longest
// names and addresses need.
const MaxFounders = offset.MaxMembers * (64 + 1 + offset.MaxName + 1)

// Founding is what the first founder has drawn.
type Founding struct {
	Cluster offset.ClusterID
	// Founders are the voters of the first configuration.
	Founders []Founder
}

// Founder is one of the first voters.
type Founder struct {
	// ID is "name/member-id", Peer the advertised address of its raft port.
	ID, Peer string
}

// Checkpoint is what a node noted at a checkpoint.
type Checkpoint struct {
	// Known is false where the node has not applied that checkpoint, or has
	// forgotten it.
	Known  bool
	Digest offset.Digest
	// Quarantined: the node has given itself up already.
	Quarantined bool
}
