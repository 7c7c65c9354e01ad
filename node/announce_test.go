package node_test

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestStrangersTakeNoMembersPlace: where the state names as many as it can, and
// some are members no more, a new member is named all the same (the change of the
// members drops them), and then no entry comes by itself any more.
func TestStrangersTakeNoMembersPlace(t *testing.T) {
	c := incluster.Start(t, 1)
	leader := c.Leader()
	api := func(through *incluster.Member, id string) string {
		for _, s := range through.Status().Members {
			if s.ID == id {
				return s.API
			}
		}
		return ""
	}
	c.Until("the leader is named", func() bool { return api(leader, leader.ID()) != "" })
	for i := range offset.MaxMembers - 1 {
		m := offset.Member{ID: fmt.Sprintf("gone/%02d", i), API: "gone:7411", MaxLevel: 1}
		if err := node.AnnounceStranger(within(t, incluster.Patience), leader.Node(), m); err != nil {
			t.Fatal(err)
		}
	}
	added := c.Add()
	addMember(c, leader, added)
	c.Until("the new member is named", func() bool { return api(leader, added.ID()) == added.Config.AdvertiseAPI })
	k := incluster.Key("g", 1)
	first := leader.MustCommit(k, 1)
	if next := added.MustCommit(k, 2); next.Index != first.Index+1 {
		t.Errorf("%d entries came between two commits, though all are named", next.Index-first.Index-1)
	}
}
