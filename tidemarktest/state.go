package tidemarktest

import "github.com/tidemark-mq/tidemark/offset"

// Offsets are all offsets of a group as the cluster has them: a linearizable
// read, so that whatever was acknowledged before is in it. A group that the
// cluster does not know has none.
func (c *Cluster) Offsets(group string) map[offset.MessageQueue]int64 { return nil }

// Reset moves a queue as an operator's reset does: a consumer that has read the
// queue before is fenced (offset.ErrFenced, OnFenced) until it removes and
// reads it again. A queue without an offset gets one.
func (c *Cluster) Reset(group string, mq offset.MessageQueue, next int64) {}

// Remove removes the offset of a queue as an operator does; with the same
// consequence as Reset.
func (c *Cluster) Remove(group string, mq offset.MessageQueue) {}
