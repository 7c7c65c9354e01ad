package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// A follower may apply an entry before the leader's FSM does. What it has shown
// then must not be gone again for whoever reads at the leader next.
func TestALeadersReadIsNotOlderThanAFollowers(t *testing.T) {
	var held atomic.Pointer[string]
	entered, release := make(chan struct{}), make(chan struct{})
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		m.Config.Timers = node.SlowDisk() // nobody else shall be elected meanwhile
		m.Config.InFlight = 16            // announcements may be under way too
		m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
			if who := held.Load(); who != nil && *who == m.Name {
				close(entered)
				<-release
			}
			return d
		}
	})
	k := incluster.Key("g", 0)
	leader := c.Leader()
	leader.MustCommit(k, 10)
	c.WaitReady(c.Members...) // all have caught up
	state, meta, err := leader.Fetch(t.Context(), k, offset.ReadAt{})
	if err != nil {
		t.Fatal(err)
	}

	held.Store(&leader.Name)
	ctx, cancel := context.WithTimeout(t.Context(), incluster.Patience)
	defer cancel()
	done := make(chan error, 2)
	go func() { _, _, err := leader.Node().Checkpoint(ctx); done <- err }() // awaited below
	<-entered                                                               // the leader's FSM stands still
	held.Store(nil)
	go func() { _, _, err := leader.Commit(ctx, k, 20, state.Epoch, meta.Cluster); done <- err }() // awaited below
	follower := c.Followers(leader)[0]
	c.Until("a follower has applied it", func() bool {
		s, _, err := follower.Fetch(ctx, k, local)
		return err == nil && s.Position.Offset == 20
	})

	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	there, _, errThere := follower.Fetch(short, k, offset.ReadAt{})
	short, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	here, _, errHere := leader.Fetch(short, k, offset.ReadAt{})
	if errThere == nil && errHere == nil && here.Position.Offset < there.Position.Offset {
		t.Errorf("a follower has shown %d, and the leader %d after that", there.Position.Offset, here.Position.Offset)
	}
	close(release)
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, m := range c.Members {
		m.MustRead(k, offset.ReadAt{}, 20)
	}
}
