package stability

import (
	"slices"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// fullLoad is callers that commit a thousand offsets a request, one request
// behind another, which is as much as a small machine takes.
func fullLoad() load.Shape {
	return load.Shape{Clients: 4, Consumers: effort.Of(4, 8), Queues: 1000, Pace: time.Millisecond}
}

// TestKillsUnderFullLoad: the leader is killed again and again, each time once
// every queue has been acknowledged anew. Readers demand throughout that nothing
// acknowledged is lost or lowered, and in the end every node is asked at every
// level of reading.
func TestKillsUnderFullLoad(t *testing.T) {
	for _, store := range []string{"boltdb", "wal"} {
		t.Run(store, func(t *testing.T) {
			c := local.Start(t, 3, local.Env("CLUSTER_LOG_STORE", store))
			l := load.Start(t, c.Client, fullLoad())
			l.More(1)
			began, first := time.Now(), l.Acknowledged()
			var gaps []time.Duration
			for range effort.Of(3, 100) {
				leader := c.Leader()
				l.LongestGap()
				c.Sh("kill", leader)
				l.More(1)
				gaps = append(gaps, l.LongestGap())
				c.Sh("start", leader)
				c.Sh("ready")
				l.More(1)
				if t.Failed() {
					return
				}
			}
			took := time.Since(began)
			l.Check(c.Nodes())
			slices.Sort(gaps)
			t.Logf("%d kills within %v, %d offsets acknowledged; without any acknowledgement for %v in the median, %v at worst", len(gaps),
				took.Round(time.Second), l.Acknowledged()-first, gaps[len(gaps)/2].Round(time.Millisecond), gaps[len(gaps)-1].Round(time.Millisecond))
		})
	}
}
