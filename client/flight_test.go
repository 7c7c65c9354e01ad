package client

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestUnknownCommitStaysAndIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 5, true)
		f.play(func(*fakeNode, string, int) (fault, error) { return loseAnswer, nil })
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		f.play(nil)
		s.UpdateOffset(mq(0), 6, true) // a resend may carry a newer offset
		persist(t, s, 0)
		wantAt(t, f, 0, 6)
		n := f.count("commit")
		persist(t, s, 0)
		if f.count("commit") != n {
			t.Fatal("what is known to be there was sent again")
		}
	})
}

// TestAnotherOffsetInDoubtIsSentAgain: what UpdateConsumeOffsetToBroker has sent
// is not in memory, which may be below it, or have no value at all.
func TestAnotherOffsetInDoubtIsSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 90, true)
		persist(t, s, 0)
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		for id := range int32(2) {
			if err := s.UpdateConsumeOffsetToBroker(within(t, time.Second), mq(id), 100, false); !errors.Is(err, offset.ErrOutcomeUnknown) {
				t.Fatal(err)
			}
		}
		if n := s.Stats().Unpersisted; n != 2 {
			t.Errorf("%d queues are in doubt", n)
		}
		err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0), mq(1)})
		p := (*PersistError)(nil)
		if !errors.As(err, &p) || len(p.Queues) != 2 || p.Queues[0].Offset != 100 || p.Queues[1].Offset != 100 {
			t.Errorf("%+v", p)
		}
		f.play(nil)
		for range 2 {
			if err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0), mq(1)}); err != nil {
				t.Fatal(err)
			}
			wantAt(t, f, 0, 100)
			wantAt(t, f, 1, 100)
		}
		if st := s.Stats(); st.Unpersisted != 0 {
			t.Errorf("%+v", st)
		}
		n := f.count("commit")
		persist(t, s, 0)
		if f.count("commit") != n {
			t.Error("what is known to be there was sent again")
		}
		if m := s.CloneOffsetTable(""); len(m) != 1 || m[mq(0)] != 90 {
			t.Errorf("memory %v; want it left alone", m)
		}
	})
}

// A queue without a value that leaves the memory with an offset in doubt is told.
func TestAnotherOffsetInDoubtIsNotDroppedInSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()))
		read(t, s, 0, 1, 2)
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		for id := range int32(2) {
			_ = s.UpdateConsumeOffsetToBroker(within(t, time.Second), mq(id), 100, false)
		}
		l.take()
		s.RemoveOffset(mq(0))
		_ = s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(2)})
		wantLines(t, &l, "failed 0 at 100: dropped before it was persisted", "failed 1 at 100: dropped before it was persisted")
	})
}

// TestAnEarlierDoubtIsSaid: a run that has not sent a value, of which an earlier
// one is unsure, does not say that it is not done. A higher one was never sent.
func TestAnEarlierDoubtIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store(WithPersistInterval(0))
		read(t, s, 0)
		f.play(func(*fakeNode, string, int) (fault, error) { return loseAnswer, nil })
		s.UpdateOffset(mq(0), 5, true)
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatalf("error is %v", err)
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		err := s.Persist(over, mq(0))
		if e := (*Error)(nil); !errors.Is(err, offset.ErrOutcomeUnknown) || errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.Canceled) || !errors.As(err, &e) {
			t.Errorf("of 5: %v", err)
		}
		s.UpdateOffset(mq(0), 6, true)
		if err := s.Persist(over, mq(0)); errors.Is(err, offset.ErrOutcomeUnknown) || !errors.Is(err, offset.ErrUnreachable) {
			t.Errorf("of 6: %v", err)
		}
	})
}

// held makes calls of a kind wait until the channel is closed.
func held(f *fakeCluster, kind string) chan struct{} {
	gate := make(chan struct{})
	f.play(func(_ *fakeNode, k string, _ int) (fault, error) {
		if k == kind {
			<-gate
		}
		return none, nil
	})
	return gate
}

// background runs do, and gives its error.
func background(do func() error) <-chan error {
	out := make(chan error, 1)
	go func() { out <- do() }()
	return out
}

func TestAtMostOneCommitPerQueueIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		gate := held(f, "commit")
		ctx := within(t, time.Minute)
		s.UpdateOffset(mq(0), 1, true)
		first := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		s.UpdateOffset(mq(0), 2, true)
		second := background(func() error { return s.PersistAll(ctx, []offset.MessageQueue{mq(0)}) })
		synctest.Wait()
		if n := f.count("commit"); n != 1 {
			t.Fatalf("%d commits under way", n)
		}
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Persist(short, mq(0)); !errors.Is(err, context.DeadlineExceeded) || offset.OutcomeOf(err) != offset.NotDone {
			t.Fatalf("a run that never had its turn: %v", err)
		}
		close(gate)
		if err := errors.Join(<-first, <-second); err != nil {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 2)
	})
}

