package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestRaftConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1, n2 := start(t, network, "n1"), start(t, network, "n2")
		out, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412")
		if err != nil {
			t.Fatal(err)
		}
		in, err := n2.AcceptRaft()
		if err != nil {
			t.Fatal(err)
		}
		echo(t, out, in)
		echo(t, in, out)
		time.Sleep(time.Minute) // no deadline of the handshake is left
		echo(t, out, in)

		n2.stop()
		if _, err := n2.AcceptRaft(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("accepting after the end: %v", err)
		}
		if _, err := in.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("an accepted connection outlives Run: %v", err)
		}
		n1.stop()
		if _, err := out.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a dialled connection outlives Run: %v", err)
		}
		if _, err := n1.DialRaft(context.Background(), "n2/1", "n2:7412"); err == nil {
			t.Error("dialling after the end")
		}
		if open := network.Conns(); open != 0 {
			t.Errorf("%d connections are left", open)
		}
	})
}

func TestRefusals(t *testing.T) {
	other := func(c *Config, n *node) { n.cluster = clusterB }
	for _, tt := range []struct {
		name     string
		from, to func(*Config, *node)
		id       string
		want     error
		text     string
	}{
		{"another cluster", nil, other, "n2/1", offset.ErrForeignCluster, "belongs to cluster 0b000000"},
		{"another member", nil, nil, "n2/2", offset.ErrNotFound, "this is n2/1, not"},
		{"no cluster yet", nil, func(c *Config, n *node) { n.cluster = offset.ClusterID{} }, "n2/1", offset.ErrNotReady, "no cluster yet"},
		{"a copy of the callee", func(c *Config, n *node) { c.ID = "n2/1" }, nil, "n2/1", offset.ErrDenied, "copies of one data folder"},
		{"too old a build", nil, func(c *Config, n *node) { c.MaxLevel, n.level = 3, 2 }, "n2/1", offset.ErrLevel, "reads up to 1"},
		{"a callee in a newer cluster", func(c *Config, n *node) { c.MaxLevel = 2 }, func(c *Config, n *node) { c.MaxLevel, n.level = 4, 3 }, "n2/1", offset.ErrLevel, "level 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := newNetwork(t)
				with := func(f func(*Config, *node)) func(*Config, *node) {
					if f == nil {
						return func(*Config, *node) {}
					}
					return f
				}
				n1, n2 := start(t, network, "n1", with(tt.from)), start(t, network, "n2", with(tt.to))
				n2.fake.readIndex = func(context.Context) (uint64, error) {
					t.Error("a call got through")
					return 0, nil
				}
				_, err := n1.DialRaft(within(t, time.Second), tt.id, "n2:7412")
				if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
					t.Errorf("raft: %v", err)
				}
				if _, err = n1.To(tt.id, "n2:7412").ReadIndex(within(t, time.Second)); !errors.Is(err, tt.want) {
					t.Errorf("call: %v", err)
				}
				if offset.OutcomeOf(err) != offset.NotDone {
					t.Errorf("a refused call counts as sent: %v", err)
				}
			})
		})
	}
}

func TestCallingItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n1 := start(t, newNetwork(t), "n1")
		if _, err := n1.DialRaft(within(t, time.Second), "n1/1", "n1:7412"); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("raft to itself: %v", err)
		}
	})
}

func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1")
		start(t, network, "n2")
		network.Host("n3")
		silent, _ := network.Host("n4").Listen(":7412") // accepts, and never says a word
		defer silent.Close()
		network.Cut("n2", "n1")
		for addr, most := range map[string]time.Duration{"n2:7412": 2 * time.Second, "n3:7412": 0, "nowhere:7412": 0, "n4:7412": 2 * time.Second} {
			begin := time.Now()
			_, err := n1.To("n2/1", addr).ReadIndex(within(t, time.Hour))
			if !errors.Is(err, offset.ErrUnreachable) || offset.CodeOf(err) != offset.CodeUnreachable {
				t.Errorf("%s: %v", addr, err)
			}
			if took := time.Since(begin); took != most {
				t.Errorf("%s: given up after %v, want %v", addr, took, most)
			}
		}
		begin := time.Now()
		_, err := n1.DialRaft(within(t, 300*time.Millisecond), "n2/1", "n2:7412")
		if took := time.Since(begin); !errors.Is(err, context.DeadlineExceeded) || took != 300*time.Millisecond {
			t.Errorf("the context bounds a dial: %v after %v", err, took)
		}
	})
}

