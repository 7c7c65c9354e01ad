package server

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// joint is a fake that takes commits together. Of queue apart it does nothing,
// so that they go through Commit; at queue fatal it panics.
type joint struct {
	*fake
	sizes []int // of each list that came
}

const (
	apart int32 = 1000 + iota
	fatal
)

func (j *joint) CommitTogether(ctx context.Context, p auth.Principal, list []*offset.Commits, answer func(int, []offset.Verdict, offset.Meta, error)) (left []int) {
	j.sizes = append(j.sizes, len(list))
	for i, c := range list {
		switch c.Topics[0].Queues[0].QueueID {
		case apart:
			left = append(left, i)
			continue
		case fatal:
			panic("on purpose")
		}
		verdicts, meta, err := j.Commit(ctx, p, c)
		answer(i, verdicts, meta, err)
	}
	return left
}

// replies takes the answers to n calls, by id; each comes once.
func replies(t *testing.T, p *pipe, n int) map[uint64]*tidemarkv1.Reply {
	t.Helper()
	got := map[uint64]*tidemarkv1.Reply{}
	for len(got) < n {
		for _, r := range (<-p.out).Replies {
			if got[r.Id] != nil {
				t.Fatalf("call %d is answered twice", r.Id)
			}
			got[r.Id] = r
		}
	}
	return got
}

// TestCommitsOfAMessageAreServedTogether: one list of them, each with its own
// answer; what does not belong there goes its own way.
func TestCommitsOfAMessageAreServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, p := &joint{fake: newFake()}, newPipe(16)
		var observed []Call
		s := New(Config{Service: j, Observe: func(c Call) { j.mu.Lock(); observed = append(observed, c); j.mu.Unlock() }})
		done := serveOn(t.Context(), s, p)

		unreadable, stale, late := commitOf("g", 3, 1), commitOf("g", 4, 1), commitOf("g", 6, 60)
		unreadable.Commits[0].Offsets = nil
		stale.Commits[0].Epochs[0] = 7
		late.TimeoutMs = 9000 // a deadline, and so a list, of its own
		p.in <- calls(commitCall(1, commitOf("g", 1, 10)), fetchCall(2), commitCall(3, unreadable), commitCall(4, stale),
			commitCall(5, commitOf("g", apart, 50)), commitCall(6, late))
		got := replies(t, p, 6)
		for id, want := range map[uint64]int64{1: 10, 5: 50, 6: 60} {
			if o := got[id].GetCommit().GetOffsets(); len(o) != 1 || o[0] != want {
				t.Errorf("call %d: %v, want %d", id, got[id], want)
			}
		}
		if got[2].GetFetch() == nil || offset.Code(got[3].GetError().GetCode()) != offset.CodeInvalid {
			t.Errorf("the fetch: %v; what cannot be read: %v", got[2], got[3])
		}
		if r := got[4].GetCommit().GetRefused(); len(r) != 1 || offset.Code(r[0].Code) != offset.CodeFenced {
			t.Errorf("an old epoch: %v", got[4])
		}
		if got := got[6].GetCommit().GetMeta().GetIndex(); got == 0 {
			t.Error("an answer without its index")
		}
		synctest.Wait()
		if len(j.sizes) != 2 || j.sizes[0]+j.sizes[1] != 4 {
			t.Errorf("lists of %v, want 3 and 1", j.sizes)
		}
		if len(observed) != 6 {
			t.Errorf("%d calls observed: %v", len(observed), observed)
		}
		if n := s.admission.inFlight.Load(); n != 0 {
			t.Errorf("%d calls hold their place", n)
		}
		close(p.in)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestAPanicAmongCommitsServedTogether ends none of those that were answered,
// and leaves none without an answer.
func TestAPanicAmongCommitsServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, p := &joint{fake: newFake()}, newPipe(16)
		done := serveOn(t.Context(), New(Config{Service: j}), p)
		p.in <- calls(commitCall(1, commitOf("g", 1, 10)), commitCall(2, commitOf("g", apart, 1)), commitCall(3, commitOf("g", fatal, 1)), commitCall(4, commitOf("g", 4, 1)))
		got := replies(t, p, 4)
		if got[1].GetCommit() == nil {
			t.Errorf("what was answered before: %v", got[1])
		}
		for id := uint64(2); id <= 4; id++ {
			if offset.Code(got[id].GetError().GetCode()) != offset.CodeOutcomeUnknown {
				t.Errorf("call %d: %v, want an unknown outcome", id, got[id])
			}
		}
		close(p.in)
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
