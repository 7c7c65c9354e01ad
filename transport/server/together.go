package server

import (
	"context"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Together is what a Service may have for commits that came in one message of a
// stream, so that they need no goroutine each. It does for each what
// Service.Commit does: it calls answer once for each request that it has an
// answer to, by its place in list, from its caller's goroutine, and returns the
// places of the others, of which nothing was done; Service.Commit gets those.
type Together interface {
	CommitTogether(ctx context.Context, p auth.Principal, list []*offset.Commits, answer func(i int, verdicts []offset.Verdict, meta offset.Meta, err error)) (left []int)
}

// startTogether serves commits in one goroutine; those that have to go their own
// way get one each.
func (st *stream) startTogether(commits []taken, p auth.Principal, d *deadline) {
	st.calls.Add(1)
	d.join()
	go func() {
		defer st.calls.Done()
		defer d.leave()
		s := sitting{st: st, calls: commits, began: time.Now(), answered: make([]bool, len(commits))}
		for _, i := range s.serve(d.ctx, p) {
			st.start(commits[i], p, d)
		}
	}()
}

// sitting is the way of commits that are served together.
type sitting struct {
	st       *stream
	calls    []taken
	began    time.Time
	answered []bool
	// list is what the Service gets, each with its place among the calls.
	list  []*offset.Commits
	at    []int
	metas wire.Metas
}

// serve answers what can be, and gives the places of the others.
func (s *sitting) serve(ctx context.Context, p auth.Principal) (left []int) {
	defer func() {
		if v := recover(); v != nil {
			s.fail(s.st.srv.caught(commit.name, v))
			left = nil
		}
	}()
	s.read()
	left = s.st.srv.together.CommitTogether(ctx, p, s.list, func(i int, verdicts []offset.Verdict, meta offset.Meta, err error) {
		if err != nil {
			s.refuse(s.at[i], err)
			return
		}
		s.answer(s.at[i], wire.ToCommitResponse(s.list[i], verdicts, s.metas.To(meta)))
	})
	for i, l := range left {
		left[i] = s.at[l]
	}
	return left
}

// read decodes the calls; what cannot be read is refused.
func (s *sitting) read() {
	s.list, s.at = make([]*offset.Commits, 0, len(s.calls)), make([]int, 0, len(s.calls))
	for i := range s.calls {
		c, err := wire.FromCommitRequest(s.calls[i].call.GetCommit())
		if err != nil {
			s.refuse(i, err)
			continue
		}
		s.list, s.at = append(s.list, c), append(s.at, i)
	}
}

func (s *sitting) answer(i int, m *tidemarkv1.CommitResponse) {
	s.put(i, &tidemarkv1.Reply{Id: s.calls[i].call.GetId(), Reply: &tidemarkv1.Reply_Commit{Commit: m}}, nil)
}

func (s *sitting) refuse(i int, err error) {
	s.put(i, refusal(s.calls[i].call.GetId(), err), err)
}

func (s *sitting) put(i int, m *tidemarkv1.Reply, err error) {
	s.answered[i] = true
	c := &s.calls[i]
	s.st.srv.cfg.Observe(Call{Method: commit.name, Items: commit.items(c.call.GetCommit()), Code: offset.CodeOf(err), Took: time.Since(s.began)})
	s.st.put(reply{message: m, taken: true, size: c.size})
}

// fail refuses what has no answer.
func (s *sitting) fail(err error) {
	for i := range s.calls {
		if !s.answered[i] {
			s.refuse(i, err)
		}
	}
}
