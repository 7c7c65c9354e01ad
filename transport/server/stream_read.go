package server

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// read takes calls until the peer ends, the stream breaks or the writer is over.
func (st *stream) read() {
	defer func() {
		if v := recover(); v != nil {
			st.end(st.srv.caught("stream", v))
		}
	}()
	for {
		m, err := st.conduit.Receive()
		if err != nil && !errors.Is(err, offset.ErrBusy) {
			st.end(endOf(err, st.srv.limits.Message))
			return
		}
		st.hold.drop() // each call that is taken holds its own from now on
		if err := st.takeAll(m.GetCalls(), err); err != nil {
			st.end(err)
			return
		}
		if !st.waitForRoom() {
			st.end(context.Cause(st.ctx))
			return
		}
	}
}

func (st *stream) end(cause error) {
	st.mu.Lock()
	st.ended, st.cause = true, cause
	st.mu.Unlock()
	signal(st.wake)
}

// waitForRoom returns once few enough replies wait to be sent, false when the
// stream has ended. Taken calls are bounded already; this bounds refusals.
func (st *stream) waitForRoom() bool {
	for {
		st.mu.Lock()
		full := len(st.replies) > 2*st.srv.limits.CallsPerStream
		st.mu.Unlock()
		if !full {
			return st.ctx.Err() == nil
		}
		select {
		case <-st.room:
		case <-st.ctx.Done():
			return false
		}
	}
}

// takeAll takes the calls of one message, or refuses them if busy is not nil. Those
// in a row that name the same timeout, as nearly all do, have one deadline. The
// error ends the stream.
func (st *stream) takeAll(list []*tidemarkv1.Call, busy error) error {
	if most := st.srv.limits.callsPerMessage(); len(list) > most {
		return offset.Errorf(offset.ErrInvalid, "a message of the stream has %d calls; at most %d are taken, so split it", len(list), most)
	}
	p, err := st.caller.principal()
	if err != nil {
		st.deny(list, err)
		return st.crowded
	}
	if busy != nil {
		st.refuseAll(list, busy)
		return st.crowded
	}
	for len(list) > 0 {
		n := 1
		for n < len(list) && timeoutOf(list[n]) == timeoutOf(list[0]) {
			n++
		}
		d := newSharedTimer(st.ctx, st.srv.limits.timeout(timeoutOf(list[0]), st.srv.limits.Timeout))
		st.takeSome(list[:n], p, d)
		d.leave()
		list = list[n:]
	}
	return st.crowded
}

// deny answers calls of a caller that is not known, or no longer, or whose
// connection is one too many.
func (st *stream) deny(list []*tidemarkv1.Call, err error) {
	if st.caller.refusal == nil {
		for _, call := range list {
			st.srv.cfg.Denied(st.caller.from, callName(call), err)
		}
	}
	st.refuseAll(list, err)
}

// refuseAll answers calls none of which was taken.
func (st *stream) refuseAll(list []*tidemarkv1.Call, err error) {
	said := &tidemarkv1.Reply_Error{Error: wire.ToError(err)} // once for all
	for _, call := range list {
		st.putRefusal(&tidemarkv1.Reply{Id: call.GetId(), Reply: said}, err)
	}
}

// putRefusal hands the writer the answer to a call that was not taken, if there is
// room for it; else the stream ends with err. Otherwise peers that do not read would
// fill the memory with refusals.
func (st *stream) putRefusal(m *tidemarkv1.Reply, err error) {
	if st.crowded != nil {
		return
	}
	if !st.srv.admission.refusal() {
		st.crowded = err
		return
	}
	st.put(reply{message: m, size: refusalMemory})
}

// callName names the RPC that a call of a stream stands for.
func callName(call *tidemarkv1.Call) string {
	switch call.GetCall().(type) {
	case *tidemarkv1.Call_Commit:
		return "OffsetService/Commit"
	case *tidemarkv1.Call_Set:
		return "OffsetService/Set"
	case *tidemarkv1.Call_Fetch:
		return "OffsetService/Fetch"
	}
	return "OffsetService/Stream"
}

// timeoutOf gives what the request of a call names; it has only one of them.
func timeoutOf(call *tidemarkv1.Call) uint32 {
	return call.GetCommit().GetTimeoutMs() | call.GetSet().GetTimeoutMs() | call.GetFetch().GetTimeoutMs()
}

