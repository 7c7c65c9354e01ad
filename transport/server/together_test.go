package server

import (
	"context"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// sharing is a fake that takes calls together. Of queue apart it does nothing,
// so that they go through Commit; at queue fatal it panics.
type sharing struct {
	*fake
	sizes []int // of each list that came
}

const (
	apart int32 = 1000 + iota
	fatal
)

func (j *sharing) came(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sizes = append(j.sizes, n)
}

func (j *sharing) CommitTogether(ctx context.Context, p auth.Principal, list []*offset.Commits, answer func(int, []offset.Verdict, offset.Meta, error)) (left []int) {
	j.came(len(list))
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

func (j *sharing) FetchTogether(ctx context.Context, p auth.Principal, list []*offset.Fetch, answer func(int, []offset.KeyState, offset.Meta, error)) (left []int) {
	j.came(len(list))
	for i, f := range list {
		states, meta, err := j.Fetch(ctx, p, f)
		answer(i, states, meta, err)
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
		j, p := &sharing{fake: newFake()}, newPipe(16)
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
		slices.Sort(j.sizes)
		if !slices.Equal(j.sizes, []int{1, 1, 3}) {
			t.Errorf("lists of %v, want one of 3 commits, one of the late one, one of the fetch", j.sizes)
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

// TestFetchesOfAMessageAreServedTogether: those of another level go their own way.
func TestFetchesOfAMessageAreServedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, p := &sharing{fake: newFake()}, newPipe(16)
		j.fill(3)
		done := serveOn(t.Context(), New(Config{Service: j}), p)
		read := func(id uint64, queue int32, level tidemarkv1.ReadLevel) *tidemarkv1.Call {
			k := &tidemarkv1.Key{Group: "g", Topic: "t", QueueId: queue}
			return &tidemarkv1.Call{Id: id, Call: &tidemarkv1.Call_Fetch{Fetch: &tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{k}, Level: level}}}
		}
		nothing := &tidemarkv1.Call{Id: 5, Call: &tidemarkv1.Call_Fetch{Fetch: &tidemarkv1.FetchRequest{Keys: []*tidemarkv1.Key{nil}}}}
		p.in <- calls(read(1, 0, 0), read(2, 1, 0), read(3, 2, tidemarkv1.ReadLevel_READ_LEVEL_LOCAL), read(4, 9, 0), nothing)
		got := replies(t, p, 5)
		for id, want := range map[uint64]int64{1: math.MaxInt64, 2: math.MaxInt64 - 1, 3: math.MaxInt64 - 2} {
			if s := got[id].GetFetch().GetStates(); len(s) != 1 || s[0].Position.Offset != want {
				t.Errorf("call %d: %v, want %d", id, got[id], want)
			}
		}
		if s := got[4].GetFetch().GetStates(); len(s) != 1 || s[0].Exists {
			t.Errorf("a key without an offset: %v", got[4])
		}
		if offset.Code(got[5].GetError().GetCode()) != offset.CodeInvalid {
			t.Errorf("a missing key: %v", got[5])
		}
		if !slices.Equal(j.sizes, []int{3}) {
			t.Errorf("lists of %v, want one of the 3 that are linearizable and can be read", j.sizes)
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
		j, p := &sharing{fake: newFake()}, newPipe(16)
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
