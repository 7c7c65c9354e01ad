package node

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// acted is the answer to an act with the Meta it came with.
type acted struct {
	result offset.ActResult
	meta   offset.Meta
}

// Act drives an act to its end (an import: one step of it). The error is nil
// whenever the act's own answer is known; its Code says what that is.
func (n *Node) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	if err := n.admitAct(p, a); err != nil {
		return offset.ActResult{}, n.meta(), err
	}
	got, err := atLeader(ctx, n, lastWord,
		func(ctx context.Context, r *replica) (acted, error) { return r.act(ctx, p, a) },
		func(ctx context.Context, to *peer.Remote) (acted, error) {
			result, meta, err := to.Act(ctx, p, a)
			return acted{result, meta}, err
		})
	return got.result, n.orMeta(got.meta), err
}

// act proposes the act's entries one after another. An act whose answer names a
// further step is cut: its later entries carry the same id, so that a resend
// continues where this one stopped.
func (r *replica) act(ctx context.Context, p auth.Principal, a *offset.Act) (acted, error) {
	if a.Cluster != r.cluster {
		return acted{}, offset.Errorf(offset.ErrForeignCluster, "the act was made for cluster %s; this is %s", a.Cluster, r.cluster)
	}
	if err := r.admitStep(p, a); err != nil {
		return acted{}, err
	}
	// A leader's log holds all that anybody can have read. What claims to know
	// more would never be superseded.
	if last := r.raft.LastIndex(); a.Base > last {
		return acted{}, offset.Errorf(offset.ErrInvalid, "the base %d is beyond this cluster's log, which ends at %d; it is the index that a read before the act gave", a.Base, last)
	}
	got, err := drive(entry.Request{Principal: p.Name, From: p.From, Act: a}, func(request entry.Request) (outcome, error) {
		got, err := r.proposer.propose(ctx, request)
		if err == nil {
			r.counts.acts.Add(1)
		}
		return got, err
	})
	if err != nil {
		return acted{}, err
	}
	return acted{got.answer.Act, r.metaAt(got)}, nil
}

// drive has the entries of an act proposed one after another, and returns the last answer.
func drive(request entry.Request, propose func(entry.Request) (outcome, error)) (outcome, error) {
	for {
		got, err := propose(request)
		if err != nil {
			return got, partly(request.Step, err)
		}
		result := got.answer.Act
		switch {
		case request.Step > 0 && result.Code == offset.CodeTooOld:
			return got, offset.Errorf(offset.ErrOutcomeUnknown, "%d entries of the act have been applied; then other large acts took its place, and the rest will not be done; look at the keys again, and decide anew", request.Step)
		case result.Done || request.Act.Import != nil || result.Code != offset.CodeOK || result.Next <= request.Step:
			return got, nil
		}
		request.Step = result.Next
	}
}

// admitAct validates an act and authorizes its caller.
func (n *Node) admitAct(p auth.Principal, a *offset.Act) error {
	if err := a.Validate(); err != nil {
		return err
	}
	action, scopes := scopesOf(a)
	for _, s := range scopes {
		if err := n.allow(p, action, s, a.Kind()); err != nil {
			return err
		}
	}
	return nil
}

// admitStep authorizes a step of the import under way by what the state knows of it:
// the group that a swap or an abort names is the sender's own word. What a merge
// brings is looked at chunk by chunk. A new leader may not have applied yet how the
// import began, and would not know whose it is.
func (r *replica) admitStep(p auth.Principal, a *offset.Act) error {
	if a.Import == nil {
		return nil
	}
	if r.lead.readyTerm() == 0 {
		return offset.Errorf(offset.ErrNotLeader, "this member has just been elected and has not applied what came before")
	}
	imp := r.machine.Root().Import()
	if imp == nil || imp.ID != a.ID || imp.Mode == offset.ImportMerge {
		return nil
	}
	return r.allow(p, auth.Operate, groupScope(imp.Group), a.Kind())
}

// partly says that earlier entries of a cut request have been applied.
func partly(step uint32, err error) error {
	if step == 0 {
		return err
	}
	if errors.Is(err, offset.ErrOutcomeUnknown) {
		return err
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "%d entries of the request have been applied, then: %v; send the same again to have the rest done", step, err)
}
