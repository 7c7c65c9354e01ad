package node

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// RestartRaft ends the present life of raft as a transfer that never ends does.
func RestartRaft(n *Node) { n.replica.Load().fail(errRestart{"the test says so"}) }

// ReadIndex asks a member as others do whose reads it is to confirm.
func ReadIndex(ctx context.Context, n *Node) (uint64, error) { return port{n}.ReadIndex(ctx) }

// IsDown reports whether the present life of raft has been told to end.
func IsDown(n *Node) func() bool {
	r := n.replica.Load().raft
	return func() bool { return r.State() == raft.Shutdown }
}

// QuickGuard shortens the ticks of the watch for members started from now on.
func QuickGuard(t testing.TB) {
	before := guardTick
	guardTick = 5 * time.Millisecond
	t.Cleanup(func() { guardTick = before })
}

// HangApply has the member look as if one Apply never came to its end, until the
// next one begins.
func HangApply(n *Node) {
	if r := n.replica.Load(); r != nil { // it has not ended
		r.machine.busy.Store(1)
	}
}

// AnnounceStranger has the state name somebody who is no member, as one that was
// removed stays named where the leader fails right then.
func AnnounceStranger(ctx context.Context, n *Node, m offset.Member) error {
	_, err := n.replica.Load().proposer.propose(ctx, entry.Request{Member: &m})
	return err
}

// PromoteBlindly makes a member a voter without asking who would hear of it.
func PromoteBlindly(ctx context.Context, n *Node, id, address string) error {
	return await(ctx, n.replica.Load().raft.AddVoter(raft.ServerID(id), raft.ServerAddress(address), 0, 0))
}

// AddBlindly adds a nonvoter without asking whether there is one.
func AddBlindly(ctx context.Context, n *Node, id, address string) error {
	return await(ctx, n.replica.Load().raft.AddNonvoter(raft.ServerID(id), raft.ServerAddress(address), 0, 0))
}

// MoveSelf has a leader look at its own address, as at the beginning of its tenure.
func MoveSelf(ctx context.Context, n *Node) error {
	r := n.replica.Load()
	return r.change(func() error { return r.moveSelf(ctx) })
}

// IsLow tells low space.
var IsLow = isLow

// LastCommand finds the last commands of a log, as a leader's reads do.
func LastCommand() func(raft.LogStore, uint64) (uint64, error) { return new(lastCommand).at }

// HoldProposing has nothing be proposed until resume is called.
func HoldProposing(t testing.TB, n *Node) (resume func()) {
	t.Helper()
	resume, err := n.replica.Load().proposer.stop(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return resume
}
