package arena

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/api/tidemark/v1/tidemarkv1connect"
	"github.com/tidemark-mq/tidemark/transport/conn"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// wired is a node asked over its API: commits, Sets and fetches through the
// stream, all else by calls of their own. What fails is not sent again here;
// net/http may do so where it knows that nothing had been written.
type wired struct {
	addr string
	dial func(ctx context.Context, addr string) (net.Conn, error)
	http *http.Client

	mu   sync.Mutex
	conn *conn.Conn // guarded by mu; nil if there is none
}

// newWired returns the node at addr, reached by dial (nil: TCP).
func newWired(addr string, dial func(ctx context.Context, addr string) (net.Conn, error)) *wired {
	if dial == nil {
		dial = func(ctx context.Context, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		}
	}
	t := &http.Transport{Protocols: new(http.Protocols), DisableCompression: true}
	t.Protocols.SetUnencryptedHTTP2(true)
	t.DialContext = func(ctx context.Context, _, addr string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		nc, err := dial(ctx, addr)
		if err != nil {
			return nil, &notSent{err}
		}
		return nc, nil
	}
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Second, PingTimeout: time.Second}
	return &wired{addr: addr, dial: dial, http: &http.Client{Transport: t}}
}

// close ends the connections.
func (w *wired) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil {
		_ = w.conn.Close() // it may have ended by itself
		w.conn = nil
	}
	w.http.CloseIdleConnections()
}

