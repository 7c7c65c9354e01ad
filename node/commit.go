package node

import (
	"context"
	"slices"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// judged are verdicts with the Meta they came with.
type judged struct {
	verdicts []offset.Verdict
	meta     offset.Meta
}

// Commit answers one verdict per commit, in the order of the request.
func (n *Node) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	if err := n.admitCommits(p, c); err != nil {
		return nil, n.meta(), err
	}
	got, err := atLeader(ctx, n, lastWord,
		func(ctx context.Context, r *replica) (judged, error) { return r.commit(ctx, p, c) },
		func(ctx context.Context, to *peer.Remote) (judged, error) {
			verdicts, meta, err := to.Commit(ctx, p, c)
			return judged{verdicts, meta}, err
		})
	return got.verdicts, n.orMeta(got.meta), err
}

// admitCommits validates a request and authorizes its caller for each of its keys:
// it is taken whole or not at all.
func (n *Node) admitCommits(p auth.Principal, c *offset.Commits) error {
	if err := c.Validate(); err != nil {
		return err
	}
	for i := range c.Topics {
		t := &c.Topics[i]
		if err := n.allow(p, auth.Commit, auth.Key(t.Group, t.Topic, t.Broker), "commit"); err != nil {
			return err
		}
	}
	return nil
}

// commit proposes, a large request in parts. A commit for another cluster is
// proposed as well: that it is fenced is said once applied, never before.
func (r *replica) commit(ctx context.Context, p auth.Principal, c *offset.Commits) (judged, error) {
	request := entry.Request{Principal: p.Name, From: p.From, Commits: c}
	if list := parts(c); len(list) > 1 {
		return r.commitParts(ctx, request, list)
	}
	got, err := r.proposer.propose(ctx, request)
	if err != nil {
		return judged{}, err
	}
	r.counts.commits.Add(uint64(len(got.answer.Verdicts)))
	return judged{got.answer.Verdicts, r.metaAt(got)}, nil
}

// commitParts proposes one part after another. The bounds are those of the whole
// request, and hold before the first.
func (r *replica) commitParts(ctx context.Context, whole entry.Request, list []*offset.Commits) (all judged, err error) {
	if entry.Size(&whole) > offset.MaxRequest {
		return judged{}, errTooLarge
	}
	asked := &whole
	for i, part := range list {
		request := whole
		request.Commits = part
		got, err := r.proposer.proposePart(ctx, request, asked)
		if err != nil {
			return judged{}, partly(uint32(i), err)
		}
		r.counts.commits.Add(uint64(len(got.answer.Verdicts)))
		all = judged{append(all.verdicts, got.answer.Verdicts...), r.metaAt(got)}
		asked = nil
	}
	return all, nil
}

// cut reports whether a request takes several entries.
func cut(c *offset.Commits) bool { return !c.Atomic && len(c.Topics) > entry.MaxRuns }

// parts cuts a request that names more than one entry should have to apply;
// commits that are to be done together stay so.
func parts(c *offset.Commits) []*offset.Commits {
	if !cut(c) {
		return []*offset.Commits{c}
	}
	var list []*offset.Commits
	for topics := range slices.Chunk(c.Topics, entry.MaxRuns) {
		list = append(list, &offset.Commits{Cluster: c.Cluster, Topics: topics})
	}
	return list
}

// Set answers CodeOK or CodeFenced, with the key as it is after.
func (n *Node) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	if err := n.admitSet(p, s); err != nil {
		return offset.Verdict{}, n.meta(), err
	}
	got, err := atLeader(ctx, n, lastWord,
		func(ctx context.Context, r *replica) (judged, error) { return r.set(ctx, p, s) },
		func(ctx context.Context, to *peer.Remote) (judged, error) {
			verdict, meta, err := to.Set(ctx, p, s)
			return judged{[]offset.Verdict{verdict}, meta}, err
		})
	if err != nil {
		return offset.Verdict{}, n.orMeta(got.meta), err
	}
	return got.verdicts[0], got.meta, nil
}

// admitSet validates a Set and authorizes its caller.
func (n *Node) admitSet(p auth.Principal, s *offset.Set) error {
	if err := s.Validate(); err != nil {
		return err
	}
	action := auth.Commit
	if s.Operator {
		action = auth.Operate
	}
	return n.allow(p, action, scopeOfKey(s.Key), "set")
}

func (r *replica) set(ctx context.Context, p auth.Principal, s *offset.Set) (judged, error) {
	got, err := r.proposer.propose(ctx, entry.Request{Principal: p.Name, From: p.From, Set: s})
	if err != nil {
		return judged{}, err
	}
	if len(got.answer.Verdicts) != 1 {
		return judged{}, offset.Errorf(offset.ErrOutcomeUnknown, "the set was committed, and has %d answers", len(got.answer.Verdicts))
	}
	r.counts.sets.Add(1)
	return judged{got.answer.Verdicts, r.metaAt(got)}, nil
}
