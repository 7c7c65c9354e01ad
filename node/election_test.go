package node_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestNoElectionIsLostToAForgetfulOrder kills leaders under load, in virtual
// time, over links of random length, so that followers hear the last of them at
// different moments and with different logs. Each time commits resume within
// what is promised: without askAgain every fifth time they do not, since the
// two refuse one another in turn.
func TestNoElectionIsLostToAForgetfulOrder(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var gaps []time.Duration
	var promised time.Duration
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 3)
		promised = cmp.Or(c.Members[0].Config.Timers.Heartbeat, node.LAN().Heartbeat) * 7 / 3 // 0.7 s at 0.3 s
		for i := range effort.Of(12, 200) {
			gaps = append(gaps, killUnderLoad(c, random, int32(i)))
		}
		c.Stop()
	})
	slices.Sort(gaps)
	t.Logf("commits resumed after %v in the median, %v at worst", gaps[len(gaps)/2], gaps[len(gaps)-1])
	if worst := gaps[len(gaps)-1]; worst > promised {
		t.Errorf("commits resumed after %v, and %v is promised: %v", worst, promised, gaps)
	}
}

// killUnderLoad kills the leader while it commits, and returns the time until
// another acknowledges; then it brings the dead one back.
func killUnderLoad(c *incluster.Cluster, random *rand.Rand, round int32) time.Duration {
	dead := c.Leader()
	survivors := c.Followers(dead)
	for _, a := range c.Members {
		for _, b := range c.Members {
			if a != b {
				c.Net.Slow(a.Host, b.Host, time.Duration(200+random.IntN(3000))*time.Microsecond)
			}
		}
	}
	k := incluster.Key("g", round)
	meta := survivors[0].MustCommit(k, 1)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for v := int64(1); ctx.Err() == nil; v++ {
			dead.Commit(ctx, incluster.Key("load", round), v, 0, meta.Cluster) // the last one fails
		}
	}()
	time.Sleep(300*time.Millisecond + time.Duration(random.IntN(200_000))*time.Microsecond) // the load at work
	c.Net.Host(dead.Name).Down()
	c.Net.Isolate(dead.Name)
	began := time.Now()
	stop()
	<-done
	for acknowledged := false; !acknowledged; {
		call, end := context.WithTimeout(context.Background(), incluster.Patience)
		v, _, err := survivors[random.IntN(len(survivors))].Commit(call, k, 2, 0, meta.Cluster)
		end()
		acknowledged = err == nil && v.Code == offset.CodeOK
	}
	gap := time.Since(began)
	dead.Kill()
	c.Net.HealAll()
	dead.Start()
	c.WaitReady(dead)
	return gap
}