func TestReadWaitsForOwnCommitsOfTheQueueAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		gate := held(f, "commit")
		ctx := within(t, time.Minute)
		s.UpdateOffset(mq(0), 9, true)
		sent := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		read(t, s, 1) // another queue does not wait
		var v int64
		got := background(func() (err error) {
			v, err = s.ReadOffset(ctx, mq(0), ReadFromStore)
			return err
		})
		short, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := s.ReadOffset(short, mq(0), ReadFromStore); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(got) != 0 {
			t.Fatal("a read overtook this store's own commit")
		}
		close(gate)
		if err := errors.Join(<-sent, <-got); err != nil || v != 9 {
			t.Fatalf("%d, %v; want 9", v, err)
		}
	})
}

func TestAnswerToACommitOfARemovedQueueConcernsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		var told fences
		s := f.store(WithOnFenced(told.add))
		read(t, s, 0)
		f.state.reset(key(0), 4)
		gate := held(f, "commit")
		s.UpdateOffset(mq(0), 20, true)
		ctx := within(t, time.Minute)
		sent := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		s.RemoveOffset(mq(0))
		again := background(func() error {
			_, err := s.ReadOffset(ctx, mq(0), ReadFromStore) // waits for the answer
			return err
		})
		synctest.Wait()
		close(gate)
		if err := <-sent; !errors.Is(err, offset.ErrFenced) {
			t.Fatalf("%v; who asked to persist is told", err)
		}
		if err := <-again; err != nil {
			t.Fatal(err)
		}
		s.UpdateOffset(mq(0), 5, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 5)
		if list := told.take(); len(list) != 0 {
			t.Fatalf("told %+v of a queue that was read again", list)
		}
	})
}

func TestReadBegunBeforeARemovalTakesOverNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		gate := held(f, "fetch")
		ctx := within(t, time.Minute)
		got := background(func() error {
			_, err := s.ReadOffset(ctx, mq(0), ReadFromStore)
			return err
		})
		synctest.Wait()
		s.RemoveOffset(mq(0))
		close(gate)
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		if m := s.CloneOffsetTable(""); len(m) != 0 {
			t.Fatalf("memory %v", m)
		}
		s.UpdateOffset(mq(0), 11, true)
		if err := s.Persist(ctx, mq(0)); !errors.Is(err, offset.ErrNotRead) {
			t.Fatal(err)
		}
	})
}

func TestFirstReadsOfOneQueueTakeOverOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		gate := held(f, "fetch")
		ctx := within(t, time.Minute)
		var all []<-chan error
		for range 5 {
			all = append(all, background(func() error {
				v, err := s.ReadOffset(ctx, mq(0), MemoryFirstThenStore)
				if err == nil && v != 10 {
					err = errors.New("another value")
				}
				return err
			}))
		}
		synctest.Wait()
		close(gate)
		for _, ch := range all {
			if err := <-ch; err != nil {
				t.Fatal(err)
			}
		}
		if n := f.count("fetch"); n != 1 {
			t.Fatalf("%d fetches; want 1", n)
		}
	})
}

func TestUpdateDuringACommitIsSentByTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		gate := held(f, "commit")
		s.UpdateOffset(mq(0), 1, true)
		ctx := within(t, time.Minute)
		sent := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		s.UpdateOffset(mq(0), 2, true)
		close(gate)
		if err := <-sent; err != nil {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 1)
		persist(t, s, 0)
		wantAt(t, f, 0, 2)
	})
}

func TestRunIsCutIntoRequestsThatTheClusterTakes(t *testing.T) {
	r := &run{s: &RemoteStore{group: "g"}}
	list := make([]item, 2*offset.MaxCommits+5)
	for i := range list {
		list[i].mq = offset.MessageQueue{Topic: "t", QueueID: int32(i)}
	}
	if n := r.fits(list); n < 8000 || n > offset.MaxCommits {
		t.Fatalf("%d commits of one topic in a request", n)
	}
	for i := range list { // names as long as they may be
		list[i].mq = offset.MessageQueue{Topic: string(make([]byte, offset.MaxName-4)) + string(rune('0'+i%10)) + string(rune('0'+i/10%10)), Broker: string(make([]byte, offset.MaxName))}
	}
	if n := r.fits(list); n < 300 || n*(2*offset.MaxName+40) > offset.MaxRequest {
		t.Fatalf("%d commits of long names in a request", n)
	}
	list[3].cluster = offset.ClusterID{9}
	if n := r.fits(list); n != 3 {
		t.Fatalf("a request holds commits read from two clusters: %d", n)
	}
}

func TestQuestionsAreCutIntoMessagesThatTheClusterTakes(t *testing.T) {
	s := &RemoteStore{group: "g"}
	list := make([]watched, offset.MaxCommits+5)
	for i := range list {
		list[i].mq = offset.MessageQueue{Topic: "t", QueueID: int32(i)}
	}
	if n := s.askable(list); n != offset.MaxCommits {
		t.Fatalf("%d short names in a question", n)
	}
	for i := range list {
		list[i].mq.Topic = string(make([]byte, offset.MaxName))
	}
	if n := s.askable(list); n < 1000 || n*(offset.MaxName+32) > offset.MaxMessage {
		t.Fatalf("%d long names in a question", n)
	}
	if n := s.askable(list[:1]); n != 1 {
		t.Fatalf("%d of one", n)
	}
}