// stream is the connection that there is, or a new one. The error says that
// nothing was sent.
func (w *wired) stream(ctx context.Context) (*conn.Conn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conn != nil && w.conn.Err() == nil {
		return w.conn, nil
	}
	if w.conn != nil {
		_ = w.conn.Close() // what was sent there has been answered, or is unknown
		w.conn = nil
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	cn, err := conn.Dial(ctx, conn.Config{Addr: w.addr, Dialer: w.dial})
	if err != nil {
		return nil, &notSent{err}
	}
	w.conn = cn
	return cn, nil
}

// notSent is a call that never was on its way.
type notSent struct{ cause error }

func (e *notSent) Error() string { return "not sent: " + e.cause.Error() }
func (e *notSent) Unwrap() error { return offset.ErrUnreachable }

// outcome reads what a call failed with on this side.
func outcome(err error) error {
	if e := (*notSent)(nil); errors.As(err, &e) {
		return e
	}
	if e := (*conn.Error)(nil); errors.As(err, &e) {
		if !e.Sent {
			return &notSent{e.Cause}
		}
		return e
	}
	return wire.FromConnectError(err)
}

func (w *wired) do(ctx context.Context, m *tidemarkv1.Call) (*tidemarkv1.Reply, error) {
	cn, err := w.stream(ctx)
	if err != nil {
		return nil, err
	}
	r, err := cn.Do(ctx, m)
	if err != nil {
		return nil, outcome(err)
	}
	return r, wire.FromError(r.GetError())
}

// lateness is how much longer a caller waits than it says, so that it hears what
// became of what was not done in time.
const lateness = 50 * time.Millisecond

// left is what remains of ctx in milliseconds, for the server to know.
func left(ctx context.Context) uint32 {
	end, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	said := time.Until(end) - lateness
	if d, ok := ctx.Value(hurried{}).(time.Duration); ok {
		said = min(said, d)
	}
	return uint32(max(said.Milliseconds(), 1))
}

func (w *wired) Commit(ctx context.Context, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	r, err := w.do(ctx, &tidemarkv1.Call{Call: &tidemarkv1.Call_Commit{Commit: wire.ToCommitRequest(c, left(ctx))}})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return wire.FromCommitResponse(r.GetCommit(), c.Count())
}

func (w *wired) Set(ctx context.Context, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	r, err := w.do(ctx, &tidemarkv1.Call{Call: &tidemarkv1.Call_Set{Set: wire.ToSetRequest(s, left(ctx))}})
	if err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	return wire.FromSetResponse(r.GetSet())
}

func (w *wired) Fetch(ctx context.Context, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error) {
	r, err := w.do(ctx, &tidemarkv1.Call{Call: &tidemarkv1.Call_Fetch{Fetch: wire.ToFetchRequest(f, left(ctx))}})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return wire.FromFetchResponse(r.GetFetch(), len(f.Keys))
}

// call makes one unary call and reads its answer.
func call[Q, A any, R any](ctx context.Context, send func(context.Context, *connect.Request[Q]) (*connect.Response[A], error), q *Q, read func(*A) (R, error)) (R, error) {
	a, err := send(ctx, connect.NewRequest(q))
	if err != nil {
		var none R
		return none, outcome(err)
	}
	return read(a.Msg)
}

func (w *wired) groups() tidemarkv1connect.GroupServiceClient {
	return tidemarkv1connect.NewGroupServiceClient(w.http, "http://"+w.addr)
}

func (w *wired) cluster() tidemarkv1connect.ClusterServiceClient {
	return tidemarkv1connect.NewClusterServiceClient(w.http, "http://"+w.addr)
}

// acted is the answer to an act.
type acted struct {
	result offset.ActResult
	meta   offset.Meta
}

func readAct(m *tidemarkv1.ActResponse) (acted, error) {
	r, meta, err := wire.FromActResponse(m)
	return acted{r, meta}, err
}

func (w *wired) Act(ctx context.Context, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	g, ms := w.groups(), left(ctx)
	var x acted
	var err error
	switch {
	case a.Reset != nil:
		x, err = call(ctx, g.Reset, wire.ToResetRequest(a, ms), readAct)
	case a.Remove != nil:
		x, err = call(ctx, g.Remove, wire.ToRemoveRequest(a, ms), readAct)
	case a.Clone != nil:
		x, err = call(ctx, g.Clone, wire.ToCloneRequest(a, ms), readAct)
	case a.Expire != nil:
		x, err = call(ctx, g.Expire, wire.ToExpireRequest(a, ms), readAct)
	case a.Take != nil:
		x, err = call(ctx, g.Claim, wire.ToClaimRequest(a, ms), readAct)
	default:
		x, err = call(ctx, g.Import, wire.ToImportRequest(a, ms), readAct)
	}
	return x.result, x.meta, err
}

func (w *wired) List(ctx context.Context, l *offset.List) (offset.Page, error) {
	return call(ctx, w.groups().List, wire.ToListRequest(l, left(ctx)), wire.FromListResponse)
}

func (w *wired) Status(ctx context.Context) (offset.Status, error) {
	return call(ctx, w.cluster().Status, &tidemarkv1.StatusRequest{}, wire.FromStatusResponse)
}

func (w *wired) AddMember(ctx context.Context, id, address string) error {
	_, err := call(ctx, w.cluster().AddMember, &tidemarkv1.AddMemberRequest{Id: id, PeerAddress: address}, nothing)
	return err
}

func (w *wired) PromoteMember(ctx context.Context, id string) error {
	_, err := call(ctx, w.cluster().PromoteMember, &tidemarkv1.PromoteMemberRequest{Id: id}, nothing)
	return err
}

func (w *wired) RemoveMember(ctx context.Context, id string) error {
	_, err := call(ctx, w.cluster().RemoveMember, &tidemarkv1.RemoveMemberRequest{Id: id}, nothing)
	return err
}

func nothing(*tidemarkv1.MemberResponse) (struct{}, error) { return struct{}{}, nil }

func (w *wired) Transfer(ctx context.Context, to string) (string, error) {
	return call(ctx, w.cluster().Transfer, &tidemarkv1.TransferRequest{To: to},
		func(m *tidemarkv1.TransferResponse) (string, error) { return m.GetLeaderId(), nil })
}

func (w *wired) Snapshot(ctx context.Context) (uint64, error) {
	return call(ctx, w.cluster().Snapshot, &tidemarkv1.SnapshotRequest{},
		func(m *tidemarkv1.SnapshotResponse) (uint64, error) { return m.GetIndex(), nil })
}
