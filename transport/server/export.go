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

// Export streams the keys of a filter. The last message says how many there
// were; it is the only one of an export that selects nothing.
func (g groups) Export(ctx context.Context, r *connect.Request[tidemarkv1.ExportRequest], out *connect.ServerStream[tidemarkv1.ExportResponse]) error {
	e := &export{outflow: g.srv.outflow(ctx), out: out}
	m := &method[tidemarkv1.ExportRequest, tidemarkv1.ExportResponse]{
		name: "export", wait: exportWait, items: func(*tidemarkv1.ExportRequest) int { return int(e.total) },
		serve: e.serve,
	}
	return flow(ctx, g.srv, m, r.Msg, e.out.Send)
}

func exportWait(l *Limits, m *tidemarkv1.ExportRequest) time.Duration {
	return l.timeout(m.GetTimeoutMs(), l.ExportTimeout)
}

// export is one under way. It belongs to the goroutine of its handler.
type export struct {
	outflow
	out   *connect.ServerStream[tidemarkv1.ExportResponse]
	total uint64
	meta  offset.Meta
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
		if err := e.goesOn(ctx); err != nil {
			return err
		}
		n := min(len(rows), exportRows)
		if err := e.out.Send(wire.ToExportResponse(offset.Page{Meta: page.Meta, Keys: rows[:n]})); err != nil {
			return err
		}
		e.total += uint64(n)
		rows = rows[n:]
	}
	return nil
}
