package node

import (
	"testing"
	"time"
)

// RestartRaft ends the present life of raft as a transfer that never ends does.
func RestartRaft(n *Node) { n.replica.Load().fail(errRestart{"the test says so"}) }

// QuickGuard shortens the ticks of the watch for members started from now on.
func QuickGuard(t testing.TB) {
	before := guardTick
	guardTick = 5 * time.Millisecond
	t.Cleanup(func() { guardTick = before })
}

// HangApply has the member look as if one Apply never came to its end, until the
// next one begins.
func HangApply(n *Node) { n.replica.Load().machine.busy.Store(1) }