// Strangers that say nothing are bounded, the newest stay, and a member gets in
// while they keep coming.
func TestSilentConnectionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n2 := start(t, network, "n2", func(c *Config, n *node) { c.MaxStrangers = 4 })
		n1 := start(t, network, "n1")
		stranger := network.Host("stranger")
		var conns []net.Conn
		for range 6 {
			c, err := stranger.Dial(context.Background(), "n2:7412")
			if err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
			synctest.Wait()
		}
		for i, c := range conns {
			c.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, err := c.Read(make([]byte, 1))
			if timeout := errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "timeout"); timeout != (i >= 2) {
				t.Errorf("connection %d: %v", i, err)
			}
			defer c.Close()
		}
		c, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412")
		if err != nil {
			t.Fatalf("strangers keep a member out: %v", err)
		}
		defer c.Close()
		in, err := n2.AcceptRaft()
		if err != nil {
			t.Fatal(err)
		}
		for range 8 { // that do not push the member out
			s, err := stranger.Dial(context.Background(), "n2:7412")
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
		}
		synctest.Wait()
		echo(t, c, in)
	})
}

// Members have a bound of their own, and a place is free again when one leaves.
func TestConnectionsOfMembersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n2 := start(t, network, "n2", func(c *Config, n *node) { c.MaxConns = 2 })
		n1 := start(t, network, "n1")
		var conns []net.Conn
		for range 2 {
			c, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := n2.AcceptRaft(); err != nil {
				t.Fatal(err)
			}
			conns = append(conns, c)
		}
		if _, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412"); !errors.Is(err, offset.ErrBusy) {
			t.Errorf("one more than the most: %v", err)
		}
		conns[0].Close()
		synctest.Wait()
		if in, ok := n2.books.one("n1/1"); ok {
			in.Close() // as its reader does when the other side has gone
		}
		c, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412")
		if err != nil {
			t.Fatalf("the place is not free again: %v", err)
		}
		c.Close()
		conns[1].Close()
	})
}

// one returns a connection of a member.
func (b *books) one(id string) (*conn, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.guests[id].conns {
		return c, true
	}
	return nil, false
}

// A handshake that is not answered says what it may have met.
func TestAPortThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1")
		l, err := network.Host("api").Listen(":7411")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = n1.To("", "api:7411").Hello(within(t, time.Second))
		if !errors.Is(err, offset.ErrUnreachable) || !strings.Contains(err.Error(), "raft port") {
			t.Errorf("%v", err)
		}
	})
}

func TestRaftThatNobodyAcceptsIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1")
		start(t, network, "n2")
		c, err := n1.DialRaft(within(t, time.Second), "n2/1", "n2:7412")
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Error("read something")
		}
		if took := time.Since(begin); took != 2*time.Second {
			t.Errorf("closed after %v", took)
		}
	})
}

