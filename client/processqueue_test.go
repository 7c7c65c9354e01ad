package client

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// flights makes messages of offsets; each holds its offset as text.
func flights(offsets ...int64) (list []InFlight[string]) {
	for _, o := range offsets {
		list = append(list, InFlight[string]{o, fmt.Sprint(o)})
	}
	return list
}

func putAll(tb testing.TB, q *ProcessQueue[string], offsets ...int64) (dispatch bool) {
	tb.Helper()
	dispatch, err := q.Put(flights(offsets...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return dispatch
}

// said is what a completion gave: -1 is nothing.
func said(next int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return next
}

// TestProcessQueueSafeOffset: completions in any order, gaps, twins, strangers.
func TestProcessQueueSafeOffset(t *testing.T) {
	for name, c := range map[string]struct {
		put  []int64
		done []int64
		want []int64
	}{
		"in order":           {[]int64{5, 6, 7}, []int64{5, 6, 7}, []int64{6, 7, 8}},
		"backwards":          {[]int64{5, 6, 7}, []int64{7, 6, 5}, []int64{5, 5, 8}},
		"the head hangs":     {[]int64{5, 6, 7, 8}, []int64{6, 7, 8, 5}, []int64{5, 5, 5, 9}},
		"gaps":               {[]int64{5, 90, 700}, []int64{90, 5, 700}, []int64{5, 700, 701}},
		"twice":              {[]int64{5, 6, 7}, []int64{5, 5, 6, 5}, []int64{6, 6, 7, 7}},
		"strangers":          {[]int64{5, 6}, []int64{4, 99, 5, 6}, []int64{5, 5, 6, 7}},
		"nothing in flight":  {nil, []int64{5}, []int64{-1}},
		"behind the end":     {[]int64{5}, []int64{5, 5}, []int64{6, -1}},
		"put out of order":   {[]int64{7, 5, 6}, []int64{7, 5, 6}, []int64{5, 6, 7}},
		"put twice":          {[]int64{5, 6, 5}, []int64{5, 6}, []int64{6, 7}},
		"one at zero":        {[]int64{0}, []int64{0}, []int64{1}},
		"at the end of time": {[]int64{1<<63 - 2}, []int64{1<<63 - 2}, []int64{1<<63 - 1}},
	} {
		q := NewProcessQueue[string]()
		putAll(t, q, c.put...)
		for i, o := range c.done {
			if got := said(q.Complete(o)); got != c.want[i] {
				t.Errorf("%s: completing %d gave %d, want %d", name, o, got, c.want[i])
			}
		}
	}
}

// TestProcessQueueStepsBack: a queue that begins again further down does not
// take what lies between for consumed.
func TestProcessQueueStepsBack(t *testing.T) {
	q := NewProcessQueue[string]()
	putAll(t, q, 1000)
	if got := said(q.Complete(1000)); got != 1001 {
		t.Errorf("got %d", got)
	}
	putAll(t, q, 10, 11)
	if got := said(q.Complete(10, 11)); got != 12 {
		t.Errorf("got %d", got)
	}
	putAll(t, q, 1000)
	putAll(t, q, 20)
	if got := said(q.Complete(20, 1000)); got != 21 {
		t.Errorf("got %d", got)
	}
}

func TestProcessQueueAgainAfterDone(t *testing.T) {
	q := NewProcessQueue[string]()
	putAll(t, q, 1, 2, 3)
	q.Complete(2)
	putAll(t, q, 2) // delivered once more: in flight again
	if got := said(q.Complete(1, 3)); got != 2 || q.State().Messages != 1 {
		t.Errorf("got %d, %+v", got, q.State())
	}
}

func TestProcessQueueAck(t *testing.T) {
	for _, c := range []struct {
		ack    int
		next   int64
		failed []int64
	}{
		{-1, 5, []int64{5, 6, 7}}, {-100, 5, []int64{5, 6, 7}}, {0, 6, []int64{6, 7}}, {1, 7, []int64{7}}, {2, 8, nil}, {1 << 62, 8, nil},
	} {
		q := NewProcessQueue[string]()
		putAll(t, q, 5, 6, 7, 8)
		next, ok, failed := q.Ack([]int64{5, 6, 7}, c.ack)
		if said(next, ok) != c.next || !slices.Equal(failed, c.failed) || q.State().Messages != len(c.failed)+1 {
			t.Errorf("ack %d: %d, %v, %v", c.ack, next, ok, failed)
		}
		if got := said(q.Complete(append(failed, 8)...)); got != 9 { // sent back, and then complete
			t.Errorf("ack %d: %d at the end", c.ack, got)
		}
	}
	q := NewProcessQueue[string]()
	if _, ok, failed := q.Ack(nil, 3); ok || failed != nil {
		t.Error("an empty queue acks")
	}
}

func TestProcessQueueDrop(t *testing.T) {
	q := NewProcessQueue[string]()
	putAll(t, q, 5, 6, 7)
	q.Take(1)
	q.Drop()
	q.Drop()
	if _, ok := q.Complete(5); ok {
		t.Error("Complete gives an offset")
	}
	if _, ok, failed := q.Ack([]int64{5, 6}, 0); ok || failed != nil {
		t.Error("Ack gives an offset")
	}
	if _, ok := q.Commit(); ok {
		t.Error("Commit gives an offset")
	}
	q.Rollback()
	q.MakeAgain(5)
	q.Begin(5)
	if dispatch, err := q.Put(flights(8)...); dispatch || !errors.Is(err, offset.ErrDropped) {
		t.Errorf("Put: %v, %v", dispatch, err)
	}
	if got := q.State(); !got.Dropped || got.Messages != 0 || q.Take(1) != nil || q.Expired() != nil {
		t.Errorf("state %+v", got)
	}
}

// TestLateCompletionCannotBringAQueueBack: workers complete while the queue is
// given up; once Drop has returned and the store has forgotten the queue, it
// stays forgotten.
func TestLateCompletionCannotBringAQueueBack(t *testing.T) {
	for range 50 {
		s := newShelf(t).new()
		q := NewProcessQueue[string](WithCommitTo(s, bk("b", 0)))
		for o := range int64(300) {
			putAll(t, q, o)
		}
		var wg sync.WaitGroup
		first := make(chan struct{}, 3)
		for w := range int64(3) {
			wg.Go(func() {
				for o := w; o < 300; o += 3 {
					q.Complete(o)
					select {
					case first <- struct{}{}:
					default:
					}
				}
			})
		}
		<-first
		q.Drop()
		s.RemoveOffset(bk("b", 0))
		wg.Wait()
		if got := s.CloneOffsetTable(""); len(got) != 0 {
			t.Fatalf("the store has %v again", got)
		}
	}
}

// TestProcessQueueCommitsTo: Complete only raises, Commit says what is.
func TestProcessQueueCommitsTo(t *testing.T) {
	s := newShelf(t).new()
	q := NewProcessQueue[string](WithCommitTo(s, bk("b", 0)))
	s.UpdateOffset(bk("b", 0), 100, false)
	putAll(t, q, 5, 6)
	q.Complete(5)
	wantRead(t, s, bk("b", 0), ReadFromMemory, 100)
	q.Take(1)
	q.Commit()
	wantRead(t, s, bk("b", 0), ReadFromMemory, 7)
}

func TestProcessQueueOrderly(t *testing.T) {
	q := NewProcessQueue[string]()
	if !putAll(t, q, 5, 6, 7, 8) || putAll(t, q, 9) {
		t.Error("one worker is to be started, by the first Put")
	}
	take := func(n int, want ...int64) {
		t.Helper()
		if got := q.Take(n); !slices.Equal(got, flights(want...)) {
			t.Errorf("took %v, want %v", got, want)
		}
	}
	commit := func(want int64) {
		t.Helper()
		if got := said(q.Commit()); got != want {
			t.Errorf("committed %d, want %d", got, want)
		}
	}
	take(0)
	commit(-1)
	take(2, 5, 6)
	commit(7)
	commit(-1)
	take(2, 7, 8)
	q.Rollback()
	take(1, 7)
	take(1, 8)
	q.MakeAgain(8, 9, 100)
	commit(8)
	take(2, 8, 9)
	q.MakeAgain(8) // waits again below what is committed: not skipped
	commit(8)
	take(9, 8)
	commit(9) // 9 was consumed before, but is told only with the next commit
	take(1)
	if !putAll(t, q, 10) {
		t.Error("no worker is started again")
	}
	take(1, 10)
	commit(11)
}

func TestProcessQueueRefuses(t *testing.T) {
	q := NewProcessQueue[string](WithCapacity(3), nil)
	putAll(t, q, 1, 2)
	if _, err := q.Put(flights(3, 4)...); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("error is %v", err)
	}
	if _, err := q.Put(flights(3, -4)...); err == nil || q.State().Messages != 2 {
		t.Errorf("error is %v", err)
	}
	if _, err := q.Put(flights(-4)...); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("error is %v", err)
	}
	q.Complete(2)
	putAll(t, q, 3)
	if _, err := q.Put(flights(4)...); !errors.Is(err, offset.ErrLimit) { // 2 is done, but after 1
		t.Errorf("error is %v", err)
	}
	q.Complete(1)
	putAll(t, q, 4, 5)
}

