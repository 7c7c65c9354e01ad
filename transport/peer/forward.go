package peer

import (
	"context"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	peerv1 "github.com/tidemark-mq/tidemark/transport/api/peer/v1"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// toAct makes the request of an act that has been validated.
func toAct(a *offset.Act) (*peerv1.ForwardRequest, error) {
	m := new(peerv1.ForwardRequest)
	switch {
	case a.Reset != nil:
		m.Request = &peerv1.ForwardRequest_Reset_{Reset_: wire.ToResetRequest(a, 0)}
	case a.Remove != nil:
		m.Request = &peerv1.ForwardRequest_Remove{Remove: wire.ToRemoveRequest(a, 0)}
	case a.Clone != nil:
		m.Request = &peerv1.ForwardRequest_Clone{Clone: wire.ToCloneRequest(a, 0)}
	case a.Expire != nil:
		m.Request = &peerv1.ForwardRequest_Expire{Expire: wire.ToExpireRequest(a, 0)}
	case a.Take != nil:
		m.Request = &peerv1.ForwardRequest_Claim{Claim: wire.ToClaimRequest(a, 0)}
	case a.Import != nil:
		m.Request = &peerv1.ForwardRequest_Import{Import: wire.ToImportRequest(a, 0)}
	default:
		return nil, offset.Errorf(offset.ErrInvalid, "an act does exactly one thing; this one names none")
	}
	return m, nil
}

// fromAct reads an act; nil, nil where the request is not one.
func fromAct(m *peerv1.ForwardRequest) (*offset.Act, error) {
	switch r := m.GetRequest().(type) {
	case *peerv1.ForwardRequest_Reset_:
		return wire.FromResetRequest(r.Reset_)
	case *peerv1.ForwardRequest_Remove:
		return wire.FromRemoveRequest(r.Remove)
	case *peerv1.ForwardRequest_Clone:
		return wire.FromCloneRequest(r.Clone)
	case *peerv1.ForwardRequest_Expire:
		return wire.FromExpireRequest(r.Expire)
	case *peerv1.ForwardRequest_Claim:
		return wire.FromClaimRequest(r.Claim)
	case *peerv1.ForwardRequest_Import:
		return wire.FromImportRequest(r.Import)
	}
	return nil, nil
}

func toStatus() *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_Status{Status: &tidemarkv1.StatusRequest{}}}
}

func toAddMember(id, address string) *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_AddMember{
		AddMember: &tidemarkv1.AddMemberRequest{Id: id, PeerAddress: address},
	}}
}

func toPromoteMember(id string) *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_PromoteMember{
		PromoteMember: &tidemarkv1.PromoteMemberRequest{Id: id},
	}}
}

func toRemoveMember(id string) *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_RemoveMember{
		RemoveMember: &tidemarkv1.RemoveMemberRequest{Id: id},
	}}
}

func toTransfer(to string) *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_Transfer{
		Transfer: &tidemarkv1.TransferRequest{To: to},
	}}
}

func toRaiseLevel(level uint8) *peerv1.ForwardRequest {
	return &peerv1.ForwardRequest{Request: &peerv1.ForwardRequest_RaiseLevel{
		RaiseLevel: &tidemarkv1.RaiseLevelRequest{Level: uint32(level)},
	}}
}

// principal reads the caller that a member forwards for.
func principal(m *peerv1.ForwardRequest) (auth.Principal, error) {
	for field, s := range map[string]string{"principal": m.GetPrincipal(), "from": m.GetFrom()} {
		if err := offset.ValidateName(field, s, true); err != nil {
			return auth.Principal{}, err
		}
	}
	return auth.Principal{Name: m.GetPrincipal(), From: m.GetFrom()}, nil
}

