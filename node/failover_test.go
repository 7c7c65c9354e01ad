package node_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestCommitsResumeAfterTheLeaderIsKilled measures from the death of the
// leader to the next acknowledgement, through a member that forwarded to it.
func TestCommitsResumeAfterTheLeaderIsKilled(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		var gaps []time.Duration
		for i := range 5 {
			dead := c.Leader()
			through := c.Followers(dead)[0]
			k := incluster.Key("g", int32(i))
			meta := through.MustCommit(k, 1)
			c.Net.Host(dead.Name).Down()
			c.Net.Isolate(dead.Name)
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), incluster.Patience)
			for {
				call, end := context.WithTimeout(ctx, 2*time.Second)
				v, _, err := through.Commit(call, k, 2, 0, meta.Cluster)
				end()
				if err == nil && v.Code == offset.CodeOK {
					break
				}
				if ctx.Err() != nil {
					t.Fatalf("no commit since the leader's death: %v", err)
				}
			}
			cancel()
			gaps = append(gaps, time.Since(began))
			dead.Kill()
			dead.Start()
			c.WaitReady(dead)
		}
		slices.Sort(gaps)
		t.Logf("commits resumed after %v", gaps)
		if median := gaps[len(gaps)/2]; median > 500*time.Millisecond {
			t.Errorf("half of the gaps are above %v", median)
		}
	}, func(m *incluster.Member) { m.Config.Timers = node.LAN() }) // under the race detector, too
}
