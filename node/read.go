package node

import (
	"context"
	"errors"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// Fetch reads the states of keys from one root, in the order of the request.
func (n *Node) Fetch(ctx context.Context, p auth.Principal, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error) {
	if err := n.admitFetch(p, f); err != nil {
		return nil, n.meta(), err
	}
	root, r, err := n.rootAt(ctx, f.At)
	if err != nil {
		return nil, n.meta(), err
	}
	return r.fetch(root, f), r.metaOf(root), nil
}

// admitFetch validates a request and authorizes who sends it.
func (n *Node) admitFetch(p auth.Principal, f *offset.Fetch) error {
	if err := f.Validate(); err != nil {
		return err
	}
	return n.allowKeys(p, f.Keys)
}

// fetch gives the states of keys.
func (r *replica) fetch(root *table.Root, f *offset.Fetch) []offset.KeyState {
	states := make([]offset.KeyState, len(f.Keys))
	for i, k := range f.Keys {
		states[i] = root.Get(k)
	}
	r.counts.fetched.Add(uint64(len(states)))
	return states
}

// List gives one page of a listing.
func (n *Node) List(ctx context.Context, p auth.Principal, l *offset.List) (offset.Page, error) {
	root, r, err := n.listing(ctx, p, l)
	if err != nil {
		return offset.Page{Meta: n.meta()}, err
	}
	page, whole := root.ListUntil(l, func() bool { return ctx.Err() != nil })
	page.Meta = r.metaOf(root)
	if !whole {
		return offset.Page{Meta: page.Meta}, givenUp(ctx)
	}
	return page, nil
}

// Export yields all keys that l selects, from one root, in pages, of which each
// is authorized: it may take minutes. It ends with the first error of yield.
// Limit and After are ignored.
func (n *Node) Export(ctx context.Context, p auth.Principal, l *offset.List, yield func(offset.Page) error) error {
	all := *l
	all.What, all.After, all.Limit = offset.ListKeys, nil, offset.MaxPage
	root, r, err := n.listing(ctx, p, &all)
	if err != nil {
		return err
	}
	for {
		if ctx.Err() != nil {
			return givenUp(ctx)
		}
		page, whole := root.ListUntil(&all, func() bool { return ctx.Err() != nil })
		if !whole {
			return givenUp(ctx)
		}
		page.Meta = r.metaOf(root)
		if err := yield(page); err != nil {
			return err
		}
		if !page.More || len(page.Keys) == 0 {
			return nil
		}
		last := page.Keys[len(page.Keys)-1].Key
		all.After = &last
		if err := n.allow(p, auth.Read, scopeOfList(&all), "list"); err != nil {
			return err
		}
	}
}

// givenUp is the error of a reading that ctx has ended. At a deadline it says that
// nothing was done, where the bare cause would pass for an unknown outcome.
func givenUp(ctx context.Context) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, context.DeadlineExceeded) {
		return offset.Errorf(offset.ErrBusy, "the deadline passed before all of it was read; narrow what is asked for, or allow more time")
	}
	return cause
}

func (n *Node) listing(ctx context.Context, p auth.Principal, l *offset.List) (*table.Root, *replica, error) {
	if err := l.Validate(); err != nil {
		return nil, nil, err
	}
	if err := n.allow(p, auth.Read, scopeOfList(l), "list"); err != nil {
		return nil, nil, err
	}
	return n.rootAt(ctx, l.At)
}

// allowKeys authorizes a read of each of the keys.
func (n *Node) allowKeys(p auth.Principal, keys []offset.Key) error {
	var last auth.Scope
	for i := range keys {
		s := scopeOfKey(keys[i])
		if i > 0 && s == last {
			continue
		}
		last = s
		if err := n.allow(p, auth.Read, s, "fetch"); err != nil {
			return err
		}
	}
	return nil
}

// rootAt returns a root that is as fresh as asked for.
func (n *Node) rootAt(ctx context.Context, at offset.ReadAt) (*table.Root, *replica, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	switch at.Level {
	case offset.Linearizable:
		return n.linearizable(ctx)
	case offset.AtLeast:
		r, err := n.serving()
		if err != nil {
			return nil, nil, err
		}
		if err := r.reach(ctx, at.Index); err != nil {
			return nil, nil, err
		}
		return r.machine.Root(), r, nil
	case offset.Local:
		r, err := n.serving()
		if err != nil {
			return nil, nil, err
		}
		if !closed(r.caughtUp) && !planted.Is(planted.LocalTooEarly) {
			return nil, nil, offset.Errorf(offset.ErrNotReady, "this member has not caught up with the leader since it started; read linearizably, or ask another member")
		}
		return r.machine.Root(), r, nil
	}
	return nil, nil, offset.Errorf(offset.ErrInvalid, "unknown read level %d", at.Level)
}

// reach waits until this member has applied index.
func (r *replica) reach(ctx context.Context, index uint64) error {
	err := r.machine.Wait(ctx, index)
	if err != nil && ctx.Err() != nil {
		return offset.Errorf(offset.ErrNotReady, "this member has applied index %d, not yet %d", r.machine.Index(), index)
	}
	return err
}

// linearizable joins rounds until one has confirmed, the deadline has passed, or
// this member has found that it is cut off.
func (n *Node) linearizable(ctx context.Context) (*table.Root, *replica, error) {
	began := time.Now()
	for {
		r, err := n.serving()
		if err != nil {
			return nil, nil, err
		}
		news := r.lead.news()
		root, err := r.confirmed(ctx)
		if err == nil {
			return root, r, nil
		}
		if !retryRead(err) {
			return nil, nil, err
		}
		if r.cutOff(began) {
			return nil, nil, errCutOff
		}
		if !waitNews(ctx, news) {
			return nil, nil, noLeader(err)
		}
	}
}

// confirmed reads after one round, here or at the leader.
func (r *replica) confirmed(ctx context.Context) (*table.Root, error) {
	if r.lead.leads() {
		_, err := r.here.join(ctx)
		return r.machine.Root(), err
	}
	index, err := r.there.join(ctx)
	if err != nil {
		return nil, err
	}
	if r.config.Unsafe.WaitForCommitIndex {
		index = r.raft.CommitIndex()
	}
	if planted.Is(planted.FollowerReadsOld) {
		return r.machine.Root(), nil
	}
	if err := r.reach(ctx, index); err != nil {
		return nil, err
	}
	return r.machine.Root(), nil
}

// retryRead tells errors that another round may not meet.
func retryRead(err error) bool {
	for _, e := range []error{offset.ErrNotLeader, offset.ErrNoLeader, offset.ErrUnreachable, offset.ErrNotReady} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// waitNews waits a little for a change of leadership; false when ctx is done.
func waitNews(ctx context.Context, news <-chan struct{}) bool {
	t := time.NewTimer(20 * time.Millisecond)
	defer t.Stop()
	select {
	case <-news:
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

func noLeader(last error) error {
	if errors.Is(last, offset.ErrNoLeader) || last == nil {
		if last == nil {
			return offset.ErrNoLeader
		}
		return last
	}
	return offset.Errorf(offset.ErrNoLeader, "no leader answered within the deadline; last: %v", last)
}
