package peer

import (
	"context"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	peerv1 "github.com/tidemark-mq/tidemark/transport/api/peer/v1"
	"github.com/tidemark-mq/tidemark/transport/api/peer/v1/peerv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

type service = peerv1connect.PeerServiceClient

// ReadIndex asks the leader to confirm that it leads, by a round begun after
// the call, and for an index at which all that was acknowledged before is applied.
func (r *Remote) ReadIndex(ctx context.Context) (index uint64, err error) {
	err = r.ask(ctx, func(ctx context.Context, s service) error {
		m, err := s.ReadIndex(ctx, connect.NewRequest(&peerv1.ReadIndexRequest{TimeoutMs: wire.ToTimeout(ctx)}))
		if err != nil {
			return err
		}
		index = m.Msg.Index
		return answered(wire.FromError(m.Msg.Error))
	})
	return index, err
}

// Hello asks what the node is, whatever cluster it belongs to.
func (r *Remote) Hello(ctx context.Context) (h Hello, err error) {
	a, err := r.meet(ctx, func(ctx context.Context, s service) error {
		m, err := s.Hello(ctx, connect.NewRequest(&peerv1.HelloRequest{}))
		if err != nil {
			return err
		}
		h, err = fromHello(m.Msg)
		return err
	})
	if err != nil {
		return Hello{}, err
	}
	h.Run = a.run
	if h.ID != a.id {
		return Hello{}, offset.Errorf(offset.ErrInvalid, "the node at %s calls itself %q and then %q", r.addr, a.id, h.ID)
	}
	return h, nil
}

// Found gives an empty founder the cluster id and the configuration. It may be
// repeated: the answer is the same while the founder holds the same draw.
func (r *Remote) Found(ctx context.Context, f Founding) error {
	_, err := r.meet(ctx, func(ctx context.Context, s service) error {
		m, err := s.Found(ctx, connect.NewRequest(toFounding(f)))
		if err != nil {
			return err
		}
		return answered(wire.FromError(m.Msg.Error))
	})
	return err
}

// Announce asks the leader to write what this node announces into the state.
func (r *Remote) Announce(ctx context.Context, m offset.Member) error {
	return r.ask(ctx, func(ctx context.Context, s service) error {
		out, err := s.Announce(ctx, connect.NewRequest(&peerv1.AnnounceRequest{Id: m.ID, ApiAddress: m.API, MaxLevel: uint32(m.MaxLevel)}))
		if err != nil {
			return err
		}
		return answered(wire.FromError(out.Msg.Error))
	})
}

// Digest asks for the digest noted at the checkpoint of that index.
func (r *Remote) Digest(ctx context.Context, index uint64) (c Checkpoint, err error) {
	err = r.ask(ctx, func(ctx context.Context, s service) error {
		m, err := s.Digest(ctx, connect.NewRequest(&peerv1.DigestRequest{Index: index}))
		if err != nil {
			return err
		}
		c, err = fromDigest(m.Msg)
		return err
	})
	return c, err
}

// Commit forwards a caller's commits to the leader.
func (r *Remote) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) (verdicts []offset.Verdict, m offset.Meta, err error) {
	out, err := r.forward(ctx, p, &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_Commit{Commit: wire.ToCommitRequest(c, 0)}})
	if err == nil {
		verdicts, m, err = wire.FromCommitResponse(out.GetCommit(), c.Count())
		err = unanswered(err)
	}
	return verdicts, m, err
}

// Set forwards a caller's Set to the leader.
func (r *Remote) Set(ctx context.Context, p auth.Principal, s *offset.Set) (v offset.Verdict, m offset.Meta, err error) {
	out, err := r.forward(ctx, p, &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_Set{Set: wire.ToSetRequest(s, 0)}})
	if err == nil {
		v, m, err = wire.FromSetResponse(out.GetSet())
		err = unanswered(err)
	}
	return v, m, err
}

// Act forwards a caller's act to the leader.
func (r *Remote) Act(ctx context.Context, p auth.Principal, a *offset.Act) (res offset.ActResult, m offset.Meta, err error) {
	req, err := toAct(a)
	if err != nil {
		return res, m, err
	}
	out, err := r.forward(ctx, p, req)
	if err == nil {
		res, m, err = wire.FromActResponse(out.GetAct())
		err = unanswered(err)
	}
	return res, m, err
}

// Status asks how the member sees itself and its cluster.
func (r *Remote) Status(ctx context.Context, p auth.Principal) (s offset.Status, err error) {
	out, err := r.forward(ctx, p, toStatus())
	if err == nil {
		s, err = wire.FromStatusResponse(out.GetStatus())
	}
	return s, err
}

// AddMember forwards the addition of a nonvoter to the leader.
func (r *Remote) AddMember(ctx context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	return r.change(ctx, p, toAddMember(id, address))
}

// PromoteMember forwards a promotion to the leader.
func (r *Remote) PromoteMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return r.change(ctx, p, toPromoteMember(id))
}

// RemoveMember forwards a removal to the leader.
func (r *Remote) RemoveMember(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return r.change(ctx, p, toRemoveMember(id))
}

// change makes a call that changes the members.
func (r *Remote) change(ctx context.Context, p auth.Principal, req *peerv1.ForwardRequest) (m offset.Meta, err error) {
	out, err := r.forward(ctx, p, req)
	if err == nil {
		m, err = wire.FromMeta(out.GetMember().GetMeta())
		err = unanswered(err)
	}
	return m, err
}

// Transfer asks the leader to hand leadership over, and returns to whom it did.
func (r *Remote) Transfer(ctx context.Context, p auth.Principal, to string) (leader string, m offset.Meta, err error) {
	out, err := r.forward(ctx, p, toTransfer(to))
	if err != nil {
		return "", m, err
	}
	if m, err = wire.FromMeta(out.GetTransfer().GetMeta()); err == nil {
		leader = out.GetTransfer().GetLeaderId()
		err = wire.CheckMemberID("leader_id", leader)
	}
	return leader, m, unanswered(err)
}

// RaiseLevel asks the leader to raise the format level.
func (r *Remote) RaiseLevel(ctx context.Context, p auth.Principal, level uint8) (m offset.Meta, err error) {
	out, err := r.forward(ctx, p, toRaiseLevel(level))
	if err == nil {
		m, err = wire.FromMeta(out.GetRaiseLevel().GetMeta())
		err = unanswered(err)
	}
	return m, err
}

// forward carries a client's request to the leader. The error is what the
// leader answered, or why there is no answer.
func (r *Remote) forward(ctx context.Context, p auth.Principal, req *peerv1.ForwardRequest) (out *peerv1.ForwardResponse, err error) {
	req.Principal, req.From = p.Name, p.From
	err = r.ask(ctx, func(ctx context.Context, s service) error {
		req.TimeoutMs = wire.ToTimeout(ctx)
		m, err := s.Forward(ctx, connect.NewRequest(req))
		if err != nil {
			return err
		}
		out = m.Msg
		return answered(wire.FromError(m.Msg.GetError()))
	})
	return out, err
}
