package client

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// A leader that is cut off from the others ends what was under way as unknown,
// and would hold what is sent again until there is a leader: nobody goes back
// there while another node is being dialled.
func TestNobodyGoesBackToANodeThatIsBeingLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 50
		f := newFakeCluster(t, "a:1", "b:1")
		lost := make(chan struct{})
		f.play(func(n *fakeNode, _ string, nth int) (fault, error) {
			switch {
			case n.addr != "a:1":
				return none, nil
			case nth > callers:
				return lose, nil // held: the node has no leader and waits for one
			}
			<-lost
			return refuse, offset.ErrOutcomeUnknown
		})
		slow := func(ctx context.Context, addr string) (net.Conn, error) {
			time.Sleep(50 * time.Millisecond)
			return f.net.dial(ctx, addr)
		}
		c := f.clientOf([]string{"a:1", "b:1"}, WithDialer(slow))
		ctx := within(t, time.Minute)
		var all sync.WaitGroup
		for i := range int32(callers) {
			all.Go(func() {
				// Atomic sets, which share no request.
				if _, _, err := c.CommitAtomic(ctx, testCluster, []offset.Commit{{Key: key(i), Offset: 1}}); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(100 * time.Millisecond)
		f.lead("b:1")
		began := time.Now()
		close(lost)
		all.Wait()
		if took := time.Since(began); took > 200*time.Millisecond || f.count("a:1 commit") != callers {
			t.Errorf("the resends took %v; %d calls went to the node that was left, want %d", took, f.count("a:1 commit"), callers)
		}
	})
}

// Where no other node is to be had, the one that was left is asked again.
func TestANodeIsLeftForNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth < 4 {
				return refuse, offset.ErrNoLeader
			}
			return none, nil
		})
		c := f.clientOf([]string{"a:1", "b:1", "d:1"})
		if err := commitOne(within(t, time.Second), c, key(0), 1, 0); err != nil {
			t.Fatal(err)
		}
		if n := f.count("a:1 commit"); n != 4 {
			t.Errorf("asked %d times, want 4", n)
		}
	})
}

// A node that is the only one to be reached is not left again and again for
// those that were tried just now.
func TestNobodyWaitsForNodesThatFailedLately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth%2 == 1 {
				return refuse, offset.ErrNoLeader
			}
			return none, nil
		})
		c := f.clientOf([]string{"a:1", "void:1", "void:2"})
		ctx := within(t, time.Minute)
		for i := range int64(5) {
			began := time.Now()
			if err := commitOne(ctx, c, key(0), i, 0); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); i == 0 && took > 2100*time.Millisecond || i > 0 && took > 100*time.Millisecond {
				t.Errorf("commit %d took %v", i, took)
			}
		}
	})
}
