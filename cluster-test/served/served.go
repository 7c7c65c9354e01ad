// Package served runs clusters inside a test whose members serve their API
// over the same in-memory network, for clients on hosts of their own: links
// between members, and between clients and members, can be cut and slowed.
package served

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node/store"
)

// Cluster is a cluster whose members have an edge.
type Cluster struct {
	*incluster.Cluster
	clients int
}

// Start founds a cluster of n members and waits until all are ready.
func Start(tb testing.TB, n int, options ...incluster.Option) *Cluster {
	tb.Helper()
	return wrap(incluster.Start(tb, n, append(options, incluster.Served(nil))...))
}

// New makes the members of a cluster without starting them.
func New(tb testing.TB, n int, options ...incluster.Option) *Cluster {
	tb.Helper()
	return wrap(incluster.New(tb, n, append(options, incluster.Served(nil))...))
}

func wrap(c *incluster.Cluster) *Cluster { return &Cluster{Cluster: c} }

// Add makes a further member with an edge, and starts it; it belongs to no
// cluster yet.
func (c *Cluster) Add(options ...incluster.Option) *incluster.Member {
	c.TB.Helper()
	return c.Cluster.Add(append(options, incluster.Served(nil))...)
}

// Client makes a client on a host of its own ("app1", …), closed with the test.
func (c *Cluster) Client(opts ...client.Option) *client.Client {
	c.TB.Helper()
	host := c.host()
	var seeds []string
	for _, m := range c.Members {
		seeds = append(seeds, m.Config.AdvertiseAPI)
	}
	cl, err := client.New(seeds, append([]client.Option{client.WithDialer(c.Net.Host(host).Dial)}, opts...)...)
	if err != nil {
		c.TB.Fatal(err)
	}
	c.TB.Cleanup(func() { _ = cl.Close() })
	return cl
}

// Dial is Client without options, for the load.
func (c *Cluster) Dial() *client.Client { return c.Client() }

func (c *Cluster) host() string {
	c.clients++
	name := fmt.Sprintf("app%d", c.clients)
	c.Outside = append(c.Outside, name)
	return name
}

// Nodes are the members as they are asked, each by itself; nil: all.
func (c *Cluster) Nodes(members ...*incluster.Member) []*ask.Node {
	if members == nil {
		members = c.Members
	}
	host := c.Net.Host(c.host())
	var list []*ask.Node
	for _, m := range members {
		list = append(list, ask.New(m.Name, m.Config.AdvertiseAPI, host.Dial))
	}
	return list
}

// SameLogs stops all members and compares their logs entry by entry up to
// index, which all have applied; each pair must have entries in common.
func (c *Cluster) SameLogs(index uint64) {
	c.TB.Helper()
	c.Stop()
	first := c.log(c.Members[0], index)
	for _, m := range c.Members[1:] {
		other, common := c.log(m, index), 0
		for i, e := range other {
			a, ok := first[i]
			if !ok {
				continue // cut from one of the logs, after a snapshot
			}
			common++
			if a != e {
				c.TB.Errorf("entry %d of %s is %v, and of %s %v", i, c.Members[0].Name, a, m.Name, e)
			}
		}
		if common == 0 {
			c.TB.Errorf("the logs of %s and %s have nothing in common", c.Members[0].Name, m.Name)
		}
	}
}

// entry is what two members' logs must agree on.
type entry struct {
	term uint64
	kind raft.LogType
	data string
}

func (c *Cluster) log(m *incluster.Member, upTo uint64) map[uint64]entry {
	c.TB.Helper()
	list := map[uint64]entry{}
	err := store.ReadLog(filepath.Join(m.Dir, "raft"), func(l *raft.Log) error {
		if l.Index <= upTo {
			list[l.Index] = entry{l.Term, l.Type, string(l.Data)}
		}
		return nil
	})
	if err != nil {
		c.TB.Fatalf("reading the log of %s: %v", m.Name, err)
	}
	return list
}
