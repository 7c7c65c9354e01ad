package server

import (
	"context"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// groups serves GroupService; its Export is in export.go.
type groups struct{ srv *Server }

// headed is a request for an act.
type headed interface{ GetAct() *tidemarkv1.ActHeader }

// act makes the method of one kind of act; read converts its request.
func act[Req any](name string, items func(*Req) int, read func(*Req) (*offset.Act, error)) *method[Req, tidemarkv1.ActResponse] {
	return &method[Req, tidemarkv1.ActResponse]{
		name: name, wait: byAct[Req], items: items,
		serve: func(ctx context.Context, s Service, p auth.Principal, m *Req) (*tidemarkv1.ActResponse, error) {
			a, err := read(m)
			if err != nil {
				return nil, err
			}
			result, meta, err := s.Act(ctx, p, a)
			if err != nil {
				return nil, err
			}
			return wire.ToActResponse(result, meta), nil
		},
	}
}

var (
	list = &method[tidemarkv1.ListRequest, tidemarkv1.ListResponse]{
		name: "list", wait: byRequest[tidemarkv1.ListRequest], serve: serveList,
		items: one[tidemarkv1.ListRequest],
	}
	claims = &method[tidemarkv1.ClaimsRequest, tidemarkv1.ClaimsResponse]{
		name: "claims", wait: byRequest[tidemarkv1.ClaimsRequest], serve: serveClaims,
		items: one[tidemarkv1.ClaimsRequest],
	}
	reset       = act("reset", func(m *tidemarkv1.ResetRequest) int { return len(m.GetTargets()) }, wire.FromResetRequest)
	remove      = act("remove", one, wire.FromRemoveRequest)
	clone       = act("clone", one, wire.FromCloneRequest)
	expire      = act("expire", func(m *tidemarkv1.ExpireRequest) int { return len(m.GetGroups()) }, wire.FromExpireRequest)
	claim       = act("claim", one, wire.FromClaimRequest)
	importChunk = act("import", func(m *tidemarkv1.ImportRequest) int { return len(m.GetTargets()) }, fromImport)
)

// fromImport reads a step of an import; the first one must name the content.
func fromImport(m *tidemarkv1.ImportRequest) (*offset.Act, error) {
	a, err := wire.FromImportRequest(m)
	if err == nil && a.Import.Step == offset.ImportBegin && a.Import.Hash == [32]byte{} {
		return nil, offset.Errorf(offset.ErrInvalid, "hash is missing; an import begins with the SHA-256 of its content, 64 hexadecimal digits, by which it is known again")
	}
	return a, err
}

// List serves one page.
func (g groups) List(ctx context.Context, r *connect.Request[tidemarkv1.ListRequest]) (*connect.Response[tidemarkv1.ListResponse], error) {
	return unary(ctx, g.srv, list, r)
}

// Claims serves the holders of claims.
func (g groups) Claims(ctx context.Context, r *connect.Request[tidemarkv1.ClaimsRequest]) (*connect.Response[tidemarkv1.ClaimsResponse], error) {
	return unary(ctx, g.srv, claims, r)
}

// Reset serves an act.
func (g groups) Reset(ctx context.Context, r *connect.Request[tidemarkv1.ResetRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, reset, r)
}

// Remove serves an act.
func (g groups) Remove(ctx context.Context, r *connect.Request[tidemarkv1.RemoveRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, remove, r)
}

// Clone serves an act.
func (g groups) Clone(ctx context.Context, r *connect.Request[tidemarkv1.CloneRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, clone, r)
}

// Expire serves an act.
func (g groups) Expire(ctx context.Context, r *connect.Request[tidemarkv1.ExpireRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, expire, r)
}

// Claim serves an act.
func (g groups) Claim(ctx context.Context, r *connect.Request[tidemarkv1.ClaimRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, claim, r)
}

// Import serves one step of an import.
func (g groups) Import(ctx context.Context, r *connect.Request[tidemarkv1.ImportRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, g.srv, importChunk, r)
}

func serveList(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.ListRequest) (*tidemarkv1.ListResponse, error) {
	l, err := wire.FromListRequest(m)
	if err != nil {
		return nil, err
	}
	page, err := s.List(ctx, p, l)
	if err != nil {
		return nil, err
	}
	return wire.ToListResponse(page), nil
}

func serveClaims(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.ClaimsRequest) (*tidemarkv1.ClaimsResponse, error) {
	c, err := wire.FromClaimsRequest(m)
	if err != nil {
		return nil, err
	}
	list, meta, err := s.Claims(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return wire.ToClaimsResponse(list, meta), nil
}
