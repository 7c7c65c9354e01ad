package server

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Together is what a Service may have for calls that came in one message of a
// stream, so that they need no goroutine each. Its methods do for each request
// what Service.Commit and Service.Fetch do: they call answer once for each that
// they have an answer to, by its place in list, from their caller's goroutine,
// and return the places of the others, of which nothing was done; those go
// through the Service one by one.
type Together interface {
	CommitTogether(ctx context.Context, p auth.Principal, list []*offset.Commits, answer func(i int, verdicts []offset.Verdict, meta offset.Meta, err error)) (left []int)
	FetchTogether(ctx context.Context, p auth.Principal, list []*offset.Fetch, answer func(i int, states []offset.KeyState, meta offset.Meta, err error)) (left []int)
}

// joint is a kind of call that may be served together: how its requests are
// found and read, done, and answered.
type joint[Req, Q, A any] struct {
	name  string
	items func(*Req) int
	of    func(*tidemarkv1.Call) *Req
	read  func(*Req) (*Q, error)
	do    func(Together, context.Context, auth.Principal, []*Q, func(int, []A, offset.Meta, error)) []int
	fill  func(*tidemarkv1.Reply, *Q, []A, *tidemarkv1.Meta)
}

var (
	commits = &joint[tidemarkv1.CommitRequest, offset.Commits, offset.Verdict]{
		name: commit.name, items: commit.items, of: (*tidemarkv1.Call).GetCommit,
		read: wire.FromCommitRequest, do: Together.CommitTogether,
		fill: func(r *tidemarkv1.Reply, c *offset.Commits, verdicts []offset.Verdict, meta *tidemarkv1.Meta) {
			r.Reply = &tidemarkv1.Reply_Commit{Commit: wire.ToCommitResponse(c, verdicts, meta)}
		},
	}
	fetches = &joint[tidemarkv1.FetchRequest, offset.Fetch, offset.KeyState]{
		name: fetch.name, items: fetch.items, of: (*tidemarkv1.Call).GetFetch,
		read: wire.FromFetchRequest, do: Together.FetchTogether,
		fill: func(r *tidemarkv1.Reply, f *offset.Fetch, states []offset.KeyState, meta *tidemarkv1.Meta) {
			r.Reply = &tidemarkv1.Reply_Fetch{Fetch: wire.ToFetchResponse(f.Keys, states, meta)}
		},
	}
)

// startTogether serves calls of one kind, if there are any, in one goroutine;
// those that have to go their own way get one each.
func startTogether[Req, Q, A any](st *stream, kind *joint[Req, Q, A], calls []taken, p auth.Principal, d *sharedTimer) {
	if len(calls) == 0 {
		return
	}
	st.calls.Add(1)
	d.join()
	go func() {
		defer st.calls.Done()
		defer d.leave()
		s := sitting[Req, Q, A]{joint: kind, st: st, calls: calls, began: time.Now(), answered: make([]bool, len(calls))}
		for _, i := range s.serve(d.ctx, p) {
			st.start(calls[i], p, d)
		}
	}()
}

// sitting is the way of calls that are served together.
type sitting[Req, Q, A any] struct {
	*joint[Req, Q, A]
	st       *stream
	calls    []taken
	began    time.Time
	answered []bool
	// list is what the Service gets, at the place of each among the calls.
	list  []*Q
	at    []int
	metas wire.Metas
}

// serve answers what can be, and gives the places of the others.
func (s *sitting[Req, Q, A]) serve(ctx context.Context, p auth.Principal) (left []int) {
	defer func() {
		if v := recover(); v != nil {
			s.fail(s.st.srv.caught(s.name, v))
			left = nil
		}
	}()
	s.decode()
	left = s.do(s.st.srv.together, ctx, p, s.list, func(i int, answers []A, meta offset.Meta, err error) {
		if err != nil {
			s.refuse(s.at[i], err)
			return
		}
		m := &tidemarkv1.Reply{Id: s.calls[s.at[i]].call.GetId()}
		s.fill(m, s.list[i], answers, s.metas.To(meta))
		s.put(s.at[i], m, nil)
	})
	for i, l := range left {
		left[i] = s.at[l]
	}
	return left
}

// decode reads the calls; what cannot be read is refused.
func (s *sitting[Req, Q, A]) decode() {
	s.list, s.at = make([]*Q, 0, len(s.calls)), make([]int, 0, len(s.calls))
	for i := range s.calls {
		q, err := s.read(s.of(s.calls[i].call))
		if err != nil {
			s.refuse(i, err)
			continue
		}
		s.list, s.at = append(s.list, q), append(s.at, i)
	}
}

func (s *sitting[Req, Q, A]) refuse(i int, err error) {
	s.put(i, refusal(s.calls[i].call.GetId(), err), err)
}

func (s *sitting[Req, Q, A]) put(i int, m *tidemarkv1.Reply, err error) {
	s.answered[i] = true
	c := &s.calls[i]
	s.st.srv.cfg.Observe(Call{Method: s.name, Items: s.items(s.of(c.call)), Code: offset.CodeOf(err), Took: time.Since(s.began)})
	s.st.put(reply{message: m, taken: true, size: c.size})
}

// fail refuses what has no answer.
func (s *sitting[Req, Q, A]) fail(err error) {
	for i := range s.calls {
		if !s.answered[i] {
			s.refuse(i, err)
		}
	}
}
