package server

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// outflow is an answer of many messages under way, an export or a backup. It
// belongs to the goroutine of its handler.
type outflow struct {
	srv    *Server
	caller *caller
}

func (s *Server) outflow(ctx context.Context) outflow {
	return outflow{s, callerIn(ctx)}
}

// goesOn says why no further message is to be sent: the time is over, or the
// caller that receives them is no longer known.
func (o *outflow) goesOn(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return offset.Errorf(offset.ErrOutcomeUnknown, "the answer broke off, and is not whole: %v", err)
	}
	_, err := o.srv.principal(o.caller)
	return err
}

// flow serves a call that answers with many messages, of which m.serve returns
// the last, to be sent by end. Limits.Exports of them run at once.
func flow[Req, Res any](ctx context.Context, s *Server, m *method[Req, Res], req *Req, end func(*Res) error) error {
	if s.stopping() {
		return wire.ToConnectError(errStopping)
	}
	select {
	case s.exports <- struct{}{}:
		defer func() { <-s.exports }()
	default:
		s.counters.busy.Add(1)
		return wire.ToConnectError(offset.Errorf(offset.ErrBusy, "%d exports and backups are running on this node; try again later, or on another node", cap(s.exports)))
	}
	p, err := s.principal(callerIn(ctx))
	if err != nil {
		return wire.ToConnectError(err)
	}
	bounded, cancel := context.WithTimeout(ctx, m.wait(&s.limits, req))
	defer cancel()
	last, err := m.run(bounded, s, p, req)
	if err == nil {
		err = end(last)
	}
	if err != nil {
		return wire.ToConnectError(err)
	}
	return nil
}
