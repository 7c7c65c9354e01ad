package server

import (
	"context"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// method is an RPC as this package serves it, unary or as a call on a stream.
type method[Req, Res any] struct {
	// name is one of Methods.
	name string
	// wait gives how long the call may take.
	wait func(l *Limits, m *Req) time.Duration
	// items counts the keys or commits of a request.
	items func(m *Req) int
	// serve converts, calls the Service and converts back.
	serve func(ctx context.Context, s Service, p auth.Principal, m *Req) (*Res, error)
}

// run serves one call that was admitted, within the deadline of ctx: it catches
// its panics and reports it to the observer.
func (m *method[Req, Res]) run(ctx context.Context, s *Server, p auth.Principal, req *Req) (res *Res, err error) {
	start := time.Now()
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, s.caught(m.name, v)
		}
		s.cfg.Observe(Call{Method: m.name, Items: m.items(req), Code: offset.CodeOf(err), Took: time.Since(start)})
	}()
	return m.serve(ctx, s.service, p, req)
}

// unary serves a unary RPC: admission, the principal, the call, the error.
func unary[Req, Res any](ctx context.Context, s *Server, m *method[Req, Res], r *connect.Request[Req]) (*connect.Response[Res], error) {
	if s.stopping() {
		return nil, wire.ToConnectError(errStopping)
	}
	if err := holdOf(ctx).call(weigh(r.Msg)); err != nil { // given back once the answer is written
		return nil, wire.ToConnectError(err)
	}
	p, err := s.principal(callerIn(ctx))
	if err != nil { // it changed since the request began
		return nil, wire.ToConnectError(err)
	}
	ctx, cancel := context.WithTimeout(ctx, within(ctx, m.wait(&s.limits, r.Msg)))
	defer cancel()
	res, err := m.run(ctx, s, p, r.Msg)
	if err != nil {
		return nil, wire.ToConnectError(err)
	}
	return connect.NewResponse(res), nil
}

// margin is how much less time a call gets than the protocol's own header says, a
// tenth at most, so that the answer comes before its caller has given up: an outcome
// that the caller would take for unknown may be known.
const margin = 50 * time.Millisecond

// within gives how long a call may take: wait, or what the deadline of ctx
// leaves, if that is less.
func within(ctx context.Context, wait time.Duration) time.Duration {
	at, ok := ctx.Deadline()
	if !ok {
		return wait
	}
	left := time.Until(at)
	return min(wait, left-min(left/10, margin))
}

// errStopping answers what comes after Shutdown began.
var errStopping = offset.Errorf(offset.ErrNotReady, "this node is stopping; send the request to another one")

func sizeOf(m any) int64 {
	pm, ok := m.(proto.Message)
	if !ok {
		return 0
	}
	return int64(proto.Size(pm))
}

// timed is a request that names its own timeout.
type timed interface{ GetTimeoutMs() uint32 }

// byRequest gives the wait that a request names, or the default.
func byRequest[Req any](l *Limits, m *Req) time.Duration {
	t, ok := any(m).(timed)
	if !ok {
		return l.Timeout
	}
	return l.timeout(t.GetTimeoutMs(), l.Timeout)
}

// byAct is byRequest for what carries it in the header of an act.
func byAct[Req any](l *Limits, m *Req) time.Duration {
	a, ok := any(m).(headed)
	if !ok {
		return l.Timeout
	}
	return l.timeout(a.GetAct().GetTimeoutMs(), l.Timeout)
}

func one[Req any](*Req) int { return 1 }
