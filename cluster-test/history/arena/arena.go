// Package arena is where histories are made: a cluster, inside this process or
// of real processes, whose nodes are asked one by one and broken one by one.
//
// Its methods return errors and never fail a test, so that a runner can tell
// what was found. They may be called from any goroutine, but what breaks a
// node (Kill, Stop, Start, Pause, Resume) by one at a time.
package arena

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// Arena is a cluster to break.
type Arena interface {
	// Names are the names of the nodes, running or not: n1, n2, and so on.
	Names() []string
	// Node is one node to ask, running or not. It asks that node alone and sends
	// nothing again.
	Node(name string) Node
	// Running tells whether a node's process, or what stands for it, is there;
	// a paused one is.
	Running(name string) bool

	// Kill ends a node as kill -9 does, Stop as SIGTERM does. Both wait for it.
	Kill(name string) error
	Stop(name string) error
	// Start starts a node over what it left, and does not wait until it serves.
	Start(name string) error
	// Pause stops a node where it stands (SIGSTOP) until Resume. Inside one
	// process it is ErrCannot.
	Pause(name string) error
	Resume(name string) error

	// Skew sets a node's clock wrong by d. In processes it is ErrCannot.
	Skew(name string, d time.Duration) error

	// Astray has a node note a wrong digest at each checkpoint, or stop doing so.
	// In processes it is ErrCannot.
	Astray(name string, on bool) error

	// Add starts a further node, which belongs to no cluster yet, and names it.
	Add() (name string, err error)
	// API is the address that a node tells clients to reach it at.
	API(name string) string
	// Peer is the address of a node's raft port, for AddMember.
	Peer(name string) string
	// Wipe removes the data folder of a node that does not run.
	Wipe(name string) error
	// Folder is the data folder of a node, for what looks at or damages its files.
	Folder(name string) string

	// Net is the network between nodes, and between nodes and clients; nil where
	// it is the system's. Clients are its host "clients".
	Net() *memnet.Network
	// Close ends all nodes; their folders stay until the test ends.
	Close() error
}

// Node is one node of an arena as clients and operators see it. The errors
// wrap the sentinels of package offset; see offset.OutcomeOf.
type Node interface {
	Commit(ctx context.Context, c *offset.Commits) ([]offset.Verdict, offset.Meta, error)
	Set(ctx context.Context, s *offset.Set) (offset.Verdict, offset.Meta, error)
	Act(ctx context.Context, a *offset.Act) (offset.ActResult, offset.Meta, error)
	Fetch(ctx context.Context, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error)
	List(ctx context.Context, l *offset.List) (offset.Page, error)

	Status(ctx context.Context) (offset.Status, error)
	AddMember(ctx context.Context, id, address string) error
	PromoteMember(ctx context.Context, id string) error
	RemoveMember(ctx context.Context, id string) error
	Transfer(ctx context.Context, to string) (leader string, err error)
	Snapshot(ctx context.Context) (index uint64, err error)
}

// hurried is the key of what Hurry says.
type hurried struct{}

// Hurry has a node be told that its answer is wanted within d, which is no bound
// on how long the caller waits. A node that is asked inside this process, by
// Inside, is not told.
func Hurry(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, hurried{}, d)
}