// taken is a call that was admitted, and what it holds of the bounds.
type taken struct {
	call *tidemarkv1.Call
	size int64
}

// takeSome starts calls of one deadline: the commits among them together, and the
// fetches, if the Service takes them so, and each of the others on its own.
func (st *stream) takeSome(list []*tidemarkv1.Call, p auth.Principal, d *sharedTimer) {
	var toCommit, toFetch []taken
	for _, call := range list {
		c, ok := st.take(call)
		switch {
		case !ok:
		case st.srv.together != nil && call.GetCommit() != nil:
			toCommit = append(toCommit, c)
		case st.srv.together != nil && call.GetFetch() != nil && call.GetFetch().GetLevel() == tidemarkv1.ReadLevel_READ_LEVEL_LINEARIZABLE:
			// A local read must not wait for a round, which there may be no leader for.
			toFetch = append(toFetch, c)
		default:
			st.start(c, p, d)
		}
	}
	startTogether(st, commits, toCommit, p, d)
	startTogether(st, fetches, toFetch, p, d)
}

// take admits a call, or refuses it at once.
func (st *stream) take(call *tidemarkv1.Call) (c taken, ok bool) {
	c = taken{call, weigh(call)}
	first, err := st.admit(c.size)
	switch {
	case err == errEnded:
		return c, false
	case err != nil:
		st.putRefusal(refusal(call.GetId(), err), err)
		return c, false
	case first:
		signal(st.wake) // from now on the peer gets signs of life
	}
	return c, true
}

// start serves a call in a goroutine of its own.
func (st *stream) start(c taken, p auth.Principal, d *sharedTimer) {
	st.calls.Add(1)
	d.join()
	go func() {
		defer st.calls.Done()
		defer d.leave()
		st.put(reply{message: st.srv.answer(d.ctx, p, c.call), taken: true, size: c.size})
	}()
}

// admit opens a call; first reports that no other was open.
func (st *stream) admit(size int64) (first bool, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.over:
		return false, errEnded
	case st.refusing != nil:
		return false, st.refusing
	case st.open >= st.srv.limits.CallsPerStream:
		st.srv.counters.busy.Add(1)
		return false, offset.Errorf(offset.ErrBusy, "%d calls of this stream are under way", st.open)
	}
	if err := st.srv.admission.take(size); err != nil {
		return false, err
	}
	st.open++
	return st.open == 1, nil
}

// put hands a reply to the writer.
func (st *stream) put(r reply) {
	st.mu.Lock()
	st.replies = append(st.replies, r)
	st.mu.Unlock()
	signal(st.wake)
}

// answer serves one call of a stream.
func (s *Server) answer(ctx context.Context, p auth.Principal, call *tidemarkv1.Call) (out *tidemarkv1.Reply) {
	defer func() {
		if v := recover(); v != nil { // method.run has caught those of the Service
			out = refusal(call.GetId(), s.caught("stream", v))
		}
	}()
	out = &tidemarkv1.Reply{Id: call.GetId()}
	var err error
	switch c := call.GetCall().(type) {
	case *tidemarkv1.Call_Commit:
		var res *tidemarkv1.CommitResponse
		res, err = commit.run(ctx, s, p, c.Commit)
		out.Reply = &tidemarkv1.Reply_Commit{Commit: res}
	case *tidemarkv1.Call_Set:
		var res *tidemarkv1.SetResponse
		res, err = set.run(ctx, s, p, c.Set)
		out.Reply = &tidemarkv1.Reply_Set{Set: res}
	case *tidemarkv1.Call_Fetch:
		var res *tidemarkv1.FetchResponse
		res, err = fetch.run(ctx, s, p, c.Fetch)
		out.Reply = &tidemarkv1.Reply_Fetch{Fetch: res}
	default:
		err = offset.Errorf(offset.ErrInvalid, "the call is empty, or of a kind that this version of the server does not know")
	}
	if err != nil {
		return refusal(call.GetId(), err)
	}
	return out
}

func refusal(id uint64, err error) *tidemarkv1.Reply {
	return &tidemarkv1.Reply{Id: id, Reply: &tidemarkv1.Reply_Error{Error: wire.ToError(err)}}
}