// TestProcessQueueSignals holds each signal to its limit: RocketMQ's, and others.
func TestProcessQueueSignals(t *testing.T) {
	clock := &stoppedClock{at: time.Unix(1e9, 0)}
	q := NewProcessQueue[string](WithQueueClock(clock))
	if got := q.State(); got != (QueueState{}) {
		t.Errorf("a new queue is %+v", got)
	}
	putAll(t, q, 1000, 3000)
	if got, want := q.State(), (QueueState{Messages: 2, First: 1000, Last: 3000, Span: 2000}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	putAll(t, q, 3001)
	if got := q.State(); !got.TooWide || got.Span != 2001 {
		t.Errorf("%+v", got)
	}
	q.Complete(3001)
	if got := q.State(); got.TooWide || got.Last != 3000 {
		t.Errorf("%+v", got)
	}
	for o := range int64(998) {
		putAll(t, q, 1001+o)
	}
	if got := q.State(); got.TooMany || got.Messages != 1000 {
		t.Errorf("%+v", got)
	}
	putAll(t, q, 2500)
	if !q.State().TooMany {
		t.Error("1,001 messages are not too many")
	}
	clock.at = clock.at.Add(120 * time.Second)
	if q.State().PullExpired {
		t.Error("expired at 120 s")
	}
	clock.at = clock.at.Add(1)
	if !q.State().PullExpired {
		t.Error("not expired behind 120 s")
	}
	q.Pulled()
	if q.State().PullExpired {
		t.Error("expired after a pull")
	}
	q = NewProcessQueue[string](WithQueueClock(clock), WithMaxSpan(5), WithMaxMessages(1), WithPullTimeout(time.Second))
	putAll(t, q, 1, 7)
	clock.at = clock.at.Add(2 * time.Second)
	if got := q.State(); !got.TooWide || !got.TooMany || !got.PullExpired {
		t.Errorf("%+v", got)
	}
}

// TestProcessQueueExpired: only what was begun ages, from the front on, 16 at a time.
func TestProcessQueueExpired(t *testing.T) {
	clock := &stoppedClock{at: time.Unix(1e9, 0)}
	q := NewProcessQueue[string](WithQueueClock(clock))
	var all []int64
	for o := range int64(20) {
		all = append(all, o)
	}
	putAll(t, q, all...)
	q.Begin(all[:19]...)
	q.Begin(77)
	clock.at = clock.at.Add(15 * time.Minute)
	if q.Expired() != nil || q.State().Expired {
		t.Error("expired at 15 minutes")
	}
	clock.at = clock.at.Add(1)
	if got := q.Expired(); !slices.Equal(got, flights(all[:16]...)) || !q.State().Expired {
		t.Errorf("expired are %v", got)
	}
	q.Complete(append(all[:16:16], 17)...)
	if got := q.Expired(); !slices.Equal(got, flights(16, 18)) {
		t.Errorf("expired are %v", got)
	}
	q.Begin(16) // handed out again: it holds up those after it
	if got := q.Expired(); got != nil {
		t.Errorf("expired are %v", got)
	}
	q = NewProcessQueue[string](WithQueueClock(clock), WithConsumeTimeout(time.Second))
	putAll(t, q, 3)
	q.Take(1)
	clock.at = clock.at.Add(2 * time.Second)
	if got := q.Expired(); len(got) != 1 {
		t.Errorf("expired are %v", got)
	}
}
