package node

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// port answers the calls of other members. What they forward is authorized
// and validated here again, done here or not at all, and never sent on.
type port struct{ node *Node }

var _ peer.Handler = port{}

func (h port) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	if err := h.node.admitCommits(p, c); err != nil {
		return nil, h.node.meta(), err
	}
	got, err := onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (judged, error) { return r.commit(ctx, p, c) })
	return got.verdicts, h.node.orMeta(got.meta), err
}

func (h port) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	if err := h.node.admitSet(p, s); err != nil {
		return offset.Verdict{}, h.node.meta(), err
	}
	got, err := onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (judged, error) { return r.set(ctx, p, s) })
	if err != nil {
		return offset.Verdict{}, h.node.meta(), err
	}
	return got.verdicts[0], got.meta, nil
}

func (h port) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	if err := h.node.admitAct(p, a); err != nil {
		return offset.ActResult{}, h.node.meta(), err
	}
	got, err := onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (acted, error) { return r.act(ctx, p, a) })
	return got.result, h.node.orMeta(got.meta), err
}

// Status is asked by members for themselves too, with no principal.
func (h port) Status(ctx context.Context, p auth.Principal) (offset.Status, error) {
	if p == (auth.Principal{}) {
		return h.node.status(), nil
	}
	if err := h.node.allow(p, auth.Look, auth.Everything, "status"); err != nil {
		return offset.Status{Meta: h.node.meta()}, err
	}
	return h.node.shown(p, h.node.status()), nil
}

func (h port) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	if err := validateMember(id, address); err != nil {
		return h.node.meta(), err
	}
	return h.administer(ctx, p, addition(id, address), func(ctx context.Context, r *replica) error {
		return r.change(func() error { return r.addMember(ctx, id, address) })
	})
}

func (h port) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return h.administer(ctx, p, promotion(id), func(ctx context.Context, r *replica) error {
		return r.change(func() error { return r.promoteMember(ctx, id) })
	})
}

func (h port) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return h.administer(ctx, p, removal(id), func(ctx context.Context, r *replica) error {
		return r.change(func() error { return r.removeMember(ctx, id) })
	})
}

func (h port) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	return h.administer(ctx, p, raising, func(ctx context.Context, r *replica) error { return r.raiseLevel(ctx, p, level) })
}

func (h port) administer(ctx context.Context, p auth.Principal, what errand, do func(context.Context, *replica) error) (offset.Meta, error) {
	if err := h.node.allow(p, auth.Administer, auth.Everything, what.name); err != nil {
		return h.node.meta(), err
	}
	return onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (offset.Meta, error) {
		return h.node.administerHere(ctx, p, what, r, do)
	})
}

func (h port) Transfer(ctx context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	if err := h.node.allow(p, auth.Administer, auth.Everything, "transfer"); err != nil {
		return "", h.node.meta(), err
	}
	got, err := onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (handed, error) { return h.node.transferHere(ctx, p, r, to) })
	return got.leader, h.node.orMeta(got.meta), err
}

func (h port) ReadIndex(ctx context.Context) (uint64, error) {
	return onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (uint64, error) { return r.here.join(ctx) })
}

func (h port) Hello(_ context.Context, from string) (peer.Hello, error) {
	f := h.node.founding.Load()
	if f == nil {
		return peer.Hello{}, offset.Errorf(offset.ErrNotReady, "this node is starting")
	}
	return f.hello(from), nil
}

func (h port) Found(ctx context.Context, from string, g peer.Founding) error {
	f := h.node.founding.Load()
	if f == nil {
		return offset.Errorf(offset.ErrNotReady, "this node is starting")
	}
	return f.found(ctx, from, g)
}

// Announce is what a member says of itself: it must be one.
func (h port) Announce(ctx context.Context, m offset.Member) error {
	if err := validateAddress("advertised API address", m.API); err != nil {
		return err
	}
	_, err := onlyHere(ctx, h.node, func(ctx context.Context, r *replica) (struct{}, error) {
		if !r.listed(m.ID) {
			return struct{}{}, offset.Errorf(offset.ErrInvalid, "%q is no member of this cluster", m.ID)
		}
		_, err := r.proposer.propose(ctx, entry.Request{Member: &m})
		return struct{}{}, err
	})
	return err
}

func (h port) Digest(_ context.Context, index uint64) (peer.Checkpoint, error) {
	if h.node.quarantine.Load() != nil {
		return peer.Checkpoint{Quarantined: true}, nil
	}
	r := h.node.replica.Load()
	if r == nil {
		return peer.Checkpoint{}, nil
	}
	return r.digest(index), nil
}
