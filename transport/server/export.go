package server

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// exportRows is how many keys one message of an export carries.
const exportRows = 1000

// Export streams the keys of a filter. The last message tells how many there
// were; it is the only one of an export that selects nothing.
func (g groups) Export(ctx context.Context, r *connect.Request[tidemarkv1.ExportRequest], out *connect.ServerStream[tidemarkv1.ExportResponse]) error {
	s := g.srv
	if s.stopping() {
		return wire.ToConnectError(errStopping)
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		s.counters.busy.Add(1)
		return wire.ToConnectError(offset.Errorf(offset.ErrBusy, "%d exports are running on this node; try again later, or on another node", cap(s.exports)))
	}
	e := &export{srv: s, ctx: ctx, caller: callerIn(ctx), out: out, deadlines: deadlinesOf(ctx)}
	m := &method[tidemarkv1.ExportRequest, tidemarkv1.ExportResponse]{
		name: "export", wait: exportWait, items: func(*tidemarkv1.ExportRequest) int { return int(e.total) },
		serve: e.serve,
	}
	p, err := s.principal(e.caller)
	if err != nil {
		return wire.ToConnectError(err)
	}
	bounded, cancel := context.WithTimeout(ctx, m.wait(&s.limits, r.Msg))
	defer cancel()
	last, err := m.run(bounded, s, p, r.Msg)
	if err == nil {
		err = e.send(last)
	}
	if err != nil {
		return wire.ToConnectError(err)
	}
	return nil
}

func exportWait(l *Limits, m *tidemarkv1.ExportRequest) time.Duration {
	return l.timeout(m.GetTimeoutMs(), l.ExportTimeout)
}

// export is one under way. It belongs to the goroutine of its handler.
type export struct {
	srv       *Server
	ctx       context.Context
	caller    *caller
	out       *connect.ServerStream[tidemarkv1.ExportResponse]
	deadlines *deadlines
	total     uint64
	meta      offset.Meta
}

// serve sends all pages and returns the message that ends the export.
func (e *export) serve(ctx context.Context, s Service, p auth.Principal, m *tidemarkv1.ExportRequest) (*tidemarkv1.ExportResponse, error) {
	l, err := wire.FromExportRequest(m)
	if err != nil {
		return nil, err
	}
	if err := s.Export(ctx, p, l, func(page offset.Page) error { return e.page(ctx, page) }); err != nil {
		return nil, err
	}
	last := wire.ToExportResponse(offset.Page{Meta: e.meta})
	last.Total = proto.Uint64(e.total)
	return last, nil
}

func (e *export) page(ctx context.Context, page offset.Page) error {
	e.meta = page.Meta
	for rows := page.Keys; len(rows) > 0; {
		if err := ctx.Err(); err != nil {
			return offset.Errorf(offset.ErrOutcomeUnknown, "the export broke off after %d keys: %v", e.total, err)
		}
		if _, err := e.srv.principal(e.caller); err != nil { // its token was taken back meanwhile
			return err
		}
		n := min(len(rows), exportRows)
		if err := e.send(wire.ToExportResponse(offset.Page{Meta: page.Meta, Keys: rows[:n]})); err != nil {
			return err
		}
		e.total += uint64(n)
		rows = rows[n:]
	}
	return nil
}

// send gives one message to the peer, which is cut off if it does not read.
func (e *export) send(m *tidemarkv1.ExportResponse) error {
	e.deadlines.write(e.srv.limits.Stall)
	return e.out.Send(m)
}
