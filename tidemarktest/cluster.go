package tidemarktest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// Cluster is a cluster in a test. Its methods may be called from any goroutine,
// except for those that end the test where they fail (Start, Client, Leader,
// KillLeader, Offsets, Reset, Remove, Node.Restart): these belong to the test's
// own, as testing.TB's FailNow does.
type Cluster struct {
	tb       testing.TB
	members  *incluster.Cluster
	nodes    []*Node
	outside  *memnet.Host
	failures failures

	mu sync.Mutex // guards what follows, and has one node die or start at a time
	// cuts are the links that are cut, paused the nodes that are silent.
	cuts   map[link]struct{}
	paused map[*Node]struct{}
}

// Option changes one setting of a Cluster. A nil one changes nothing.
type Option func(*settings)

type settings struct {
	preset string
}

// WithTimers sets raft's timers by the name of a preset, as tidemarkd's
// --timers: "lan" (300 ms), the default, or "slow-disk" (1 s), for machines so
// loaded that leaders change by themselves. Under the race detector both are
// twice as long.
func WithTimers(preset string) Option { return func(s *settings) { s.preset = preset } }

// Start founds a cluster of so many nodes and waits until all serve. It ends
// with the test. One node is enough for most tests; with three, one can die.
func Start(tb testing.TB, nodes int, opts ...Option) *Cluster {
	tb.Helper()
	if nodes < 1 || nodes > offset.MaxMembers {
		tb.Fatalf("a cluster of %d nodes; 1 to %d are possible", nodes, offset.MaxMembers)
	}
	c := &Cluster{tb: tb, cuts: make(map[link]struct{}), paused: make(map[*Node]struct{})}
	c.members = incluster.New(tb, nodes, append(c.options(opts), incluster.Served(c.faulty))...)
	c.outside = c.members.Net.Host(Clients.host())
	c.members.Outside = []string{c.outside.Name()}
	for _, m := range c.members.Members {
		c.open(m)
	}
	for _, n := range c.nodes {
		n.start()
	}
	c.members.WaitReady(c.members.Members...)
	return c
}

// options are what the caller's make of each member's configuration.
func (c *Cluster) options(opts []Option) []incluster.Option {
	c.tb.Helper()
	var s settings
	for _, o := range opts {
		if o != nil {
			o(&s)
		}
	}
	if s.preset == "" {
		return nil
	}
	timers, err := node.TimersNamed(s.preset)
	if err != nil {
		c.tb.Fatal(err)
	}
	return []incluster.Option{func(m *incluster.Member) { m.Config.Timers = incluster.Slower(timers) }}
}

// open makes the node of a member, with the address that clients have.
func (c *Cluster) open(m *incluster.Member) {
	c.tb.Helper()
	d, err := newDoor(c.outside, m.Config.AdvertiseAPI)
	if err != nil {
		c.tb.Fatalf("no address can be had for %s: %v", m.Name, err)
	}
	c.tb.Cleanup(d.close) // before the members stop
	m.Config.AdvertiseAPI = d.addr
	c.nodes = append(c.nodes, &Node{cluster: c, member: m, door: d})
}

// faulty is what a member serves to clients.
func (c *Cluster) faulty(m *incluster.Member, s server.Service) server.Service {
	return &faultyService{Service: s, failures: &c.failures, door: c.node(m).door}
}

func (c *Cluster) node(m *incluster.Member) *Node {
	for _, n := range c.nodes {
		if n.member == m {
			return n
		}
	}
	return nil
}

// Endpoints are the addresses of all nodes, "127.0.0.1:port". They stay the
// same as long as the cluster lives, whatever happens to the nodes.
func (c *Cluster) Endpoints() []string {
	list := make([]string, len(c.nodes))
	for i, n := range c.nodes {
		list[i] = n.Endpoint()
	}
	return list
}

// Client makes an ordinary client of all endpoints, which is closed with the test.
func (c *Cluster) Client(opts ...client.Option) *client.Client {
	c.tb.Helper()
	cl, err := client.New(c.Endpoints(), opts...)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.tb.Cleanup(func() { _ = cl.Close() })
	return cl
}

// Nodes are all nodes, running or not: n1, n2, and so on.
func (c *Cluster) Nodes() []*Node { return append([]*Node(nil), c.nodes...) }

// WaitLeader waits until a node leads and has proved it by a read, and returns
// it. The error is that of ctx.
func (c *Cluster) WaitLeader(ctx context.Context) (*Node, error) {
	for {
		if m := c.members.Leading(ctx); m != nil {
			return c.node(m), nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Leader is WaitLeader with a test's patience (20 s), which fails otherwise.
func (c *Cluster) Leader() *Node {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), incluster.Patience)
	defer cancel()
	n, err := c.WaitLeader(ctx)
	if err != nil {
		c.tb.Fatalf("no node leads after %s; are enough of them running, and connected?", incluster.Patience)
	}
	return n
}

// KillLeader kills the node that leads (see Node.Kill), and returns it.
func (c *Cluster) KillLeader() *Node {
	c.tb.Helper()
	n := c.Leader()
	n.Kill()
	return n
}
