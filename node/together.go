package node

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// errApart is what a request gets that is not decided together with others.
var errApart = errors.New("this request is decided by itself")

// CommitTogether is Commit for requests that came together, each with a fate of
// its own: one goroutine, the caller's, waits for all of them. It calls answer
// for each request that it has an answer to, by its place in list, and returns
// the places of the others: nothing was done of those, and Commit takes them.
// They are all of list where this member does not lead.
func (n *Node) CommitTogether(ctx context.Context, p auth.Principal, list []*offset.Commits, answer func(i int, verdicts []offset.Verdict, meta offset.Meta, err error)) (left []int) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	r := n.replica.Load()
	if r == nil || !r.lead.leads() {
		return places(len(list))
	}
	proposals := make([]proposal, len(list))
	wake, now := make(chan struct{}, 1), time.Now()
	for i, c := range list {
		o := &proposals[i]
		o.request, o.asked, o.wake = entry.Request{Principal: p.Name, From: p.From, Commits: c}, &o.request, wake
		if err := n.admitTogether(p, c); err != nil {
			o.tell(outcome{err: err})
			continue
		}
		r.proposer.enqueue(o, now)
	}
	for i := range proposals {
		got, err := r.proposer.wait(ctx, &proposals[i])
		if err == errApart || undone(err) {
			left = append(left, i)
			continue
		}
		r.counts.commits.Add(uint64(len(got.answer.Verdicts)))
		answer(i, got.answer.Verdicts, r.metaAt(got), err)
	}
	return left
}

// admitTogether is admitCommits for a request that goes into one entry.
func (n *Node) admitTogether(p auth.Principal, c *offset.Commits) error {
	if cut(c) {
		return errApart
	}
	return n.admitCommits(p, c)
}

// FetchTogether is Fetch for requests that came together: those that are to be
// linearizable read one root after one confirmation. It calls answer and returns
// places as CommitTogether does; left are the reads at other levels.
func (n *Node) FetchTogether(ctx context.Context, p auth.Principal, list []*offset.Fetch, answer func(i int, states []offset.KeyState, meta offset.Meta, err error)) (left []int) {
	var reads []int
	for i, f := range list {
		err := n.admitFetch(p, f)
		switch {
		case err != nil:
			answer(i, nil, n.meta(), err)
		case f.At.Level == offset.Linearizable:
			reads = append(reads, i)
		default:
			left = append(left, i)
		}
	}
	if len(reads) == 0 {
		return left
	}
	root, r, err := n.rootAt(ctx, offset.ReadAt{})
	if err != nil {
		for _, i := range reads {
			answer(i, nil, n.meta(), err)
		}
		return left
	}
	meta := r.metaOf(root)
	for _, i := range reads {
		answer(i, r.fetch(root, list[i]), meta, nil)
	}
	return left
}

// places are 0 to n-1.
func places(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
