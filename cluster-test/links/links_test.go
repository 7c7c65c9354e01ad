package links

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// faults are what is done to the links between a leader and two followers.
// Commits go on under each of them.
var faults = []struct {
	name string
	do   func(n *memnet.Network, leader, a, b string)
}{
	{"a follower cut off", func(n *memnet.Network, leader, a, b string) { isolate(n, a, leader, b) }},
	{"the leader cut off from the others, not from clients", func(n *memnet.Network, leader, a, b string) { isolate(n, leader, a, b) }},
	{"a bridge: two followers hear the leader alone", func(n *memnet.Network, _, a, b string) { isolate(n, a, b) }},
	{"a bridge: the leader hears one follower alone", func(n *memnet.Network, leader, a, _ string) { isolate(n, leader, a) }},
	{"the leader is not heard", func(n *memnet.Network, leader, a, b string) { n.Cut(leader, a); n.Cut(leader, b) }},
	{"the leader does not hear", func(n *memnet.Network, leader, a, b string) { n.Cut(a, leader); n.Cut(b, leader) }},
	{"one follower is not heard", func(n *memnet.Network, leader, a, b string) { n.Cut(a, leader); n.Cut(a, b) }},
	{"the way to the leader is slow", func(n *memnet.Network, leader, a, b string) {
		slow(n, 30*time.Millisecond, leader, a)
		slow(n, 30*time.Millisecond, leader, b)
	}},
	{"a follower is slow", func(n *memnet.Network, leader, a, b string) {
		slow(n, 80*time.Millisecond, a, leader)
		slow(n, 80*time.Millisecond, a, b)
	}},
	{"connections break", func(n *memnet.Network, leader, a, b string) {
		for _, p := range [][2]string{{leader, a}, {a, leader}, {leader, b}, {b, leader}} {
			n.Lossy(p[0], p[1], 0.02)
		}
	}},
}

func isolate(n *memnet.Network, one string, others ...string) {
	for _, o := range others {
		n.Cut(one, o)
		n.Cut(o, one)
	}
}

func slow(n *memnet.Network, d time.Duration, a, b string) {
	n.Slow(a, b, d)
	n.Slow(b, a, d)
}

// TestFaultyLinks: under each fault of links between members commits go on,
// and after all of them nothing is missing.
func TestFaultyLinks(t *testing.T) {
	c := served.Start(t, 3)
	l := load.Start(t, c.Dial, load.Shape{})
	l.More(5)
	for _, f := range faults {
		for range effort.Of(1, 20) {
			leader := c.Leader()
			rest := c.Followers(leader)
			l.LongestGap()
			began := time.Now()
			f.do(c.Net, leader.Name, rest[0].Name, rest[1].Name)
			l.More(10)
			c.Net.HealAll()
			l.More(5)
			t.Logf("%s: %v, longest gap %v", f.name, time.Since(began).Round(time.Millisecond), l.LongestGap().Round(time.Millisecond))
			if t.Failed() {
				return
			}
		}
	}
	reckon(c, l)
}

// TestFaultyLinksToClients: a client that reaches some members alone, and
// these slowly or only in one direction, goes on through what it reaches.
func TestFaultyLinksToClients(t *testing.T) {
	c := served.Start(t, 3)
	l := load.Start(t, c.Dial, load.Shape{Clients: 1})
	l.More(5)
	app := c.Outside[0]
	leader := c.Leader()
	rest := c.Followers(leader)
	for _, f := range []struct {
		name string
		do   func()
	}{
		{"the leader is out of reach", func() { isolate(c.Net, app, leader.Name) }},
		{"the leader's answers are lost", func() { c.Net.Cut(leader.Name, app) }},
		{"what is sent to the leader is lost", func() { c.Net.Cut(app, leader.Name) }},
		{"one follower is all there is", func() { isolate(c.Net, app, leader.Name, rest[0].Name) }},
		{"all are slow", func() {
			for _, m := range c.Members {
				slow(c.Net, 20*time.Millisecond, app, m.Name)
			}
		}},
	} {
		began := time.Now()
		f.do()
		l.More(5)
		c.Net.HealAll()
		l.More(5)
		t.Logf("%s: %v", f.name, time.Since(began).Round(time.Millisecond))
	}
	reckon(c, l)
}

// reckon demands the plain promises.
func reckon(c *served.Cluster, l *load.Load) {
	c.TB.Helper()
	c.Net.HealAll()
	c.WaitReady(running(c)...)
	nodes := c.Nodes(running(c)...)
	l.Check(nodes)
	if gone := len(c.Members) - len(nodes); gone > 0 {
		c.TB.Logf("%d members do not run any more", gone)
		return
	}
	c.SameLogs(same(c, nodes))
}

func running(c *served.Cluster) (list []*incluster.Member) {
	for _, m := range c.Members {
		if m.Running() {
			list = append(list, m)
		}
	}
	return list
}

func same(c *served.Cluster, nodes []*ask.Node) uint64 { return ask.Same(c.TB, nodes) }
