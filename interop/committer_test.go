package interop

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// committer sends rising two-way commits of many queues of its group, each of its
// connections to queues of its own, and remembers what was acknowledged. As a
// consumer does, it begins with a read of each queue and goes on from there.
type committer struct {
	group, topic string
	acked        []atomic.Int64 // by queue; 0 where nothing was
	count        atomic.Int64   // of acknowledgements
	refused      atomic.Int64   // answers that say "not yet durable", or that the broker is busy

	stop atomic.Bool
	done sync.WaitGroup
}

// commit starts a committer of this group on all queues of a topic. It ends when
// the broker does, or at halt.
func commit(tb testing.TB, b *javaparts.Broker, group, topic string, queues, connections int) *committer {
	tb.Helper()
	c := &committer{group: group, topic: topic, acked: make([]atomic.Int64, queues)}
	for i := range connections {
		conn, err := remoting.Dial(tb.Context(), b.Addr)
		if err != nil {
			tb.Fatal(err)
		}
		next := make([]int64, queues)
		for q := i; q < queues; q += connections {
			next[q] = max(wire{tb, conn}.query(group, topic, q), 0)
		}
		c.done.Go(func() { // halt waits for it
			defer conn.Close()
			c.run(conn, next, i, connections)
		})
	}
	tb.Cleanup(c.halt)
	return c
}

// run commits queue after queue of those that are the connection's.
func (c *committer) run(conn *remoting.Conn, next []int64, first, step int) {
	for !c.stop.Load() {
		for q := first; q < len(c.acked); q += step {
			next[q]++
			f, err := conn.Call(codeUpdate, commitFields(c.group, c.topic, q, next[q]), nil)
			switch {
			case err != nil:
				return
			case f.Code == answerOK:
				c.acked[q].Store(next[q])
				c.count.Add(1)
			default:
				c.refused.Add(1)
			}
		}
	}
}

// halt ends the committer and waits for it.
func (c *committer) halt() {
	c.stop.Store(true)
	c.done.Wait()
}

// lost asks a broker for all queues, and gives how many are behind what was
// acknowledged, and by how many commits in all.
func (c *committer) lost(tb testing.TB, b *javaparts.Broker) (behind int, commits int64) {
	tb.Helper()
	w := dial(tb, b, remoting.Binary)
	for q := range c.acked {
		if d := c.acked[q].Load() - max(w.query(c.group, c.topic, q), 0); d > 0 {
			behind++
			commits += d
		}
	}
	return behind, commits
}

// all tells whether a commit of each queue was acknowledged.
func (c *committer) all() bool {
	for q := range c.acked {
		if c.acked[q].Load() == 0 {
			return false
		}
	}
	return true
}

// total is how many commits were acknowledged.
func (c *committer) total() int64 { return c.count.Load() }

func (c *committer) String() string {
	return "acknowledged " + strconv.FormatInt(c.total(), 10) + " commits, refused " + strconv.FormatInt(c.refused.Load(), 10)
}
