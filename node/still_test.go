package node_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// stills are the faults of TestNothingStandsStill: each begins one, for as long
// as wait takes, on a and b.
var stills = []struct {
	name string
	do   func(c *incluster.Cluster, a, b *incluster.Member, wait func())
}{
	{"isolated", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) { c.Net.Isolate(a.Host); wait() }},
	{"cut one way", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) { c.Net.Cut(a.Host, b.Host); wait() }},
	{"slow", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) {
		c.Net.Slow(a.Host, b.Host, 150*time.Millisecond)
		wait()
	}},
	{"lossy", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) {
		for _, m := range c.Members {
			c.Net.Lossy(a.Host, m.Host, 0.05)
			c.Net.Lossy(m.Host, b.Host, 0.05)
		}
		wait()
	}},
	{"killed", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) { a.Kill(); wait(); a.Start() }},
	{"stopped", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) { a.Stop(); wait(); a.Start() }},
	{"handing over", func(c *incluster.Cluster, a, b *incluster.Member, wait func()) {
		a.Node().Transfer(within(c.TB, 3*time.Second), incluster.Operator, "") // to whom, or whether, is no matter
	}},
}

// TestNothingStandsStill: after any fault every member commits and reads again
// at once, with requests under way on all of them throughout. In virtual time
// nothing but a lost wake-up, or a wait that is too long, could take seconds.
func TestNothingStandsStill(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	synctest.Test(t, func(t *testing.T) {
		c := incluster.Start(t, 3)
		cluster := c.Leader().MustCommit(incluster.Key("g", 0), 1).Cluster
		stop := stir(c, cluster)
		for i := range effort.Of(15, 400) {
			fault := stills[random.IntN(len(stills))]
			lasts := time.Duration(random.Int64N(int64(2500 * time.Millisecond)))
			fault.do(c, c.Members[random.IntN(3)], c.Members[random.IntN(3)], func() { time.Sleep(lasts) })
			c.Net.HealAll()
			healed := time.Now()
			for _, m := range c.Members {
				serves(t, c, m, cluster, int32(i))
			}
			if took := time.Since(healed); took > 3*time.Second {
				t.Errorf("fault %d, %s for %v: all serve again only after %v", i, fault.name, lasts, took)
			}
		}
		stop()
		c.Stop()
	})
}

// stir keeps requests under way on every member until stop, whatever they are
// answered.
func stir(c *incluster.Cluster, cluster offset.ClusterID) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i, m := range c.Members {
		k := incluster.Key("stir", int32(i))
		all.Go(func() {
			for v := int64(1); ctx.Err() == nil; v++ {
				call, end := context.WithTimeout(ctx, 2*time.Second)
				m.Commit(call, k, v, 0, cluster)
				m.Fetch(call, k, linearizable)
				end()
				time.Sleep(60 * time.Millisecond) // of virtual time; the disk's is real
			}
		})
	}
	return func() { cancel(); all.Wait() }
}

// serves waits until a member acknowledges a commit, and reads it.
func serves(t *testing.T, c *incluster.Cluster, m *incluster.Member, cluster offset.ClusterID, round int32) {
	t.Helper()
	k := incluster.Key("serves", round)
	c.Until(m.Name+" commits and reads", func() bool {
		call, end := context.WithTimeout(context.Background(), time.Second)
		defer end()
		v, _, err := m.Commit(call, k, 1, 0, cluster)
		if err != nil || v.Code != offset.CodeOK {
			return false
		}
		_, _, err = m.Fetch(call, k, linearizable)
		return err == nil
	})
}
