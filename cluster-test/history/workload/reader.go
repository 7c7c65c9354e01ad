package workload

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// pace is how long a reader rests between two reads.
const pace = 5 * time.Millisecond

// watch is a client that does nothing but read from one node at one level, so
// that a moment in which that node should not answer is met.
func (c *client) watch(ctx context.Context, node string, level offset.Level) {
	for ctx.Err() == nil {
		c.generation = c.load.generation()
		c.ask(ctx, node, &record.Op{Fetch: &offset.Fetch{At: offset.ReadAt{Level: level}, Keys: []offset.Key{c.key()}}})
		select {
		case <-ctx.Done():
		case <-time.After(pace):
		}
	}
}
