package node_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// virtually runs a test of a cluster of three in virtual time. It passes only while
// everything waits, so that what a busy machine takes to compute and to write costs
// none of it. A message takes a millisecond: without, time would stand still as long
// as anybody commits.
func virtually(t *testing.T, test func(t *testing.T, c *incluster.Cluster), options ...incluster.Option) {
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 3, options...)
		for _, a := range c.Members {
			for _, b := range c.Followers(a) {
				c.Net.Slow(a.Host, b.Host, time.Millisecond)
			}
		}
		test(t, c)
		c.Stop()
	})
}

// TestTransferUnderCommits hands leadership round three times; commits go on,
// and nobody waits for an election.
func TestTransferUnderCommits(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		w := write(c, 4)
		for range 3 {
			w.more(20)
			old := c.Leader()
			to := c.Followers(old)[0]
			leader, meta, err := c.Members[1].Node().Transfer(within(t, incluster.Patience), incluster.Operator, to.Name)
			if err != nil {
				t.Fatal(err)
			}
			if leader != to.ID() || meta.Cluster.IsZero() {
				t.Errorf("leadership went to %q, want %q", leader, to.ID())
			}
			if now := c.Leader(); now != to {
				t.Errorf("%s leads, want %s", now.Name, to.Name)
			}
		}
		w.more(20)
		w.check()
		w.stoodStill()
	})
}

// stoodStill fails the test if commits did, in virtual time, for as long as an
// election takes at least.
func (w *writers) stoodStill() {
	w.c.TB.Helper()
	gap := time.Duration(w.longest.Load())
	w.c.TB.Logf("longest time between two acknowledgements: %v", gap)
	if gap > 250*time.Millisecond {
		w.c.TB.Errorf("commits stood still for %v, as if there had been an election", gap)
	}
}

func TestTransferIsRefused(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	cases := []struct {
		name, to string
		want     error
	}{
		{"to itself", leader.Name, offset.ErrInvalid},
		{"to nobody", "n9", offset.ErrNotFound},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			_, _, err := leader.Node().Transfer(within(t, incluster.Patience), incluster.Operator, k.to)
			if !errors.Is(err, k.want) {
				t.Errorf("got %v, want %v", err, k.want)
			}
		})
	}
	leader.MustCommit(incluster.Key("g", 1), 1)
}

// TestATransferEndsWithLeadership: a leader that is cut off does not wait for a follower
// that could take over once it knows that it leads no longer.
func TestATransferEndsWithLeadership(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		leader := c.Leader()
		c.Net.Isolate(leader.Host)
		_, _, err := leader.Node().Transfer(within(t, incluster.Patience), incluster.Operator, c.Followers(leader)[0].Name)
		if !errors.Is(err, offset.ErrNoLeader) {
			t.Errorf("got %v, want %v", err, offset.ErrNoLeader)
		}
	})
}

// TestATransferToWhoIsDownStopsNothing: it is refused, and commits go on
// meanwhile, without a pause for it.
func TestATransferToWhoIsDownStopsNothing(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		leader := c.Leader()
		rest := c.Followers(leader)
		up, down := rest[0], rest[1]
		name := down.Name
		down.Kill()
		done := make(chan error, 1)
		go func() {
			_, _, err := leader.Node().Transfer(within(t, incluster.Patience), incluster.Operator, name)
			done <- err
		}()
		var longest time.Duration
		commits := 0
		for running := true; running; commits++ {
			began := time.Now()
			up.MustCommit(incluster.Key("g", 1), int64(commits+1))
			longest = max(longest, time.Since(began))
			select {
			case err := <-done:
				running = false
				if !errors.Is(err, offset.ErrDenied) {
					t.Errorf("got %v, want %v", err, offset.ErrDenied)
				}
			default:
			}
		}
		t.Logf("%d commits, the longest %v", commits, longest)
		if longest > 250*time.Millisecond {
			t.Errorf("a commit took %v while a transfer that cannot be was asked for", longest)
		}
		if now := c.Leader(); now != leader {
			t.Errorf("%s leads, want %s", now.Name, leader.Name)
		}
	})
}

// TestACleanStopHandsLeadershipOver: the others need no election timeout.
func TestACleanStopHandsLeadershipOver(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		w := write(c, 4)
		w.more(20)
		if err := c.Leader().Stop(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		w.more(20)
		w.check()
		w.stoodStill()
	})
}

// TestALeaderCutOffDuringATransfer leads to one of two ends: either it leads
// on and says so, or another leads. What was acknowledged stays.
func TestALeaderCutOffDuringATransfer(t *testing.T) {
	c := incluster.Start(t, 3)
	w := write(c, 2)
	w.more(10)
	old := c.Leader()
	done := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_, _, err := old.Node().Transfer(ctx, incluster.Operator, "")
		done <- err
	}()
	c.Net.Isolate(old.Name)
	told := false
	err := <-done
	for _, may := range []error{nil, offset.ErrBusy, offset.ErrDenied, offset.ErrNoLeader, offset.ErrOutcomeUnknown} {
		told = told || errors.Is(err, may)
	}
	if !told {
		t.Errorf("the transfer: %v", err)
	}
	c.Net.HealAll()
	w.more(20)
	w.check()
	equalDigests(c)
}

// TestRaftIsRestartedInsideTheProcess: what a transfer that never ends leads to.
func TestRaftIsRestartedInsideTheProcess(t *testing.T) {
	c := incluster.Start(t, 3)
	w := write(c, 2)
	w.more(10)
	for _, m := range c.Members {
		node.RestartRaft(m.Node())
		c.Until("raft has been started anew", func() bool { return metric(m, "raft_restarts_total") == 1 })
		c.WaitReady(m)
		w.more(10)
	}
	w.check()
	equalDigests(c)
}

// TestATransferThroughAMemberHearsItsEnd although the answer of the leader that
// was comes a while after the new one is known.
func TestATransferThroughAMemberHearsItsEnd(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		leader := c.Leader()
		through, next := c.Followers(leader)[0], c.Followers(leader)[1]
		through.MustCommit(incluster.Key("g", 1), 1) // the connection for calls is there
		c.Net.Slow(leader.Host, through.Host, 150*time.Millisecond)
		got, _, err := through.Node().Transfer(within(t, incluster.Patience), incluster.Operator, next.ID())
		if err != nil || got != next.ID() {
			t.Errorf("transferred to %q, %v; want %s", got, err, next.ID())
		}
	})
}
