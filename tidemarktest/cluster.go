package tidemarktest

import (
	"context"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
)

// Cluster is a cluster in a test. Its methods may be called from any goroutine,
// but for those that end the test where they fail (Start, Leader, KillLeader,
// Offsets, Reset, Remove, Node.Restart): these belong to the test's own, as
// testing.TB's FailNow does.
type Cluster struct {
	nodes []*Node
}

// Option changes one setting of a Cluster. A nil one changes nothing.
type Option func(*settings)

type settings struct{}

// Start founds a cluster of so many nodes and waits until all serve. It ends
// with the test. One node is enough for most tests; with three, one can die.
func Start(tb testing.TB, nodes int, opts ...Option) *Cluster {
	tb.Helper()
	tb.Fatal("tidemarktest is being written")
	return nil
}

// Endpoints are the addresses of all nodes, "127.0.0.1:port". They stay the
// same as long as the cluster lives, whatever happens to the nodes.
func (c *Cluster) Endpoints() []string { return nil }

// Client makes an ordinary client of all endpoints, which is closed with the test.
func (c *Cluster) Client(opts ...client.Option) *client.Client { return nil }

// Nodes are all nodes, running or not: n1, n2, and so on.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// WaitLeader waits until a node leads and has proved it by a read, and returns
// it. The error is that of ctx.
func (c *Cluster) WaitLeader(ctx context.Context) (*Node, error) { return nil, nil }

// Leader is WaitLeader with the patience of a test, which fails otherwise.
func (c *Cluster) Leader() *Node { return nil }

// KillLeader kills the node that leads (see Node.Kill), and returns it.
func (c *Cluster) KillLeader() *Node { return nil }

// Node is one node of a Cluster.
type Node struct {
	name string
}

// Name is its name, "n1".
func (n *Node) Name() string { return n.name }

// Endpoint is its address for clients, "127.0.0.1:port".
func (n *Node) Endpoint() string { return "" }

// Running tells whether it runs, paused or cut off or not.
func (n *Node) Running() bool { return false }

// Kill ends the node as kill -9 does: its connections are reset, and what it
// had not sent is lost. What it had synced stays in its folder for Restart.
func (n *Node) Kill() {}

// Restart starts a node that was killed, over what its folder holds, and waits
// until it serves.
func (n *Node) Restart() {}
