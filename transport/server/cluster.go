package server

import (
	"context"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// cluster serves ClusterService. Its requests name no timeout: what changes
// the cluster may take Limits.MaxTimeout, a snapshot Limits.ExportTimeout, or
// less where the protocol's own header says so.
type cluster struct{ srv *Server }

func longest[Req any](l *Limits, _ *Req) time.Duration { return l.MaxTimeout }

func operation[Req, Res any](name string, serve func(context.Context, Service, auth.Principal, *Req) (*Res, error)) *method[Req, Res] {
	return &method[Req, Res]{name: name, wait: longest[Req], items: one[Req], serve: serve}
}

var (
	status       = &method[tidemarkv1.StatusRequest, tidemarkv1.StatusResponse]{name: "status", wait: byRequest[tidemarkv1.StatusRequest], items: one[tidemarkv1.StatusRequest], serve: serveStatus}
	addMember    = operation("addmember", serveAddMember)
	promote      = operation("promotemember", servePromoteMember)
	removeMember = operation("removemember", serveRemoveMember)
	transfer     = operation("transfer", serveTransfer)
	snapshot     = &method[tidemarkv1.SnapshotRequest, tidemarkv1.SnapshotResponse]{
		name: "snapshot", items: one[tidemarkv1.SnapshotRequest], serve: serveSnapshot,
		wait: func(l *Limits, _ *tidemarkv1.SnapshotRequest) time.Duration { return l.ExportTimeout },
	}
	raiseLevel = operation("raiselevel", serveRaiseLevel)
)

// Status reports how this node sees the cluster; it answers even where the node is not ready.
func (c cluster) Status(ctx context.Context, r *connect.Request[tidemarkv1.StatusRequest]) (*connect.Response[tidemarkv1.StatusResponse], error) {
	return unary(ctx, c.srv, status, r)
}

// AddMember adds a nonvoter.
func (c cluster) AddMember(ctx context.Context, r *connect.Request[tidemarkv1.AddMemberRequest]) (*connect.Response[tidemarkv1.MemberResponse], error) {
	return unary(ctx, c.srv, addMember, r)
}

// PromoteMember makes a nonvoter a voter.
func (c cluster) PromoteMember(ctx context.Context, r *connect.Request[tidemarkv1.PromoteMemberRequest]) (*connect.Response[tidemarkv1.MemberResponse], error) {
	return unary(ctx, c.srv, promote, r)
}

// RemoveMember takes a member out.
func (c cluster) RemoveMember(ctx context.Context, r *connect.Request[tidemarkv1.RemoveMemberRequest]) (*connect.Response[tidemarkv1.MemberResponse], error) {
	return unary(ctx, c.srv, removeMember, r)
}

// Transfer hands leadership over.
func (c cluster) Transfer(ctx context.Context, r *connect.Request[tidemarkv1.TransferRequest]) (*connect.Response[tidemarkv1.TransferResponse], error) {
	return unary(ctx, c.srv, transfer, r)
}

// Snapshot takes a snapshot on this node.
func (c cluster) Snapshot(ctx context.Context, r *connect.Request[tidemarkv1.SnapshotRequest]) (*connect.Response[tidemarkv1.SnapshotResponse], error) {
	return unary(ctx, c.srv, snapshot, r)
}

// RaiseLevel raises the format level.
func (c cluster) RaiseLevel(ctx context.Context, r *connect.Request[tidemarkv1.RaiseLevelRequest]) (*connect.Response[tidemarkv1.RaiseLevelResponse], error) {
	return unary(ctx, c.srv, raiseLevel, r)
}

func serveStatus(ctx context.Context, s Service, p auth.Principal, _ *tidemarkv1.StatusRequest) (*tidemarkv1.StatusResponse, error) {
	st, err := s.Status(ctx, p, false)
	if err != nil {
		return nil, err
	}
	return wire.ToStatusResponse(st), nil
}

func serveAddMember(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.AddMemberRequest) (*tidemarkv1.MemberResponse, error) {
	return member(s.AddMember(ctx, p, m.GetId(), m.GetPeerAddress()))
}

func servePromoteMember(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.PromoteMemberRequest) (*tidemarkv1.MemberResponse, error) {
	return member(s.PromoteMember(ctx, p, m.GetId()))
}

func serveRemoveMember(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.RemoveMemberRequest) (*tidemarkv1.MemberResponse, error) {
	return member(s.RemoveMember(ctx, p, m.GetId()))
}

func member(meta offset.Meta, err error) (*tidemarkv1.MemberResponse, error) {
	if err != nil {
		return nil, err
	}
	return &tidemarkv1.MemberResponse{Meta: wire.ToMeta(meta)}, nil
}

func serveTransfer(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.TransferRequest) (*tidemarkv1.TransferResponse, error) {
	leader, meta, err := s.Transfer(ctx, p, m.GetTo())
	if err != nil {
		return nil, err
	}
	return &tidemarkv1.TransferResponse{Meta: wire.ToMeta(meta), LeaderId: leader}, nil
}

func serveSnapshot(ctx context.Context, s Service, p auth.Principal, _ *tidemarkv1.SnapshotRequest) (*tidemarkv1.SnapshotResponse, error) {
	index, bytes, meta, err := s.Snapshot(ctx, p)
	if err != nil {
		return nil, err
	}
	return &tidemarkv1.SnapshotResponse{Meta: wire.ToMeta(meta), Index: index, Bytes: bytes}, nil
}

func serveRaiseLevel(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.RaiseLevelRequest) (*tidemarkv1.RaiseLevelResponse, error) {
	level, err := wire.FromLevel("level", m.GetLevel())
	if err != nil {
		return nil, err
	}
	meta, err := s.RaiseLevel(ctx, p, level)
	if err != nil {
		return nil, err
	}
	return &tidemarkv1.RaiseLevelResponse{Meta: wire.ToMeta(meta), Level: uint32(level)}, nil
}
