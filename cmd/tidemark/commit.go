package main

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// commitCmd commits one offset.
type commitCmd struct {
	keyArgs
	Offset  string `arg:"" help:"The next message to consume, 0 or more."`
	Execute bool   `help:"Do it; without this, only show what would be done."`
}

// commitResult is what a commit did or would do.
type commitResult struct {
	Key committed `json:"key"`
	// Before is nil if there was no offset.
	Before   *int64 `json:"before,string"`
	Asked    int64  `json:"asked,string"`
	Executed bool   `json:"executed"`
}

// committed is a key with what the answer to a commit tells of it, and nothing
// that it does not: neither the index nor the time of its last change.
type committed struct {
	Group  string `json:"group"`
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	// Offset is nil if there is none.
	Offset *int64 `json:"offset,string,omitempty"`
	// Epoch is the one that was read before.
	Epoch uint64 `json:"epoch,string"`
}

func (r *commitResult) table(t *table) {
	before := "no offset"
	if r.Before != nil {
		before = num(*r.Before)
	}
	k := offset.Key{Group: r.Key.Group, MessageQueue: offset.MessageQueue{Topic: r.Key.Topic, Broker: r.Key.Broker, QueueID: r.Key.Queue}}
	switch {
	case r.Before != nil && *r.Before >= r.Asked:
		t.line("%s stays at %s: a commit never lowers", k, before)
	case r.Executed:
		t.line("%s: %s -> %d", k, before, *r.Key.Offset)
	default:
		t.line("%s: %s -> %d; nothing was done yet, add --execute", k, before, r.Asked)
	}
}

// Run reads the key, and commits with the epoch it read.
func (c *commitCmd) Run(s *session) error {
	k, err := c.key()
	if err != nil {
		return err
	}
	n, err := number("offset", c.Offset, 64)
	if err != nil {
		return err
	}
	state, m, err := s.fetch(k, offset.ReadAt{})
	if err != nil {
		return err
	}
	r := &commitResult{Asked: n, Key: committed{Group: k.Group, Topic: k.Topic, Broker: k.Broker, Queue: k.QueueID, Epoch: state.Epoch}}
	if state.Exists {
		r.Before = &state.Position.Offset
		r.Key.Offset = r.Before
	}
	if c.Execute {
		now, err := s.commit(m.Cluster, offset.Commit{Key: k, Offset: n, Epoch: state.Epoch})
		if err != nil {
			return err
		}
		r.Executed, r.Key.Offset = true, &now
	}
	return s.print(r)
}

// commit sends one commit, and returns the offset that the key has then.
func (s *session) commit(id offset.ClusterID, c offset.Commit) (int64, error) {
	ctx, cancel := s.call()
	defer cancel()
	v, _, err := s.Commit(ctx, id, []offset.Commit{c})
	if err != nil {
		return 0, err
	}
	s.changed = true
	return v[0].State.Position.Offset, nil
}
