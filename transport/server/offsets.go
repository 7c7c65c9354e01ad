package server

import (
	"context"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/auth"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// offsets serves OffsetService.
type offsets struct{ srv *Server }

var (
	commit = &method[tidemarkv1.CommitRequest, tidemarkv1.CommitResponse]{
		name: "commit", wait: byRequest[tidemarkv1.CommitRequest], serve: serveCommit,
		items: func(m *tidemarkv1.CommitRequest) (n int) {
			for _, t := range m.GetCommits() {
				n += len(t.GetQueueIds())
			}
			return n
		},
	}
	set = &method[tidemarkv1.SetRequest, tidemarkv1.SetResponse]{
		name: "set", wait: byRequest[tidemarkv1.SetRequest], serve: serveSet,
		items: one[tidemarkv1.SetRequest],
	}
	fetch = &method[tidemarkv1.FetchRequest, tidemarkv1.FetchResponse]{
		name: "fetch", wait: byRequest[tidemarkv1.FetchRequest], serve: serveFetch,
		items: func(m *tidemarkv1.FetchRequest) int { return len(m.GetKeys()) },
	}
)

// Commit serves a unary commit.
func (o offsets) Commit(ctx context.Context, r *connect.Request[tidemarkv1.CommitRequest]) (*connect.Response[tidemarkv1.CommitResponse], error) {
	return unary(ctx, o.srv, commit, r)
}

// Set serves a unary set.
func (o offsets) Set(ctx context.Context, r *connect.Request[tidemarkv1.SetRequest]) (*connect.Response[tidemarkv1.SetResponse], error) {
	return unary(ctx, o.srv, set, r)
}

// Fetch serves a unary fetch.
func (o offsets) Fetch(ctx context.Context, r *connect.Request[tidemarkv1.FetchRequest]) (*connect.Response[tidemarkv1.FetchResponse], error) {
	return unary(ctx, o.srv, fetch, r)
}

func serveCommit(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.CommitRequest) (*tidemarkv1.CommitResponse, error) {
	c, err := wire.FromCommitRequest(m)
	if err != nil {
		return nil, err
	}
	verdicts, meta, err := s.Commit(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return wire.ToCommitResponse(c, verdicts, wire.ToMeta(meta)), nil
}

func serveSet(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.SetRequest) (*tidemarkv1.SetResponse, error) {
	set, err := wire.FromSetRequest(m)
	if err != nil {
		return nil, err
	}
	verdict, meta, err := s.Set(ctx, p, set)
	if err != nil {
		return nil, err
	}
	return wire.ToSetResponse(set.Key, verdict, meta), nil
}

func serveFetch(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.FetchRequest) (*tidemarkv1.FetchResponse, error) {
	f, err := wire.FromFetchRequest(m)
	if err != nil {
		return nil, err
	}
	states, meta, err := s.Fetch(ctx, p, f)
	if err != nil {
		return nil, err
	}
	return wire.ToFetchResponse(f.Keys, states, wire.ToMeta(meta)), nil
}
