package scale

import (
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/offset"
)

// senders is how many brokers send for the consumers at a time.
const senders = 4

// TestMillionConsumers: each with a group and queues of its own, all of which move
// between two persists, sent as brokers send them, in requests of 10,000. It tells
// how long a round of all of them takes, of the five seconds that there are, and
// holds memory against docs/sizing.md.
func TestMillionConsumers(t *testing.T) {
	c := gather(t, effort.Of(5_000, 1_000_000-consumers))
	for round := range int64(3) {
		began := time.Now()
		c.persist(round)
		took := time.Since(began)
		t.Logf("round %d: %d offsets of %d consumers in %v, %.0f a second", round, c.groups*queues, c.groups,
			took.Round(time.Millisecond), float64(c.groups*queues)/took.Seconds())
	}
	for _, n := range c.cluster.Nodes() {
		if got := metric(t, n, "tidemark_queues"); got != float64(c.groups*queues) && metric(t, n, "tidemark_leader") == 1 {
			t.Errorf("%s has %v queues, want %d", n.Name, got, c.groups*queues)
		}
		fits(t, n, 0)
	}
}

// persist has every consumer commit all its queues once.
func (c *crowd) persist(value int64) {
	c.Helper()
	const each = offset.MaxCommits / queues
	failed := make(chan error, senders)
	for s := range senders {
		go func() { // awaited below
			var err error
			for from := s * each; from < c.groups && err == nil; from += senders * each {
				err = c.try(c.all(from, min(from+each, c.groups), value))
			}
			failed <- err
		}()
	}
	for range senders {
		if err := <-failed; err != nil {
			c.Error(err)
		}
	}
}
