package tidemarktest

import (
	"github.com/tidemark-mq/tidemark/internal/incluster"
)

// Node is one node of a Cluster.
type Node struct {
	cluster *Cluster
	member  *incluster.Member
	door    *door
}

// Name is its name, "n1".
func (n *Node) Name() string { return n.member.Name }

// Endpoint is its address for clients, "127.0.0.1:port".
func (n *Node) Endpoint() string { return n.door.addr }

// Running reports whether it runs, paused or cut off or not.
func (n *Node) Running() bool { return n.member.Running() }

// Kill ends the node as kill -9 does: its connections are reset, new ones are
// refused, and what it had not sent is lost. What it had synced stays in its
// folder for Restart.
func (n *Node) Kill() {
	c := n.cluster
	c.mu.Lock()
	defer c.mu.Unlock()
	n.door.refuse()
	n.member.Kill()
	delete(c.paused, n)
	c.applyLocked() // the links that the death of the member has healed
}

// Restart starts a node that was killed, over what its folder holds, and waits
// until it serves; in a cluster that has no quorum it does not wait.
func (n *Node) Restart() {
	c := n.cluster
	c.tb.Helper()
	if n.Running() {
		c.tb.Fatalf("%s runs; only a node that was killed is restarted", n.Name())
	}
	n.start()
	if running := c.running(); 2*running > len(c.nodes) {
		c.members.WaitReady(n.member)
	}
}

func (n *Node) start() {
	n.cluster.tb.Helper()
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	n.member.Start()
	if err := n.door.listen(); err != nil {
		n.cluster.tb.Fatalf("%s can't listen at %s again: %v", n.Name(), n.door.addr, err)
	}
}

func (c *Cluster) running() (count int) {
	for _, n := range c.nodes {
		if n.Running() {
			count++
		}
	}
	return count
}
