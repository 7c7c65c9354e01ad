package node_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestAMemberMovesToAnotherAddress by one command, and stays the voter it was.
func TestAMemberMovesToAnotherAddress(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	k := incluster.Key("g", 1)
	leader.MustCommit(k, 1)
	moved := c.Followers(leader)[0]
	id := moved.ID()
	const address = "elsewhere:7412"
	if err := add(t, leader, id, address); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("moving a member to where nobody is: %v", err)
	}
	moved.Stop()
	moved.Host, moved.Config.AdvertisePeer, moved.Config.Dial = "elsewhere", address, c.Net.Host("elsewhere").Dial
	moved.Config.InitialCluster = nil
	moved.Start()
	leader = c.Leader()
	c.Until("the member is known at its new address", func() bool { return add(t, leader, id, address) == nil })
	c.WaitReady(moved)
	moved.MustRead(k, local, 1)
	var found int
	for _, s := range leader.Status().Members {
		if s.ID == id {
			found++
			if s.Peer != address || !s.Voter {
				t.Errorf("the moved member is at %s, voter %v", s.Peer, s.Voter)
			}
		}
	}
	if found != 1 {
		t.Errorf("the moved member is listed %d times", found)
	}
	for _, m := range c.Followers(leader) {
		if m != moved {
			m.Kill()
		}
	}
	leader.MustCommit(k, 2) // with the moved one as the quorum's second
	moved.MustRead(k, linearizable, 2)
}

// TestACopyOfAMemberIsRefused, by itself at its start and by the leader.
func TestACopyOfAMemberIsRefused(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	original := c.Followers(leader)[0]
	original.Stop()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(original.Dir)); err != nil {
		t.Fatal(err)
	}
	original.Start()
	c.WaitReady(original)
	second := c.Add(func(m *incluster.Member) { m.Config.Name, m.Config.Dir = original.Name, dir })
	err := second.Wait()
	if !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the copy's Run returned %v", err)
	}
	// Where it is asked for before the copy has looked round, the leader refuses.
	c.Net.Cut(second.Host, original.Host)
	second.Start()
	c.Until("the leader sees the copy", func() bool {
		err := add(t, c.Leader(), original.ID(), second.Config.AdvertisePeer)
		return err != nil && strings.Contains(err.Error(), "stop one of the two")
	})
	for _, s := range c.Leader().Status().Members {
		if s.ID == original.ID() && s.Peer != original.Config.AdvertisePeer {
			t.Errorf("the original is at %s now", s.Peer)
		}
	}
	c.Net.HealAll()
	leader.MustCommit(incluster.Key("g", 1), 1)
	if !original.Running() || original.Node().Ready() != nil {
		t.Error("the original does not serve")
	}
	second.Node().Close()
	if err := second.Wait(); err != nil && !errors.Is(err, offset.ErrDenied) {
		t.Errorf("the copy's second Run returned %v", err)
	}
}

// TestACopyOfAnAddedMemberIsRefused at its start, as that of a founder is: no
// list of founders tells where the original is.
func TestACopyOfAnAddedMemberIsRefused(t *testing.T) {
	c := incluster.Start(t, 1)
	original := c.Add()
	addMember(c, c.Leader(), original)
	c.WaitReady(original)
	dir := filepath.Join(t.TempDir(), "copy")
	original.Stop()
	if err := os.CopyFS(dir, os.DirFS(original.Dir)); err != nil {
		t.Fatal(err)
	}
	original.Start()
	c.WaitReady(original)
	second := c.Add(func(m *incluster.Member) { m.Config.Name, m.Config.Dir = original.Name, dir })
	if err := second.Wait(); !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), "another process") {
		t.Errorf("the copy's Run returned %v", err)
	}
}

// TestALeaderKeepsItsAddressForOneWhereNobodyIs: advertised by mistake, it would
// take the leader away from the next one, which finds it where it was.
func TestALeaderKeepsItsAddressForOneWhereNobodyIs(t *testing.T) {
	c := incluster.Start(t, 3)
	k := incluster.Key("g", 1)
	c.Leader().MustCommit(k, 1)
	m := c.Followers(c.Leader())[0]
	was := m.Config.AdvertisePeer
	m.Stop()
	m.Config.AdvertisePeer, m.Config.InitialCluster = "mistyped:7412", nil
	m.Start()
	c.WaitReady(m)
	c.Until(m.Name+" leads", func() bool {
		if leader := c.Leader(); leader != m {
			leader.Node().Transfer(within(t, incluster.Patience), incluster.Operator, m.ID())
		}
		return c.Leader() == m
	})
	c.Until("it has looked at its address", func() bool { return node.MoveSelf(within(t, incluster.Patience), m.Node()) == nil })
	for _, o := range c.Members {
		if at := peerOf(o, m.ID()); at != was {
			t.Errorf("to %s it is at %s", o.Name, at)
		}
	}
}