// C32: a second node with the same id and another address is refused.
func TestSecondProcessOfOneIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		leader := start(t, network, "n1")
		first := start(t, network, "n2")
		second := start(t, network, "copy", func(c *Config, n *node) { c.ID = "n2/1" })
		var raft sync.WaitGroup
		defer raft.Wait()
		defer leader.stop()
		raft.Go(func() {
			for {
				c, err := leader.AcceptRaft()
				if err != nil {
					return
				}
				raft.Go(func() { // as raft reads its connections
					defer c.Close()
					for {
						if _, err := c.Read(make([]byte, 16)); err != nil {
							return
						}
					}
				})
			}
		})
		c1, err := first.DialRaft(within(t, time.Second), "n1/1", "n1:7412")
		if err != nil {
			t.Fatal(err)
		}
		for range 5 { // while the first is heard, the second stays out
			time.Sleep(2 * time.Second)
			c1.Write([]byte("heartbeat"))
			synctest.Wait()
			_, err = second.DialRaft(within(t, time.Second), "n1/1", "n1:7412")
			if !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), "copies of one data folder") {
				t.Fatalf("the second is let in: %v", err)
			}
		}
		if again, err := first.DialRaft(within(t, time.Second), "n1/1", "n1:7412"); err != nil {
			t.Errorf("a further connection of the first: %v", err)
		} else {
			again.Close()
		}
		// The first dies in a way that nobody is told of, and comes back as another process.
		network.Isolate("n2")
		time.Sleep(3 * time.Second)
		c2, err := second.DialRaft(within(t, time.Second), "n1/1", "n1:7412")
		if err != nil {
			t.Fatalf("the way is not free after the silence: %v", err)
		}
		c2.Close()
	})
}

func TestRestartIsLetInAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		leader := start(t, network, "n1")
		leader.fake.readIndex = func(context.Context) (uint64, error) { return 5, nil }
		for range 3 {
			n2 := start(t, network, "n2")
			if i, err := n2.To("n1/1", "n1:7412").ReadIndex(within(t, time.Second)); i != 5 || err != nil {
				t.Fatalf("%d %v", i, err)
			}
			n2.kill()
			synctest.Wait()
		}
	})
}

// C31, named part: all members come back at other hosts behind the same names.
func TestNamesAreResolvedAtEachDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		names := []string{"alpha", "beta", "gamma"}
		generation := func(g string) (nodes []*node) {
			for _, name := range names {
				network.Point(name, name+g)
				nodes = append(nodes, start(t, network, name+g, func(c *Config, n *node) { c.ID = name + "/1" }))
			}
			return nodes
		}
		check := func(nodes []*node, index uint64) {
			for _, n := range nodes {
				n.fake.readIndex = func(context.Context) (uint64, error) { return index, nil }
			}
			for i, from := range nodes {
				for j, name := range names {
					if i == j {
						continue
					}
					got, err := from.To(name+"/1", name+":7412").ReadIndex(within(t, 10*time.Second))
					if err != nil || got != index {
						t.Fatalf("%s to %s: %d %v", names[i], name, got, err)
					}
				}
			}
		}
		old := generation("-1")
		check(old, 1)
		for _, n := range old {
			n.stop()
		}
		check(generation("-2"), 2)

		// One member alone moves, while the connections of the others stand.
		third := generation("-3")
		check(third, 3)
		third[2].stop()
		network.Point("gamma", "elsewhere")
		third[2] = start(t, network, "elsewhere", func(c *Config, n *node) { c.ID = "gamma/1" })
		synctest.Wait()
		check(third, 4)
	})
}

func TestAdoptByRaftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1", func(_ *Config, n *node) { n.level = 1 })
		var from []string
		n2 := start(t, network, "n2", func(c *Config, n *node) {
			n.cluster = offset.ClusterID{}
			c.Adopt = func(cluster offset.ClusterID, id string, level uint8) error {
				from = append(from, fmt.Sprintf("%s of %s at level %d", id, cluster.String()[:2], level))
				n.join(cluster)
				return nil
			}
		})
		ctx := within(t, time.Minute)
		if _, err := n1.To("n2/1", "n2:7412").ReadIndex(ctx); !errors.Is(err, offset.ErrNotReady) {
			t.Errorf("adopted by a call: %v", err)
		}
		if _, err := n1.DialRaft(ctx, "n2/2", "n2:7412"); !errors.Is(err, offset.ErrNotReady) {
			t.Errorf("adopted under another id: %v", err)
		}
		c, err := n1.DialRaft(ctx, "n2/1", "n2:7412")
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		if len(from) != 1 || from[0] != "n1/1 of 0a at level 1" {
			t.Errorf("adopted by %q", from)
		}
		if n2.config.Cluster() != clusterA {
			t.Error("the cluster is not kept")
		}
	})
}
