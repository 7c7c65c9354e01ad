package client

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestFencedQueueIsFrozenUntilRemovedAndReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		var told fences
		s := f.store(WithOnFenced(told.add))
		read(t, s, 0, 1)
		f.state.reset(key(0), 4)
		s.UpdateOffset(mq(0), 20, true)
		s.UpdateOffset(mq(1), 3, true)
		err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0), mq(1)})
		if !errors.Is(err, offset.ErrFenced) || !slices.Equal(s.queuesOf(err), []offset.MessageQueue{mq(0)}) {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 4)
		wantAt(t, f, 1, 3) // the others go on
		list := told.take()
		if len(list) != 1 || list[0].Queue != mq(0) || list[0].Err != offset.ErrFenced || !list[0].Has || list[0].Offset != 20 || list[0].State.Position.Offset != 4 {
			t.Fatalf("told %+v", list)
		}
		s.UpdateOffset(mq(0), 30, true)
		if m := s.CloneOffsetTable(""); m[mq(0)] != 20 {
			t.Fatalf("a frozen queue took an update: %v", m)
		}
		n := f.count("commit")
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrFenced) {
			t.Fatalf("%v; the value is not persisted, and that is to be said", err)
		}
		if f.count("commit") != n || len(told.take()) != 0 {
			t.Fatal("something of a frozen queue was sent, or told twice")
		}
		s.RemoveOffset(mq(0))
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 4 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		s.UpdateOffset(mq(0), 5, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 5)
	})
}

func TestPersistAllGoesOnReturningErrFencedWithoutOnFenced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store(WithPersistInterval(time.Second))
		read(t, s, 0)
		f.state.reset(key(0), 4) // the queue is idle: nothing of it is lost
		time.Sleep(1500 * time.Millisecond)
		for range 3 {
			if err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0)}); !errors.Is(err, offset.ErrFenced) {
				t.Fatal(err)
			}
		}
	})
}

func TestUpdateOfAFrozenQueueIsNotSaidToBePersisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0)
		f.state.reset(key(0), 4)
		time.Sleep(1500 * time.Millisecond) // noticed while idle
		persist(t, s, 0)                    // nothing is lost, and that was told
		s.UpdateOffset(mq(0), 11, true)
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrFenced) {
			t.Fatal(err)
		}
	})
}

func TestFenceFoundByTheLoopIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 20, true)
		f.state.reset(key(0), 4)
		time.Sleep(1500 * time.Millisecond)
		if list := told.take(); len(list) != 1 || list[0].Err != offset.ErrFenced {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestIdleQueueLearnsOfAnActWithinOneInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		f.state.reset(key(1), 10)
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0, 1, 2)
		time.Sleep(5500 * time.Millisecond) // nothing is sent, nothing is told
		f.state.reset(key(0), 4)
		f.state.remove(key(2)) // a queue without offset: its floor moves
		time.Sleep(time.Second)
		list := told.take()
		slices.SortFunc(list, func(a, b Fence) int { return int(a.Queue.QueueID - b.Queue.QueueID) })
		if len(list) != 2 || list[0].Queue != mq(0) || list[1].Queue != mq(2) || list[0].Err != offset.ErrFenced || list[0].State.Position.Offset != 4 {
			t.Fatalf("told %+v", list)
		}
		if n := f.count("commit"); n != 0 {
			t.Fatalf("%d commits of idle queues", n)
		}
	})
}

func TestActsOnOtherKeysFenceNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0)
		for range 5 {
			f.state.otherAct()
			time.Sleep(time.Second)
		}
		s.UpdateOffset(mq(0), 20, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 20)
		if list := told.take(); len(list) != 0 {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestQuietStoreAsksAboutItsQueuesOnlyWhenAnActMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store(WithPersistInterval(time.Second))
		read(t, s, 0, 1, 2)
		time.Sleep(2500 * time.Millisecond)
		keys := f.fetched()
		time.Sleep(10 * time.Second)
		if n := f.fetched() - keys; n != 10 {
			t.Fatalf("%d keys fetched in 10 intervals; want a ping of one key each", n)
		}
	})
}

