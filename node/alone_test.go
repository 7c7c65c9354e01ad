package node_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// startAlone starts one member without a network.
func startAlone(t *testing.T) (*incluster.Cluster, *incluster.Member) {
	t.Helper()
	c := incluster.New(t, 1)
	m := c.Members[0]
	m.Config.Alone, m.Config.AdvertiseAPI = true, ""
	m.Start()
	c.WaitReady(m)
	return c, m
}

// giveNetwork has the member be reachable from its next start on.
func giveNetwork(c *incluster.Cluster, m *incluster.Member) {
	m.Config.Alone = false
	m.Config.AdvertisePeer, m.Config.AdvertiseAPI = m.Name+":7412", m.Name+":7411"
	m.Config.Dial = c.Net.Host(m.Host).Dial
	m.Config.InitialCluster = nil
}

// TestAMemberAlone keeps offsets over restarts without any port, names no
// address of its own, and can take nobody in.
func TestAMemberAlone(t *testing.T) {
	c, m := startAlone(t)
	k := incluster.Key("g", 1)
	m.MustCommit(k, 7)
	id := m.ID()
	if err := m.Stop(); err != nil {
		t.Fatalf("its end: %v", err)
	}
	m.Start()
	c.WaitReady(m)
	m.MustRead(k, linearizable, 7)
	if m.ID() != id {
		t.Errorf("it is %s now, and was %s", m.ID(), id)
	}
	if leader := m.Node().Leader(); leader != "" {
		t.Errorf("it names %q as the leader's address", leader)
	}
	other := c.Add()
	c.Until("the other has an id", func() bool { return other.ID() != "" })
	if err := add(t, m, other.ID(), other.Config.AdvertisePeer); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "without a network") {
		t.Errorf("adding a member: %v", err)
	}
}

// TestAMemberAloneGrows: started with a network over the same folder it is the
// first of three, with all that it had, and then no longer runs alone.
func TestAMemberAloneGrows(t *testing.T) {
	c, first := startAlone(t)
	k := incluster.Key("g", 1)
	first.MustCommit(k, 7)
	first.Stop()
	giveNetwork(c, first)
	first.Start()
	c.WaitReady(first)
	c.Until("it is at its address", func() bool { return peerOf(first, first.ID()) == "n1:7412" })
	for range 2 {
		m := c.Add()
		addMember(c, c.Leader(), m)
		promote(c, c.Leader(), m.ID())
		c.WaitReady(m)
	}
	for _, m := range c.Members {
		m.MustRead(k, linearizable, 7)
	}
	first.Kill()
	c.Leader().MustCommit(k, 8) // by the two that were added

	first.Config.Alone = true
	first.Start()
	if err := first.Wait(); node.ExitCode(err) != node.ExitConfig || !strings.Contains(err.Error(), "cluster of 3 members") {
		t.Errorf("alone again it ends with %v", err)
	}
	giveNetwork(c, first)
	first.Start()
	c.WaitReady(first)
	first.MustRead(k, linearizable, 8)
}

// TestTheOnlyVoterMoves by itself, also while it has a nonvoter, which hears of it.
func TestTheOnlyVoterMoves(t *testing.T) {
	c := incluster.Start(t, 1)
	first := c.Members[0]
	k := incluster.Key("g", 1)
	first.MustCommit(k, 1)
	second := c.Add()
	addMember(c, first, second)
	c.WaitReady(second)
	first.Kill()
	first.Host, first.Config.AdvertisePeer, first.Config.Dial = "elsewhere", "elsewhere:7412", c.Net.Host("elsewhere").Dial
	first.Config.InitialCluster = nil
	first.Start()
	c.WaitReady(first)
	for _, m := range c.Members {
		c.Until(m.Name+" knows the address", func() bool { return peerOf(m, first.ID()) == "elsewhere:7412" })
	}
	second.MustCommit(k, 2) // forwarded to the new address
	first.MustRead(k, linearizable, 2)
}

// TestNobodyMovesToATakenAddress: what is another's in the configuration stays.
func TestNobodyMovesToATakenAddress(t *testing.T) {
	c := incluster.Start(t, 1)
	first := c.Members[0]
	second := c.Add()
	addMember(c, first, second)
	c.WaitReady(second)
	was, taken := first.Config.AdvertisePeer, second.Config.AdvertisePeer
	first.Stop()
	second.Stop()
	first.Host, first.Config.AdvertisePeer, first.Config.Dial = second.Host, taken, c.Net.Host(second.Host).Dial
	first.Config.InitialCluster = nil
	first.Start()
	c.WaitReady(first)
	first.MustCommit(incluster.Key("g", 1), 1)
	if at := peerOf(first, first.ID()); at != was {
		t.Errorf("it is at %s", at)
	}
}

// peerOf is where m knows the member id to be.
func peerOf(m *incluster.Member, id string) string {
	for _, s := range m.Status().Members {
		if s.ID == id {
			return s.Peer
		}
	}
	return ""
}
