package main

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// commitCmd commits one offset.
type commitCmd struct {
	keyArgs
	Offset  string `arg:"" help:"The next message to consume, 0 or more."`
	Execute bool   `help:"Do it; without, only show what would be done."`
}

// commitResult is what a commit did or would do.
type commitResult struct {
	Key keyRow `json:"key"`
	// Before is nil if there was no offset.
	Before   *int64 `json:"before,string"`
	Asked    int64  `json:"asked,string"`
	Executed bool   `json:"executed"`
}

func (r *commitResult) table(t *table) {
	before := "no offset"
	if r.Before != nil {
		before = num(*r.Before)
	}
	k := r.Key.key()
	switch {
	case r.Before != nil && *r.Before >= r.Asked:
		t.line("%s stays at %s: a commit never lowers", k, before)
	case r.Executed:
		t.line("%s: %s -> %d", k, before, r.Key.Offset)
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
	r := &commitResult{Asked: n, Key: rowOf(k, state)}
	if state.Exists {
		r.Before = &state.Position.Offset
	}
	if c.Execute {
		if r.Key, err = s.commit(m.Cluster, offset.Commit{Key: k, Offset: n, Epoch: state.Epoch}); err != nil {
			return err
		}
		r.Executed = true
	}
	return s.print(r)
}

func (s *session) commit(id offset.ClusterID, c offset.Commit) (keyRow, error) {
	ctx, cancel := s.call()
	defer cancel()
	v, _, err := s.Commit(ctx, id, []offset.Commit{c})
	if err != nil {
		return keyRow{}, err
	}
	return rowOf(c.Key, v[0].State), nil
}
