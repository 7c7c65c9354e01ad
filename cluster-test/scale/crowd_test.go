package scale

import (
	"context"
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// queues is how many each group has, of one topic.
const queues = 4

// consumers work beside, each with a group of its own.
const consumers = 2

// crowd is a cluster with a great many groups.
type crowd struct {
	*testing.T
	cluster *local.Cluster
	client  *client.Client
	id      offset.ClusterID
	groups  int
}

// gather starts a cluster that is to have so many groups.
func gather(t *testing.T, groups int, options ...local.Option) *crowd {
	t.Helper()
	c := &crowd{T: t, groups: groups, cluster: local.Start(t, 3, options...)}
	c.client = c.cluster.Client()
	_, meta, err := c.client.Fetch(c.within(), ask.Default, c.key(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	c.id = meta.Cluster
	return c
}

func (c *crowd) within() context.Context { return ask.Within(c.T, ask.Patience) }

// name is such as an application draws at each start.
func (c *crowd) name(i int) string {
	return fmt.Sprintf("dead-%08x-%04x-4c1f-9e2d-%012x", uint32(i)*2654435761, i%65521, i)
}

func (c *crowd) key(group int, queue int32) offset.Key {
	return offset.Key{Group: c.name(group), MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b", QueueID: queue}}
}

// fill commits the offsets of the groups from to to, in large requests.
func (c *crowd) fill(from, to int) {
	c.Helper()
	for ; from < to; from += offset.MaxCommits / queues {
		c.commit(c.all(from, min(to, from+offset.MaxCommits/queues), 0)...)
	}
}

// all is a commit of each queue of the groups from to to.
func (c *crowd) all(from, to int, value int64) (list []offset.Commit) {
	for i := from; i < to; i++ {
		for q := range int32(queues) {
			list = append(list, offset.Commit{Key: c.key(i, q), Offset: value})
		}
	}
	return list
}

func (c *crowd) commit(list ...offset.Commit) {
	c.Helper()
	if err := c.try(list); err != nil {
		c.Fatal(err)
	}
}

func (c *crowd) try(list []offset.Commit) error {
	verdicts, _, err := c.client.Commit(c.within(), c.id, list)
	for _, v := range verdicts {
		if err == nil && v.Code != offset.CodeOK {
			err = fmt.Errorf("a commit is %w", v.Code.Err())
		}
	}
	return err
}
