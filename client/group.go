package client

import (
	"context"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

func (c *Client) groups(addr string) tidemarkv1connect.GroupServiceClient {
	return tidemarkv1connect.NewGroupServiceClient(c.caller, c.set.scheme()+addr, callOptions()...)
}

// List gives one page, in a stable order; After gives the next one.
func (c *Client) List(ctx context.Context, l offset.List) (page offset.Page, err error) {
	t := trial{op: "list", kind: reading, subject: named(l.Group + l.Prefix)}
	c.began(&t)
	defer c.ended(&t, &err)
	if err := l.Validate(); err != nil {
		return offset.Page{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) error {
		addr := c.to("")
		a, err := once(ctx, c, addr, ms, c.groups(addr).List, wire.ToListRequest(&l, ms))
		if err != nil {
			return err
		}
		page, err = wire.FromListResponse(a)
		return c.answered(addr, page.Meta, err)
	})
	if err != nil {
		return offset.Page{}, err
	}
	return page, nil
}

// Claims gives the newest claim of one scope, none if it was never claimed, or
// that of each scope.
func (c *Client) Claims(ctx context.Context, q offset.Claims) (list []offset.Claim, meta offset.Meta, err error) {
	t := trial{op: "claims", kind: reading, subject: named(q.Name)}
	c.began(&t)
	defer c.ended(&t, &err)
	if err := q.Validate(); err != nil {
		return nil, offset.Meta{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) error {
		addr := c.to("")
		a, err := once(ctx, c, addr, ms, c.groups(addr).Claims, wire.ToClaimsRequest(&q, ms))
		if err != nil {
			return err
		}
		list, meta, err = wire.FromClaimsResponse(a)
		return c.answered(addr, meta, err)
	})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return list, meta, nil
}

// Act sends an act (an import: one step of it) and sends it again, with the
// same id and base, until its answer is known. A nil error: done (of an import
// step: taken). Else the error's sentinel is that of the result's code, not
// applied; offset.ErrOutcomeUnknown, also where the answer to a resend says too
// little: it may be done already or later, and the same act may be sent again.
func (c *Client) Act(ctx context.Context, a offset.Act) (result offset.ActResult, meta offset.Meta, err error) {
	t := trial{op: a.Kind(), kind: harmless, subject: named(actSubject(&a))}
	c.began(&t)
	defer c.ended(&t, &err)
	if err := a.Validate(); err != nil {
		return offset.ActResult{}, offset.Meta{}, c.fail(&t, err, nil)
	}
	err = c.retry(ctx, &t, func(ms uint32) error {
		addr := c.to("")
		m, err := c.sendAct(ctx, addr, &a, ms)
		if err != nil {
			return err
		}
		result, meta, err = wire.FromActResponse(m)
		return c.answered(addr, meta, err)
	})
	if err != nil {
		return offset.ActResult{}, offset.Meta{}, err
	}
	if result.Code == offset.CodeOK {
		return result, meta, nil
	}
	if t.unknown && (result.Code == offset.CodeTooOld || result.Code == offset.CodeNoImport) {
		// An earlier send may have been done, and its answer forgotten.
		return result, meta, c.fail(&t, result.Code.Err(), nil)
	}
	return result, meta, c.fail(&trial{op: t.op, subject: t.subject, sends: t.sends}, result.Code.Err(), nil)
}

// actSubject gives what an act is about.
func actSubject(a *offset.Act) string {
	switch {
	case a.Reset != nil && len(a.Reset.Targets) > 0:
		return a.Reset.Targets[0].Key.Group
	case a.Remove != nil && a.Remove.Scope.Group != "":
		return a.Remove.Scope.Group
	case a.Remove != nil:
		return a.Remove.Scope.Topic
	case a.Clone != nil:
		return a.Clone.To
	case a.Take != nil:
		return a.Take.Name
	case a.Import != nil:
		return a.Import.Group
	}
	return ""
}

func (c *Client) sendAct(ctx context.Context, addr string, a *offset.Act, ms uint32) (*tidemarkv1.ActResponse, error) {
	g := c.groups(addr)
	switch {
	case a.Reset != nil:
		return once(ctx, c, addr, ms, g.Reset, wire.ToResetRequest(a, ms))
	case a.Remove != nil:
		return once(ctx, c, addr, ms, g.Remove, wire.ToRemoveRequest(a, ms))
	case a.Clone != nil:
		return once(ctx, c, addr, ms, g.Clone, wire.ToCloneRequest(a, ms))
	case a.Expire != nil:
		return once(ctx, c, addr, ms, g.Expire, wire.ToExpireRequest(a, ms))
	case a.Take != nil:
		return once(ctx, c, addr, ms, g.Claim, wire.ToClaimRequest(a, ms))
	}
	return once(ctx, c, addr, ms, g.Import, wire.ToImportRequest(a, ms))
}

// Export yields all keys that l selects, from one root of the table, in pages
// of ascending order; where there are none, one page without keys, for its
// Meta. It ends with the first error of yield, as it is. It is tried again as
// long as no page was yielded; a stream that breaks off later is
// offset.ErrUnreachable, and what was yielded is then not all. Of l it takes
// Group, Topic, Broker and At; a filter that only List has is offset.ErrInvalid.
func (c *Client) Export(ctx context.Context, l offset.List, yield func(offset.Page) error) (err error) {
	t := trial{op: "export", kind: reading, whole: true, subject: named(l.Group)}
	c.began(&t)
	defer c.ended(&t, &err)
	if l.Prefix != "" || l.NewerThan != 0 || l.Pending || l.After != nil || l.Limit != 0 {
		return c.fail(&t, offset.Errorf(offset.ErrInvalid, "an export has no filter but group, topic and broker; for others, and for pages, use List"), nil)
	}
	return c.stream(ctx, "", &t, "keys", func(ms uint32, o *outflow) error {
		return c.export(ctx, wire.ToExportRequest(&l, ms), yield, o)
	})
}

// export reads one stream of pages.
func (c *Client) export(ctx context.Context, q *tidemarkv1.ExportRequest, yield func(offset.Page) error, o *outflow) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	addr := c.to("")
	s, err := c.groups(addr).Export(ctx, connect.NewRequest(q))
	if err != nil {
		return c.unaryError(addr, err)
	}
	defer s.Close()
	for s.Receive() {
		page, total, last, err := wire.FromExportResponse(s.Msg())
		if err != nil {
			return c.answered(addr, page.Meta, err)
		}
		o.came += uint64(len(page.Keys))
		if len(page.Keys) > 0 || last && total == 0 && o.came == 0 {
			o.begun = true
			if o.stopped = yield(page); o.stopped != nil {
				return nil
			}
		}
		if last {
			if total != o.came {
				return offset.Errorf(offset.ErrOutcomeUnknown, "%d keys came, and the server sent %d", o.came, total)
			}
			return nil
		}
	}
	if err := s.Err(); err != nil {
		return c.unaryError(addr, err)
	}
	return offset.Errorf(offset.ErrOutcomeUnknown, "the stream ended before its last message")
}
