package node_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestTrapVotesThatTakeTooLong: where a write takes 250 ms, term and vote take
// longer than the default election timeout, so that each election is given up
// before it is won, for ever. With the remedy it is won at the second try at the
// latest, since the first one shows how slow the disk is.
func TestTrapVotesThatTakeTooLong(t *testing.T) {
	const patience = 20 * time.Second // of virtual time
	show := func(t *testing.T, impatient bool) (gap time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			var slow atomic.Bool
			c := incluster.Start(t, 3, func(m *incluster.Member) {
				m.Config.Timers = node.LAN()
				m.Config.Unsafe.ImpatientVotes = impatient
				m.Config.Unsafe.Store.Fault = func(store.Op) error {
					if slow.Load() {
						time.Sleep(250 * time.Millisecond) // the disk's time
					}
					return nil
				}
			})
			dead := c.Leader()
			quiet(c)
			k := incluster.Key("g", 1)
			through, meta := c.Followers(dead)[0], dead.MustCommit(k, 1)
			slow.Store(true)
			c.Net.Host(dead.Name).Down()
			c.Net.Isolate(dead.Name)
			began := time.Now()
			for again := true; again && time.Since(began) < patience; gap = time.Since(began) {
				call, end := context.WithTimeout(context.Background(), 2*time.Second)
				v, _, err := through.Commit(call, k, 2, 0, meta.Cluster)
				end()
				again = err != nil || v.Code != offset.CodeOK
			}
			slow.Store(false)
			c.Stop()
		})
		return gap
	}
	t.Run("fault", func(t *testing.T) {
		if gap := show(t, true); gap < patience {
			t.Errorf("commits go on after %v; the fault is gone, look whether the remedy is still needed", gap)
		}
	})
	t.Run("remedy", func(t *testing.T) {
		gap := show(t, false)
		t.Logf("commits go on after %v", gap)
		if gap >= patience {
			t.Errorf("commits go on not within %v", patience)
		}
	})
}
