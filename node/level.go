package node

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// RaiseLevel raises the format level when all members can read it.
func (n *Node) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	return n.administer(ctx, p, raising,
		func(ctx context.Context, r *replica) error { return r.raiseLevel(ctx, p, level) },
		func(ctx context.Context, to *peer.Remote) (offset.Meta, error) { return to.RaiseLevel(ctx, p, level) })
}

// raiseLevel is a change of the members as well: none may join meanwhile that
// reads less.
func (r *replica) raiseLevel(ctx context.Context, p auth.Principal, level uint8) error {
	return r.change(func() error { return r.raise(ctx, p, level) })
}

func (r *replica) raise(ctx context.Context, p auth.Principal, level uint8) error {
	root := r.machine.Root()
	switch {
	case level == 0 || level < root.Level():
		return offset.Errorf(offset.ErrInvalid, "the format level is %d and never goes down", root.Level())
	case level == root.Level():
		return nil
	}
	announced := map[string]uint8{}
	for _, m := range root.Members() {
		announced[m.ID] = m.MaxLevel
	}
	for _, s := range r.servers() {
		most, ok := announced[string(s.ID)]
		if !ok {
			return offset.Errorf(offset.ErrLevel, "%s has not said which levels it reads; start it, or remove it", s.ID)
		}
		if most < level {
			return offset.Errorf(offset.ErrLevel, "%s reads levels up to %d; run a newer build there first", s.ID, most)
		}
	}
	_, err := r.proposer.propose(ctx, entry.Request{Principal: p.Name, From: p.From, Level: level})
	return err
}