func TestNewClusterIsAFenceForCommitsAndIdleQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 20, true)
		f.state.replace(offset.ClusterID{2})
		time.Sleep(2500 * time.Millisecond)
		if list := told.take(); len(list) != 2 || list[0].Err != offset.ErrFenced || list[1].Err != offset.ErrFenced {
			t.Fatalf("told %+v", list)
		}
		wantAt(t, f, 0, -1)
		s.RemoveOffset(mq(0))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 21, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 21)
	})
}

func TestNoticeOfAQueueThatWasReadAgainMeanwhileIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0, 1)
		f.state.reset(key(0), 4)
		f.onFetch(func(n int) {
			if n == 2 { // of both queues: the question of the loop
				s.RemoveOffset(mq(0))
				read(t, s, 0)
			}
		})
		time.Sleep(1500 * time.Millisecond)
		if list := told.take(); len(list) != 0 {
			t.Fatalf("told %+v", list)
		}
		s.UpdateOffset(mq(0), 5, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 5)
	})
}

func TestQueueTakenOverFromAnOlderAnswerIsAskedAboutAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 1)
		// The answer to the read of queue 0 is made before an act on it, and
		// comes after the store has asked about that act.
		f.slowFetch(key(0), 3*time.Second)
		got := background(func() error {
			_, err := s.ReadOffset(within(t, time.Minute), mq(0), ReadFromStore)
			return err
		})
		synctest.Wait()
		f.state.reset(key(0), 4)
		time.Sleep(2500 * time.Millisecond)
		s.mu.Lock()
		quiet := s.acts.asked == s.acts.heard
		s.mu.Unlock()
		if !quiet {
			t.Fatal("the store has not asked about the act; the test does not test")
		}
		if err := <-got; err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		if list := told.take(); len(list) != 1 || list[0].Queue != mq(0) {
			t.Fatalf("told %+v", list)
		}
	})
}

// A node that is a little behind does not keep an act from a consumer: it is
// told within one interval all the same.
func TestNodeThatIsBehindIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := f.store(WithPersistInterval(time.Second), WithOnFenced(told.add))
		read(t, s, 0)
		time.Sleep(1500 * time.Millisecond)
		f.behind() // its local state stays what it was
		f.state.reset(key(0), 4)
		time.Sleep(time.Second)
		if list := told.take(); len(list) != 1 {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestForeignClusterFencesEveryQueueOfTheRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var told fences
		s := f.store(WithOnFenced(told.add))
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 1, true)
		s.UpdateOffset(mq(1), 1, true)
		f.play(func(*fakeNode, string, int) (fault, error) { return refuse, offset.ErrForeignCluster })
		if err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0), mq(1)}); !errors.Is(err, offset.ErrFenced) {
			t.Fatal(err)
		}
		if list := told.take(); len(list) != 2 {
			t.Fatalf("told %+v", list)
		}
	})
}

func TestOnFencedMayRemoveAndReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var s *RemoteStore
		s = f.store(WithPersistInterval(time.Second), WithOnFenced(func(x Fence) {
			s.RemoveOffset(x.Queue)
			read(t, s, x.Queue.QueueID)
			s.UpdateOffset(x.Queue, 41, true)
			persist(t, s, x.Queue.QueueID)
		}))
		read(t, s, 0)
		f.state.reset(key(0), 40)
		time.Sleep(1500 * time.Millisecond)
		wantAt(t, f, 0, 41)
	})
}

func TestPersistErrorNamesTheQueues(t *testing.T) {
	err := persistError([]QueueError{{mq(3), 7, offset.ErrNotRead}, {mq(1), 5, offset.ErrFenced}})
	for _, part := range []string{"orders/bk/1", "offset 5", "fenced", "1 more"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if !errors.Is(err, offset.ErrNotRead) || !errors.Is(err, offset.ErrFenced) || persistError(nil) != nil {
		t.Error("the causes are lost")
	}
}
