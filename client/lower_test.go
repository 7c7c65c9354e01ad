package client

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestLoweringTravelsAsASetAndItsIndexIsTheEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 100)
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 40, false)
		persist(t, s, 0)
		wantAt(t, f, 0, 40)
		s.UpdateOffset(mq(0), 41, true) // under the new epoch
		persist(t, s, 0)
		wantAt(t, f, 0, 41)
		s.UpdateOffset(mq(0), 7, false) // and down again
		persist(t, s, 0)
		wantAt(t, f, 0, 7)
		if commits, sets := f.state.applied(); commits != 1 || sets != 2 {
			t.Fatalf("%d commits, %d sets; want 1 and 2", commits, sets)
		}
	})
}

func TestLoweringWhatWasNeverSentIsACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 50, true)
		s.UpdateOffset(mq(0), 30, false) // lower than the memory, not than the store
		persist(t, s, 0)
		wantAt(t, f, 0, 30)
		if _, sets := f.state.applied(); sets != 0 {
			t.Fatalf("%d sets", sets)
		}
	})
}

func TestLoweringAndRaisingAgainIsACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 5, false)
		s.UpdateOffset(mq(0), 12, false)
		persist(t, s, 0)
		wantAt(t, f, 0, 12)
		if _, sets := f.state.applied(); sets != 0 {
			t.Fatalf("%d sets", sets)
		}
	})
}

func TestAValueBelowWhatAnotherConsumerCommittedIsNoLowering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		cl := f.client()
		late, owner := f.storeOf(cl), f.storeOf(cl)
		read(t, late, 0)
		read(t, owner, 0)
		owner.UpdateOffset(mq(0), 500, true)
		persist(t, owner, 0)
		for _, v := range []int64{20, 30} {
			late.UpdateOffset(mq(0), v, false)
			persist(t, late, 0)
		}
		late.UpdateOffset(mq(0), 25, false) // below its own, which is said by now, and below the owner's
		wantAt(t, f, 0, 500)
		if _, sets := f.state.applied(); sets != 0 {
			t.Fatalf("%d sets", sets)
		}
	})
}

// lowered is a store whose queue 0 went from 100 to 40 in memory alone.
func lowered(t *testing.T, f *fakeCluster, told *fences) *RemoteStore {
	t.Helper()
	f.state.reset(key(0), 100)
	s := f.store(WithOnFenced(told.add))
	read(t, s, 0)
	s.UpdateOffset(mq(0), 40, false)
	return s
}

func TestOvertakenSetFreezesAndIsToldAsThat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := lowered(t, f, &told)
		other := f.storeOf(s.client)
		read(t, other, 0)
		other.UpdateOffset(mq(0), 101, true)
		persist(t, other, 0)
		err := s.Persist(within(t, time.Second), mq(0))
		if !errors.Is(err, offset.ErrOvertaken) || errors.Is(err, offset.ErrFenced) {
			t.Fatal(err)
		}
		if list := told.take(); len(list) != 1 || list[0].Err != offset.ErrOvertaken || list[0].State.Position.Offset != 101 {
			t.Fatalf("told %+v", list)
		}
		wantAt(t, f, 0, 101)
	})
}

func TestUnknownSetFreezesAndTakesNothingOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := lowered(t, f, &told)
		f.play(func(_ *fakeNode, kind string, _ int) (fault, error) {
			if kind == "set" {
				return loseAnswer, nil
			}
			return none, nil
		})
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		list := told.take()
		if len(list) != 1 || list[0].Err != offset.ErrOutcomeUnknown || list[0].State != (offset.KeyState{}) {
			t.Fatalf("told %+v", list)
		}
		f.play(nil)
		s.UpdateOffset(mq(0), 300, true)
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatalf("%v; the queue is frozen", err)
		}
		wantAt(t, f, 0, 40)
		s.RemoveOffset(mq(0))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 42, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 42)
	})
}

func TestSetThatWasResentAndDoneGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		var told fences
		s := lowered(t, f, &told)
		f.play(func(_ *fakeNode, kind string, nth int) (fault, error) {
			if kind == "set" && nth == 1 {
				return cutAfter, nil
			}
			return none, nil
		})
		persist(t, s, 0)
		s.UpdateOffset(mq(0), 41, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 41)
		if list := told.take(); len(list) != 0 {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestSetThatWasRefusedIsSentByTheNextRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := lowered(t, f, &told)
		f.play(func(*fakeNode, string, int) (fault, error) { return refuse, offset.ErrNoLeader })
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrNoLeader) {
			t.Fatal(err)
		}
		f.play(nil)
		persist(t, s, 0)
		wantAt(t, f, 0, 40)
		if list := told.take(); len(list) != 0 {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestLoweringAfterAnUnknownCommitResendsThatFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 50, true)
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		f.play(nil)
		s.UpdateOffset(mq(0), 30, false)
		persist(t, s, 0)
		wantAt(t, f, 0, 30)
		if commits, sets := f.state.applied(); commits != 1 || sets != 1 {
			t.Fatalf("%d commits, %d sets; want the commit of 50 made certain, then one set", commits, sets)
		}
		// The first send arrives at last: it carries the epoch of before the Set.
		f.state.late(key(0), 50, 11)
		wantAt(t, f, 0, 30)
	})
}

// A lowering to what was acknowledged last, while a higher commit was under way, is
// named where it is dropped, as any other.
func TestALoweringToWhatWasPersistedBeforeIsNotLostSilently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 50)
		f.state.reset(key(1), 50)
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()))
		read(t, s, 0, 1)
		slowFirst(f)
		s.UpdateOffset(mq(0), 60, true)
		s.UpdateOffset(mq(1), 60, true)
		ctx := within(t, time.Minute)
		first := background(func() error { return s.PersistAll(ctx, []offset.MessageQueue{mq(0), mq(1)}) })
		synctest.Wait()
		f.play(func(_ *fakeNode, kind string, _ int) (fault, error) {
			if kind == "set" {
				return refuse, offset.ErrNoLeader
			}
			return none, nil
		})
		s.UpdateOffset(mq(0), 50, false)
		s.UpdateOffset(mq(1), 50, false)
		if err := <-first; !errors.Is(err, offset.ErrNoLeader) {
			t.Fatal(err)
		}
		l.take()
		if n := s.Stats().Unpersisted; n != 2 {
			t.Errorf("%d queues are not persisted", n)
		}
		s.RemoveOffset(mq(0))
		synctest.Wait()
		wantLines(t, &l, "failed 0 at 50: dropped before it was persisted")
		s.sending <- struct{}{} // a run under way
		if err := within300(t, "Close", s.Close); len(s.queuesOf(err)) != 1 {
			t.Errorf("Close: %v", err)
		}
		<-s.sending
	})
}

func TestManyQueuesAreLoweredInOneRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		var all []offset.MessageQueue
		for id := range int32(200) {
			f.state.reset(key(id), 100)
			all = append(all, mq(id))
			read(t, s, id)
			s.UpdateOffset(mq(id), int64(id)%90, false)
		}
		if err := s.PersistAll(within(t, time.Second), all); err != nil {
			t.Fatal(err)
		}
		for id := range int32(200) {
			wantAt(t, f, id, int64(id)%90)
		}
	})
}
