package library

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
)

// faults are the worlds that calls are made in.
var faults = []struct {
	name  string
	start func(t *testing.T) *world
}{
	{"dead endpoints", func(t *testing.T) *world { return seeds(t, listen(t, nil), listen(t, nil)) }},
	{"nodes that accept and never read", func(t *testing.T) *world { return seeds(t, listen(t, hold), listen(t, hold)) }},
	{"nodes that read and never answer", func(t *testing.T) *world { return seeds(t, listen(t, mute), listen(t, mute)) }},
	{"a network that loses everything", func(t *testing.T) *world {
		return cluster(t, func(c *served.Cluster, app string) {
			for _, m := range c.Members {
				c.Net.Cut(app, m.Name)
				c.Net.Cut(m.Name, app)
			}
		})
	}},
	{"answers that are lost", func(t *testing.T) *world {
		return cluster(t, func(c *served.Cluster, app string) {
			for _, m := range c.Members {
				c.Net.Cut(m.Name, app)
			}
		})
	}},
	{"a leader that stands still", func(t *testing.T) *world {
		return cluster(t, func(c *served.Cluster, app string) { c.Net.Isolate(c.Leader().Name) })
	}},
	{"no leader, the members answer", func(t *testing.T) *world {
		return cluster(t, func(c *served.Cluster, _ string) {
			for _, a := range c.Members {
				for _, b := range c.Members {
					if a != b {
						c.Net.Cut(a.Name, b.Name)
					}
				}
			}
		})
	}},
	{"large requests under way", func(t *testing.T) *world {
		w := cluster(t, func(*served.Cluster, string) {})
		w.hit, w.heal = crowd(w.client, w.id)
		return w
	}},
}

// seeds is a world of nodes that no call gets an answer of.
func seeds(t *testing.T, addrs ...string) *world {
	c, err := client.New(addrs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &world{client: c, id: offset.ClusterID{1}, hit: func() {}, heal: func() {}}
}

// listen gives an address where serve has each connection; nil: that nobody
// listens at.
func listen(t *testing.T, serve func(net.Conn)) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if serve == nil {
		_ = l.Close()
		return l.Addr().String()
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, nc)
			mu.Unlock()
			all.Go(func() { serve(nc) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		mu.Lock()
		for _, nc := range open {
			_ = nc.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}

// hold does nothing with a connection; mute reads all that comes.
func hold(net.Conn)    {}
func mute(nc net.Conn) { _, _ = io.Copy(io.Discard, nc) }

// cluster is a world of three members, a client that has been served by their
// leader, and a fault that comes over them.
func cluster(t *testing.T, hit func(c *served.Cluster, app string)) *world {
	c := served.Start(t, 3)
	cl := c.Client()
	app := c.Outside[0]
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, meta, err := cl.Fetch(ctx, offset.ReadAt{}, key(0))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{client: cl, id: meta.Cluster, prepare: prepared(t, cl)}
	w.hit = func() { hit(c, app) }
	w.heal = func() {
		c.Net.HealAll()
		c.WaitReady()
	}
	return w
}

// crowd keeps callers busy with the largest requests.
func crowd(c *client.Client, id offset.ClusterID) (hit, heal func()) {
	list := make([]offset.Commit, offset.MaxCommits)
	for i := range list {
		list[i] = offset.Commit{Key: key(int32(i)), Offset: 1}
	}
	var all sync.WaitGroup
	var cancel context.CancelFunc
	hit = func() {
		var ctx context.Context
		ctx, cancel = context.WithCancel(context.Background())
		for range 8 {
			all.Go(func() {
				for ctx.Err() == nil {
					_, _, _ = c.Commit(ctx, id, list)
				}
			})
		}
	}
	return hit, func() { cancel(); all.Wait() }
}
