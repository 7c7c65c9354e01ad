package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestLargeRequestsInAnyOrder: a request large enough to be put in order is
// answered as if it had not been: runs of the same names one after another,
// verdicts in the order of the request.
func TestLargeRequestsInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 11))
	tab, p := New(testCluster), newPlain(testCluster, stepQueues)
	for i := range uint64(20) {
		tab.Begin(i+1, 5)
		p.Begin(i+1, 5)
		c := &offset.Commits{Cluster: testCluster, Atomic: r.IntN(4) == 0}
		for range sequenceFrom + r.IntN(300) {
			tc := offset.TopicCommits{Group: fmt.Sprint("g", r.IntN(30)), Topic: fmt.Sprint("t", r.IntN(4)), Broker: fmt.Sprint("b", r.IntN(2))}
			for q := range int32(r.IntN(4)) {
				tc.Queues = append(tc.Queues, offset.QueueCommit{QueueID: q, Offset: r.Int64N(50), Epoch: uint64(r.IntN(40) / 39)})
			}
			c.Topics = append(c.Topics, tc)
		}
		o := op{commits: c}
		if got, want := fmt.Sprint(applyOp(tab, o, nil)), fmt.Sprint(p.apply(o)); got != want {
			t.Fatalf("request %d:\ngot  %s\nwant %s", i, got, want)
		}
		tab.Publish()
		checkWhole(t, tab.Root())
	}
	checkAgainst(t, tab.Root(), p)
}
