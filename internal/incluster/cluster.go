// Package incluster starts clusters inside a test: members over an in-memory
// network, with real files in temporary folders. It is for tests of this
// module; tidemarktest is what users get.
package incluster

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/internal/ports"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// Operator is the principal that the cluster's own calls use.
var Operator = auth.Principal{Name: "operator", From: "test"}

// Patience is how long a condition may take before the test fails.
const Patience = 20 * time.Second

// Cluster is a set of members on one network. It is stopped with the test.
type Cluster struct {
	TB      testing.TB
	Net     *memnet.Network
	Members []*Member

	// Outside are hosts of the network that are no members: a kill of a member
	// cuts it off from them too, and heals that at its end.
	Outside []string

	logs *logs
	tcp  bool
}

// Option changes the configuration of a member before its first start.
type Option func(m *Member)

// Start founds a cluster of n members and waits until all are ready.
func Start(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := New(tb, n, options...)
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	return c
}

// StartTCP is Start over TCP on the loopback interface: Net has no part in it.
func StartTCP(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := create(tb, n, true, options)
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	return c
}

// New makes the members of a cluster without starting them.
func New(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	return create(tb, n, false, options)
}

func create(tb testing.TB, n int, tcp bool, options []Option) *Cluster {
	tb.Helper()
	seed := time.Now().UnixNano()
	c := &Cluster{TB: tb, Net: memnet.New(seed), logs: &logs{}, tcp: tcp}
	tb.TempDir() // the first call: folders are removed after the members have stopped
	tb.Cleanup(func() {
		c.Stop()
		if tb.Failed() {
			tb.Logf("network seed %d; log of the members:\n%s", seed, c.logs.tail())
		}
	})
	var founders []node.Founder
	for i := range n {
		m := c.make(fmt.Sprintf("n%d", i+1))
		founders = append(founders, node.Founder{Name: m.Name, Peer: m.Config.AdvertisePeer})
	}
	for _, m := range c.Members {
		m.Config.InitialCluster = founders
		for _, o := range options {
			o(m)
		}
	}
	return c
}

// Add makes a further member, which belongs to no cluster yet, and starts it.
func (c *Cluster) Add(options ...Option) *Member {
	c.TB.Helper()
	m := c.make(fmt.Sprintf("n%d", len(c.Members)+1))
	for _, o := range options {
		o(m)
	}
	m.Start()
	return m
}

func (c *Cluster) make(name string) *Member {
	m := &Member{Name: name, Host: name, Dir: filepath.Join(c.TB.TempDir(), name), cluster: c}
	m.Config = node.Config{
		Name: name, Dir: m.Dir,
		AdvertisePeer: name + ":7412", AdvertiseAPI: name + ":7411",
		Logger:  hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Debug, Output: c.logs}),
		Version: "test",
		Dial:    c.Net.Host(name).Dial,
		Timers:  Slower(node.LAN()),
	}
	if c.tcp {
		m.Config.AdvertisePeer, m.Config.Dial = fmt.Sprintf("127.0.0.1:%d", ports.Free(c.TB)), nil
	}
	c.Members = append(c.Members, m)
	return m
}

// Stop ends all members that run.
func (c *Cluster) Stop() {
	c.Net.HealAll()
	var all sync.WaitGroup
	for _, m := range c.Members {
		all.Go(func() { m.Stop() })
	}
	all.Wait()
}

// WaitReady waits until each of the members serves.
func (c *Cluster) WaitReady(members ...*Member) {
	c.TB.Helper()
	for _, m := range members {
		c.Until(m.Name+" is ready", func() bool {
			if !m.Running() {
				c.TB.Fatalf("%s has ended: %v", m.Name, m.Wait())
			}
			return m.Node().Ready() == nil
		})
	}
}

// Until waits for a condition.
func (c *Cluster) Until(what string, ok func() bool) {
	c.TB.Helper()
	deadline := time.Now().Add(Patience)
	for !ok() {
		if time.Now().After(deadline) {
			c.TB.Fatalf("not within %v: %s", Patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Leader waits until one of the running members leads and has proved it by a
// read, and returns it.
func (c *Cluster) Leader() *Member {
	c.TB.Helper()
	var leader *Member
	c.Until("a member leads", func() bool {
		leader = c.Leading(context.Background())
		return leader != nil
	})
	return leader
}

// Leading is the running member that leads and has proved it by a read; nil if
// none does now, or within ctx.
func (c *Cluster) Leading(ctx context.Context) *Member {
	for _, m := range c.Members {
		if m.Running() && m.Status().State == "leader" && m.reads(ctx) {
			return m
		}
	}
	return nil
}

// HandOver has leadership go to a member. Where a transfer did not come to its
// end, or may not have, it is asked for again: raft gives the member one election
// timeout, and a busy machine may take longer.
func (c *Cluster) HandOver(to *Member) {
	c.TB.Helper()
	c.Until(to.Name+" leads", func() bool {
		leader := c.Leader()
		if leader == to {
			return true
		}
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if _, _, err := leader.Node().Transfer(ctx, Operator, to.ID()); err != nil {
			c.TB.Logf("a transfer to %s: %v", to.Name, err)
		}
		return false
	})
}

// Followers are the running members but for one.
func (c *Cluster) Followers(leader *Member) []*Member {
	var list []*Member
	for _, m := range c.Members {
		if m != leader && m.Running() {
			list = append(list, m)
		}
	}
	return list
}
