package node_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNoPromotionWhileAVoterIsAway: it would not know of it. It is back, and
// the promotion is done.
func TestNoPromotionWhileAVoterIsAway(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	away := c.Followers(leader)[0]
	id := away.ID()
	fresh := c.Add()
	addMember(c, leader, fresh)
	away.Kill()
	leader.MustCommit(incluster.Key("g", 1), 1)
	promote := func() error {
		_, err := leader.Node().PromoteMember(within(t, incluster.Patience), incluster.Operator, fresh.ID())
		return err
	}
	if err := promote(); !errors.Is(err, offset.ErrDenied) || !strings.Contains(err.Error(), id) {
		t.Errorf("promoting while %s is away: %v", id, err)
	}
	if n := voters(leader); n != 3 {
		t.Errorf("%d voters after a refused promotion", n)
	}
	away.Start()
	c.WaitReady(away)
	if err := promote(); err != nil {
		t.Error(err)
	}
	if n := voters(away); n != 4 {
		t.Errorf("the one that was away knows of %d voters once the promotion is answered", n)
	}
}

// TestWhyNoPromotionWhileAVoterIsAway shows the fault: two of three voters are
// up, and refuse one another for ever, one for its shorter log, one for being no
// voter as far as the other knows. The lost leader alone ends it.
func TestWhyNoPromotionWhileAVoterIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 1)
		first := c.Members[0]
		second, third := c.Add(), c.Add()
		addMember(c, first, second)
		addMember(c, first, third)
		if _, err := first.Node().PromoteMember(within(t, incluster.Patience), incluster.Operator, second.ID()); err != nil {
			t.Fatal(err)
		}
		second.Kill()
		if err := node.PromoteBlindly(within(t, incluster.Patience), first.Node(), third.ID(), third.Config.AdvertisePeer); err != nil {
			t.Fatal(err)
		}
		first.Kill()
		second.Start()
		time.Sleep(time.Minute) // of virtual time
		for _, m := range []*incluster.Member{second, third} {
			if err := m.Node().Ready(); !errors.Is(err, offset.ErrNoLeader) && !errors.Is(err, offset.ErrNotReady) {
				t.Errorf("%s after a minute: %v; the library gives its votes by another rule now", m.Name, err)
			}
		}
		first.Start()
		c.WaitReady(c.Members...)
		c.Stop()
	})
}