// serveForward has the handler answer a forwarded request.
func serveForward(ctx context.Context, h Handler, m *peerv1.ForwardRequest) (*peerv1.ForwardResponse, error) {
	p, err := principal(m)
	if err != nil {
		return nil, err
	}
	switch r := m.GetRequest().(type) {
	case *peerv1.ForwardRequest_Commit:
		return serveCommit(ctx, h, p, r.Commit)
	case *peerv1.ForwardRequest_Set:
		return serveSet(ctx, h, p, r.Set)
	case *peerv1.ForwardRequest_Status:
		s, err := h.Status(ctx, p)
		if err != nil {
			return nil, err
		}
		return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Status{Status: wire.ToStatusResponse(s)}}, nil
	case *peerv1.ForwardRequest_AddMember, *peerv1.ForwardRequest_PromoteMember, *peerv1.ForwardRequest_RemoveMember:
		return serveMember(ctx, h, p, m)
	case *peerv1.ForwardRequest_Transfer:
		return serveTransfer(ctx, h, p, r.Transfer)
	case *peerv1.ForwardRequest_RaiseLevel:
		return serveRaiseLevel(ctx, h, p, r.RaiseLevel)
	}
	a, err := fromAct(m)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, offset.Errorf(offset.ErrInvalid, "the forwarded request is of a kind that this version does not know")
	}
	res, meta, err := h.Act(ctx, p, a)
	if err != nil {
		return nil, err
	}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Act{Act: wire.ToActResponse(res, meta)}}, nil
}

func serveCommit(ctx context.Context, h Handler, p auth.Principal, m *tidemarkv1.CommitRequest) (*peerv1.ForwardResponse, error) {
	c, err := wire.FromCommitRequest(m)
	if err != nil {
		return nil, err
	}
	verdicts, meta, err := h.Commit(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Commit{Commit: wire.ToCommitResponse(c, verdicts, wire.ToMeta(meta))}}, nil
}

func serveSet(ctx context.Context, h Handler, p auth.Principal, m *tidemarkv1.SetRequest) (*peerv1.ForwardResponse, error) {
	s, err := wire.FromSetRequest(m)
	if err != nil {
		return nil, err
	}
	v, meta, err := h.Set(ctx, p, s)
	if err != nil {
		return nil, err
	}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Set{Set: wire.ToSetResponse(s.Key, v, meta)}}, nil
}

func serveMember(ctx context.Context, h Handler, p auth.Principal, m *peerv1.ForwardRequest) (*peerv1.ForwardResponse, error) {
	var id, addr string
	change := func(ctx context.Context, p auth.Principal, id string) (offset.Meta, error) {
		return h.AddMember(ctx, p, id, addr)
	}
	switch r := m.GetRequest().(type) {
	case *peerv1.ForwardRequest_AddMember:
		id, addr = r.AddMember.GetId(), r.AddMember.GetPeerAddress()
	case *peerv1.ForwardRequest_PromoteMember:
		id, change = r.PromoteMember.GetId(), h.PromoteMember
	case *peerv1.ForwardRequest_RemoveMember:
		id, change = r.RemoveMember.GetId(), h.RemoveMember
	}
	if err := wire.CheckMemberID("id", id); err != nil {
		return nil, err
	}
	if err := wire.CheckAddress("peer_address", addr); err != nil {
		return nil, err
	}
	meta, err := change(ctx, p, id)
	if err != nil {
		return nil, err
	}
	out := &tidemarkv1.MemberResponse{Meta: wire.ToMeta(meta)}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Member{Member: out}}, nil
}

func serveTransfer(ctx context.Context, h Handler, p auth.Principal, m *tidemarkv1.TransferRequest) (*peerv1.ForwardResponse, error) {
	if err := wire.CheckMemberID("to", m.GetTo()); err != nil {
		return nil, err
	}
	leader, meta, err := h.Transfer(ctx, p, m.GetTo())
	if err != nil {
		return nil, err
	}
	out := &tidemarkv1.TransferResponse{Meta: wire.ToMeta(meta), LeaderId: leader}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_Transfer{Transfer: out}}, nil
}

func serveRaiseLevel(ctx context.Context, h Handler, p auth.Principal, m *tidemarkv1.RaiseLevelRequest) (*peerv1.ForwardResponse, error) {
	level, err := wire.FromLevel("level", m.GetLevel())
	if err != nil {
		return nil, err
	}
	meta, err := h.RaiseLevel(ctx, p, level)
	if err != nil {
		return nil, err
	}
	out := &tidemarkv1.RaiseLevelResponse{Meta: wire.ToMeta(meta), Level: uint32(level)}
	return &peerv1.ForwardResponse{Response: &peerv1.ForwardResponse_RaiseLevel{RaiseLevel: out}}, nil
}
