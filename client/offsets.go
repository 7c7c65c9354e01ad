package client

import (
	"context"
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/conn"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Commit sends up to offset.MaxCommits commits, each with a fate of its own;
// cluster is the one that their epochs were read from (Meta.Cluster). The
// verdicts are in the order of list, with the offset that each key has now. If
// any is not CodeOK the error is a *Refused, and the verdicts are there all the
// same. A commit whose outcome is unknown may be sent again, for ever.
//
// A verdict of CodeFenced that is not the answer to a first send says only
// that this send was not applied: if an earlier one was, an act has superseded it.
func (c *Client) Commit(ctx context.Context, cluster offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error) {
	return c.commit(ctx, cluster, list, false)
}

// CommitAtomic is Commit, but if one commit is fenced none is applied.
func (c *Client) CommitAtomic(ctx context.Context, cluster offset.ClusterID, list []offset.Commit) ([]offset.Verdict, offset.Meta, error) {
	return c.commit(ctx, cluster, list, true)
}

func (c *Client) commit(ctx context.Context, cluster offset.ClusterID, list []offset.Commit, atomic bool) (verdicts []offset.Verdict, meta offset.Meta, err error) {
	t := trial{op: "commit", kind: harmless, subject: firstCommit(list)}
	c.began(&t)
	defer c.ended(&t, &err)
	req := offset.Commits{Cluster: cluster, Atomic: atomic}
	var order []int
	if len(list) == 1 { // nothing to group
		req.Topics = []offset.TopicCommits{topicOf(&list[0])}
	} else {
		req.Topics, order = offset.GroupCommits(list)
	}
	if err := req.Validate(); err != nil {
		return nil, offset.Meta{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) (err error) {
		verdicts, meta, err = c.commits.ask(ctx, c, &req, ms)
		return err
	})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	verdicts = ungroup(verdicts, order)
	if r := refusals(list, verdicts); r != nil {
		return verdicts, meta, c.fail(&trial{op: t.op, subject: t.subject, sends: t.sends}, r, nil)
	}
	return verdicts, meta, nil
}

func firstCommit(list []offset.Commit) fmt.Stringer {
	if len(list) == 0 {
		return nil
	}
	return &list[0].Key
}

// topicOf makes a single commit the commits of its topic.
func topicOf(c *offset.Commit) offset.TopicCommits {
	k := &c.Key
	return offset.TopicCommits{
		Group: k.Group, Topic: k.Topic, Broker: k.Broker,
		Queues: []offset.QueueCommit{{QueueID: k.QueueID, Offset: c.Offset, Epoch: c.Epoch}},
	}
}

// ungroup brings verdicts back into the caller's order; nil is the same order.
func ungroup(verdicts []offset.Verdict, order []int) []offset.Verdict {
	if order == nil {
		return verdicts
	}
	out := make([]offset.Verdict, len(verdicts))
	for i, at := range order {
		out[at] = verdicts[i]
	}
	return out
}

// refusals lists the keys that were refused; nil if none was.
func refusals(list []offset.Commit, verdicts []offset.Verdict) error {
	var r *Refused
	for i := range verdicts {
		if code := verdicts[i].Code; code != offset.CodeOK {
			if r == nil {
				r = &Refused{}
			}
			r.Keys = append(r.Keys, RefusedKey{Key: list[i].Key, State: verdicts[i].State, Err: code.Err()})
		}
	}
	if r == nil {
		return nil
	}
	return r
}

// Fetch reads the states of up to offset.MaxCommits keys from one root of the
// table, in the order of keys. A key without an offset is a state with Exists
// false; an error is never one of "no offset".
func (c *Client) Fetch(ctx context.Context, at offset.ReadAt, keys ...offset.Key) (states []offset.KeyState, meta offset.Meta, err error) {
	t := trial{op: "fetch", kind: reading, subject: firstKey(keys)}
	c.began(&t)
	defer c.ended(&t, &err)
	req := &offset.Fetch{At: at, Keys: slices.Clone(keys)} // a shared request may read them when this call has returned
	if err := req.Validate(); err != nil {
		return nil, offset.Meta{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) (err error) {
		states, meta, err = c.fetches.ask(ctx, c, req, ms)
		return err
	})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return states, meta, nil
}

func firstKey(keys []offset.Key) fmt.Stringer {
	if len(keys) == 0 {
		return nil
	}
	return &keys[0]
}

// linking gives the connection for a call: Client.link or linkNow.
type linking func(context.Context) (*conn.Conn, error)

// call sends one call over the stream, once. addr is the node that took it. request
// gives the call when there is a connection for it; nil: nobody wants it any more.
func (c *Client) call(ctx context.Context, link linking, request func() *tidemarkv1.Call) (reply *tidemarkv1.Reply, addr string, err error) {
	cn, err := link(ctx)
	if err != nil {
		return nil, "", err
	}
	m := request()
	if m == nil {
		return nil, cn.Addr(), &conn.Error{Cause: context.Canceled}
	}
	reply, err = cn.Do(ctx, m)
	if err != nil {
		if cause := cn.Err(); cause != nil {
			c.lost(cn, cause)
		}
		return nil, cn.Addr(), err
	}
	if e := reply.GetError(); e != nil {
		err = wire.FromError(e)
		c.learnFrom(cn.Addr(), err)
		return nil, cn.Addr(), err
	}
	return reply, cn.Addr(), nil
}

// answered takes what an answer says of the leader. An answer that cannot be
// read, err, says nothing of the outcome.
func (c *Client) answered(addr string, meta offset.Meta, err error) error {
	if err != nil {
		c.leave(addr, false)
		return offset.Errorf(offset.ErrOutcomeUnknown, "the answer of %q cannot be read: %v", addr, err)
	}
	c.learn(addr, meta.Leader)
	return nil
}
