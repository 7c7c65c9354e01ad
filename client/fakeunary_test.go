package client

import (
	"context"
	"errors"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

var errCut = errors.New("cut")

// unary runs one unary call of a kind through the script.
func unary[A any](ctx context.Context, n *fakeNode, kind string, apply func() (*A, error)) (*connect.Response[A], error) {
	f, err := n.c.came(n, kind)
	switch f {
	case refuse:
		return nil, wire.ToConnectError(err)
	case lose:
		<-ctx.Done()
		return nil, ctx.Err()
	case cut:
		n.c.kill(n.addr)
		return nil, errCut
	}
	a, err := apply()
	switch {
	case f == loseAnswer:
		<-ctx.Done()
		return nil, ctx.Err()
	case f == cutAfter:
		n.c.kill(n.addr)
		return nil, errCut
	case err != nil:
		return nil, wire.ToConnectError(err)
	}
	return connect.NewResponse(a), nil
}

// act remembers the answer to each id.
func (c *fakeCluster) act(a *offset.Act, do func() offset.ActResult) *tidemarkv1.ActResponse {
	c.mu.Lock()
	r, known := c.acts[a.ID]
	leader := c.leader
	c.mu.Unlock()
	if !known {
		r = do()
		c.mu.Lock()
		c.acts[a.ID] = r
		c.mu.Unlock()
	}
	return wire.ToActResponse(r, c.state.meta(leader))
}

// Reset sets each target.
func (n *fakeNode) Reset(ctx context.Context, q *connect.Request[tidemarkv1.ResetRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, n, "reset", func() (*tidemarkv1.ActResponse, error) {
		a, err := wire.FromResetRequest(q.Msg)
		if err != nil {
			return nil, err
		}
		return n.c.act(a, func() offset.ActResult {
			for _, t := range a.Reset.Targets {
				n.c.state.reset(t.Key, t.Offset)
			}
			return offset.ActResult{Done: true, Changed: uint64(len(a.Reset.Targets)), Index: n.c.state.meta("").Index}
		}), nil
	})
}

// Remove answers what the script's error says, as a code of the act.
func (n *fakeNode) Remove(ctx context.Context, q *connect.Request[tidemarkv1.RemoveRequest]) (*connect.Response[tidemarkv1.ActResponse], error) {
	return unary(ctx, n, "remove", func() (*tidemarkv1.ActResponse, error) {
		return wire.ToActResponse(offset.ActResult{Code: offset.CodeTooOld}, n.c.state.meta(n.c.leads())), nil
	})
}

// List names the groups.
func (n *fakeNode) List(ctx context.Context, _ *connect.Request[tidemarkv1.ListRequest]) (*connect.Response[tidemarkv1.ListResponse], error) {
	return unary(ctx, n, "list", func() (*tidemarkv1.ListResponse, error) {
		return wire.ToListResponse(offset.Page{Meta: n.c.state.meta(n.c.leads()), Names: []string{"billing"}}), nil
	})
}

// Export sends three pages of one key; it breaks off after the first if the
// script says cut, sends nothing more if it says lose, and counts one key more
// if it says loseAnswer.
func (n *fakeNode) Export(ctx context.Context, _ *connect.Request[tidemarkv1.ExportRequest], s *connect.ServerStream[tidemarkv1.ExportResponse]) error {
	f, err := n.c.came(n, "export")
	if f == refuse {
		return wire.ToConnectError(err)
	}
	for i := range int32(3) {
		k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: i}}
		row := offset.KeyedState{Key: k, KeyState: offset.KeyState{Exists: true, Position: offset.Position{Offset: int64(i)}}}
		if err := s.Send(wire.ToExportResponse(offset.Page{Meta: n.c.state.meta(n.c.leads()), Keys: []offset.KeyedState{row}})); err != nil {
			return err
		}
		switch f {
		case cut:
			return nil
		case lose:
			<-ctx.Done()
			return ctx.Err()
		}
	}
	total := uint64(3)
	if f == loseAnswer {
		total++ // as if a page were lost
	}
	last := wire.ToExportResponse(offset.Page{Meta: n.c.state.meta(n.c.leads())})
	last.Total = &total
	return s.Send(last)
}

// Status names the node.
func (n *fakeNode) Status(ctx context.Context, _ *connect.Request[tidemarkv1.StatusRequest]) (*connect.Response[tidemarkv1.StatusResponse], error) {
	return unary(ctx, n, "status", func() (*tidemarkv1.StatusResponse, error) {
		return wire.ToStatusResponse(offset.Status{Meta: n.c.state.meta(n.c.leads()), NodeID: n.addr, State: "follower"}), nil
	})
}

// Transfer makes "b:1" the leader.
func (n *fakeNode) Transfer(ctx context.Context, q *connect.Request[tidemarkv1.TransferRequest]) (*connect.Response[tidemarkv1.TransferResponse], error) {
	return unary(ctx, n, "transfer", func() (*tidemarkv1.TransferResponse, error) {
		n.c.lead(q.Msg.GetTo())
		return &tidemarkv1.TransferResponse{Meta: wire.ToMeta(n.c.state.meta(q.Msg.GetTo())), LeaderId: q.Msg.GetTo()}, nil
	})
}
