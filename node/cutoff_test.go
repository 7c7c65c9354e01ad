package node_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// A leader that is cut off from the others holds nobody for long once it has
// given up: its callers may reach the others.
func TestAMemberThatIsCutOffSaysSo(t *testing.T) {
	c := incluster.Start(t, 3)
	old := c.Leader()
	k := incluster.Key("g", 1)
	meta := old.MustCommit(k, 1)
	c.Net.Isolate(old.Host)
	c.Until("the leader gives up", func() bool { return old.Status().State != "leader" })
	for what, call := range map[string]func(context.Context) error{
		"commit": func(ctx context.Context) error { _, _, err := old.Commit(ctx, k, 2, 0, meta.Cluster); return err },
		"read":   func(ctx context.Context) error { _, _, err := old.Fetch(ctx, k, linearizable); return err },
	} {
		ctx, cancel := context.WithTimeout(context.Background(), incluster.Patience)
		err := call(ctx)
		if !errors.Is(err, offset.ErrNoLeader) || ctx.Err() != nil {
			t.Errorf("%s at a member that is cut off: %v (%v); want %v before the deadline", what, err, ctx.Err(), offset.ErrNoLeader)
		}
		cancel()
	}
	c.Leader().MustCommit(k, 3)
	c.Net.HealAll()
	old.MustRead(k, linearizable, 3)
}

// A forward that is not answered ends soon after this member hears no leader
// any more, as unknown: its caller may reach the leader, or another member.
func TestAForwardEndsWithTheContactToTheLeader(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		through := c.Followers(c.Leader())[0]
		k := incluster.Key("g", 1)
		meta := through.MustCommit(k, 1)
		c.Net.Isolate(through.Host)
		ctx := within(t, incluster.Patience)
		began := time.Now()
		_, _, err := through.Commit(ctx, k, 2, 0, meta.Cluster)
		took := time.Since(began)
		if !errors.Is(err, offset.ErrOutcomeUnknown) || !strings.Contains(err.Error(), "sending the same again is safe") {
			t.Errorf("a forward without an answer: %v", err)
		}
		// One heartbeat timeout until the leader counts as silent, and an election
		// timeout more; the connection for calls alone needs twice that to tell.
		bound := 4*through.Config.Timers.Election - 100*time.Millisecond
		if t.Logf("ended after %v", took); took > bound {
			t.Errorf("ended after %v, want %v at most", took, bound)
		}
	})
}

// A member that hears the others waits for a leader within the deadline.
func TestAMemberInTouchWaitsForALeader(t *testing.T) {
	c := incluster.Start(t, 3)
	dead := c.Leader()
	k := incluster.Key("g", 1)
	meta := dead.MustCommit(k, 1)
	dead.Kill()
	for _, m := range c.Followers(dead) {
		ctx, cancel := context.WithTimeout(context.Background(), incluster.Patience)
		var err error
		for err = offset.ErrOutcomeUnknown; errors.Is(err, offset.ErrOutcomeUnknown); {
			_, _, err = m.Commit(ctx, k, 2, 0, meta.Cluster)
		}
		if err != nil {
			t.Errorf("a commit at %s, which hears the other: %v", m.Name, err)
		}
		cancel()
	}
}
