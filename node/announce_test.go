package node_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestStrangersTakeNoMembersPlace: where the state names as many as it can, and
// some are members no more, a new member is named all the same (the change of the
// members drops them), and then no entry comes by itself any more. In virtual time,
// within 30 s.
func TestStrangersTakeNoMembersPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 1)
		leader := c.Leader()
		c.Until("the leader is named", func() bool { return apiOf(leader, leader.ID()) != "" })
		for i := range offset.MaxMembers - 1 {
			m := offset.Member{ID: fmt.Sprintf("gone/%02d", i), API: "gone:7411", MaxLevel: 1}
			if err := node.AnnounceStranger(within(t, incluster.Patience), leader.Node(), m); err != nil {
				t.Fatal(err)
			}
		}
		added := c.Add()
		addMember(c, leader, added)
		c.Until("the new member is named", func() bool { return apiOf(leader, added.ID()) == added.Config.AdvertiseAPI })
		quiet(c)
		k := incluster.Key("g", 1)
		first := leader.MustCommit(k, 1)
		time.Sleep(30 * time.Second) // longer than any pause between two announcements
		if next := added.MustCommit(k, 2); next.Index != first.Index+1 {
			t.Errorf("%d entries came between two commits, though all are named", next.Index-first.Index-1)
		}
		c.Stop()
	})
}

// TestAMemberIsNamedOnceThereIsALeader: however long there was none. In virtual
// time, after 30 s without.
func TestAMemberIsNamedOnceThereIsALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 3)
		c.Stop()
		last := c.Members[2]
		last.Config.AdvertiseAPI = "elsewhere:7411"
		last.Start()
		time.Sleep(30 * time.Second)
		for _, m := range c.Members[:2] {
			m.Start()
		}
		c.WaitReady(c.Members...)
		there := time.Now()
		c.Until("the last is named", func() bool { return apiOf(c.Members[0], last.ID()) == "elsewhere:7411" })
		if took := time.Since(there); took > 2*time.Second {
			t.Errorf("named only %v after there was a leader", took)
		}
		c.Stop()
	})
}

// apiOf is the API address of the member id that a member knows.
func apiOf(through *incluster.Member, id string) string {
	for _, s := range through.Status().Members {
		if s.ID == id {
			return s.API
		}
	}
	return ""
}
