package workload

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// The names of a generation: three groups on two topics of two brokers with two
// queues each. Brokers are those of all generations.
const (
	groups = 3
	topics = 2
	queues = 2
)

var brokers = []string{"", "b"}

// Group is the name of a group of a generation.
func Group(generation int64, n int) string { return fmt.Sprintf("%c%d", 'a'+n, generation) }

func (c *client) group() string  { return Group(c.generation, c.IntN(groups)) }
func (c *client) topic() string  { return fmt.Sprintf("t%d.%d", c.IntN(topics), c.generation) }
func (c *client) broker() string { return brokers[c.IntN(len(brokers))] }
func (c *client) key() offset.Key {
	return offset.Key{Group: c.group(), MessageQueue: offset.MessageQueue{Topic: c.topic(), Broker: c.broker(), QueueID: c.Int32N(queues)}}
}

// keys are some keys, none twice.
func (c *client) keys(most int) (list []offset.Key) {
	for range 1 + c.IntN(most) {
		if k := c.key(); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

// above is an offset that mostly is above what the client knows of a key.
func (c *client) above(k offset.Key) int64 {
	return c.load.value(height(c.known[k].Position.Offset) + c.Int64N(4) - 1)
}

// anywhere is an offset of any height.
func (c *client) anywhere() int64 { return c.load.value(c.Int64N(40)) }

func (c *client) commits(keys []offset.Key, atomic bool) *offset.Commits {
	var list []offset.Commit
	for _, k := range keys {
		list = append(list, offset.Commit{Key: k, Offset: c.above(k), Epoch: c.known[k].Epoch})
	}
	all, _ := offset.GroupCommits(list)
	cluster := c.cluster
	if c.IntN(50) == 0 {
		cluster[0]++ // read in a cluster that was lost, say
	}
	return &offset.Commits{Cluster: cluster, Atomic: atomic, Topics: all}
}

// read has the client know the keys that it has not seen yet.
func (c *client) read(ctx context.Context, keys []offset.Key) {
	if slices.ContainsFunc(keys, func(k offset.Key) bool { _, ok := c.known[k]; return !ok }) {
		c.send(ctx, &record.Op{Fetch: &offset.Fetch{Keys: keys}})
	}
}

func (c *client) commit(ctx context.Context) { c.sendCommits(ctx, []offset.Key{c.key()}, false) }
func (c *client) batch(ctx context.Context)  { c.sendCommits(ctx, c.keys(8), false) }
func (c *client) atomic(ctx context.Context) { c.sendCommits(ctx, c.keys(5), true) }

func (c *client) sendCommits(ctx context.Context, keys []offset.Key, atomic bool) {
	c.read(ctx, keys)
	o := record.Op{Commits: c.commits(keys, atomic)}
	c.keep(c.insist(ctx, o))
}

// keep remembers a request, to send it again late.
func (c *client) keep(o *record.Op) {
	if len(c.late) < 20 {
		c.late = append(c.late, o)
	} else {
		c.late[c.IntN(len(c.late))] = o
	}
	for i, v := range o.Verdicts {
		if v.Code == offset.CodeFenced {
			record.Each(o.Commits, func(j int, x offset.Commit) {
				if i == j {
					delete(c.known, x.Key) // it is read again before the next one
				}
			})
		}
	}
}

// resend sends an old request once more, as a network may.
func (c *client) resend(ctx context.Context) {
	if len(c.late) == 0 {
		return
	}
	old := c.late[c.IntN(len(c.late))]
	c.send(ctx, &record.Op{Commits: old.Commits, Set: old.Set, Act: old.Act})
}

func (c *client) set(ctx context.Context) {
	k := c.key()
	c.read(ctx, []offset.Key{k})
	st := c.known[k]
	s := &offset.Set{
		Key: k, Offset: c.anywhere(), Cluster: c.cluster, Epoch: st.Epoch, Exists: st.Exists,
		Replaces: st.Position.Offset, Operator: c.IntN(2) == 0,
	}
	if s.Operator {
		s.Epoch, s.Claim = st.Position.Epoch, c.through()
	}
	if o := c.insist(ctx, record.Op{Set: s}); o.Answered() && o.Verdicts[0].Code == offset.CodeFenced {
		delete(c.known, k)
	}
}

// through is the claim that an act comes through: mostly none.
func (c *client) through() uint64 {
	if len(c.claims) == 0 || c.IntN(4) > 0 {
		return 0
	}
	return c.claims[c.IntN(len(c.claims))]
}

func (c *client) look(ctx context.Context) {
	c.send(ctx, &record.Op{Fetch: &offset.Fetch{Keys: c.keys(6)}})
}

func (c *client) lookAtLeast(ctx context.Context) {
	c.send(ctx, &record.Op{Fetch: &offset.Fetch{At: offset.ReadAt{Level: offset.AtLeast, Index: c.index}, Keys: c.keys(6)}})
}

func (c *client) lookLocal(ctx context.Context) {
	c.send(ctx, &record.Op{Fetch: &offset.Fetch{At: offset.ReadAt{Level: offset.Local}, Keys: c.keys(6)}})
}

// list lists the keys of a group at some level.
func (c *client) list(ctx context.Context) {
	l := &offset.List{What: offset.ListKeys, Group: c.group(), Limit: offset.MaxPage}
	l.At.Level = offset.Level(c.IntN(3))
	if l.At.Level == offset.AtLeast {
		l.At.Index = c.index
	}
	if c.IntN(3) == 0 {
		l.Pending = true
	}
	c.send(ctx, &record.Op{List: l})
}
