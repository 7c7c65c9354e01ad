package tidemarktest

import (
	"context"
	"strconv"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// Offsets are all offsets of a group as the cluster has them: a linearizable
// read, so that whatever was acknowledged before is in it. A group that the
// cluster does not know has none. It asks the leader itself: neither FailNext
// nor a cut off client is in its way, and Calls does not count it.
func (c *Cluster) Offsets(group string) map[offset.MessageQueue]int64 {
	c.tb.Helper()
	var out map[offset.MessageQueue]int64
	c.ask("reading the offsets of "+strconv.Quote(group), func(ctx context.Context, leader *node.Node) error {
		out = make(map[offset.MessageQueue]int64)
		return leader.Export(ctx, incluster.Operator, &offset.List{Group: group}, func(p offset.Page) error {
			for _, k := range p.Keys {
				out[k.Key.MessageQueue] = k.Position.Offset
			}
			return nil
		})
	})
	return out
}

// Reset moves a queue as an operator's reset does: a consumer that has read the
// queue before is fenced (offset.ErrFenced, OnFenced) until it removes and
// reads it again. A queue without an offset gets one.
func (c *Cluster) Reset(group string, mq offset.MessageQueue, next int64) {
	c.tb.Helper()
	k := offset.Key{Group: group, MessageQueue: mq}
	c.act(&offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: next}}}})
}

// Remove removes the offset of a queue as an operator does; with the same
// consequence as Reset.
func (c *Cluster) Remove(group string, mq offset.MessageQueue) {
	c.tb.Helper()
	c.act(&offset.Act{Remove: &offset.Remove{Scope: offset.Scope{
		Group: group, Topic: mq.Topic, HasBroker: true, Broker: mq.Broker, HasQueue: true, QueueID: mq.QueueID,
	}}})
}

// act does an act, which the same id and base make harmless to send again.
func (c *Cluster) act(a *offset.Act) {
	c.tb.Helper()
	a.ID = incluster.NewActID()
	c.ask("an operator's act", func(ctx context.Context, leader *node.Node) error {
		if a.Cluster.IsZero() {
			page, err := leader.List(ctx, incluster.Operator, &offset.List{Limit: 1})
			if err != nil {
				return err
			}
			a.Base, a.Cluster = page.Meta.Index, page.Meta.Cluster
		}
		result, _, err := leader.Act(ctx, incluster.Operator, a)
		if err == nil {
			err = result.Code.Err()
		}
		return err
	})
}

// ask has a leader do something that may be done again, until it is done.
func (c *Cluster) ask(what string, do func(ctx context.Context, leader *node.Node) error) {
	c.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), incluster.Patience)
	defer cancel()
	for {
		n, err := c.WaitLeader(ctx)
		if err == nil {
			err = do(ctx, n.member.Node())
		}
		if err == nil {
			return
		}
		if ctx.Err() != nil || !offset.Retriable(err) {
			c.tb.Fatalf("%s: %v", what, err)
		}
	}
}
