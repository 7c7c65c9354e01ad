package client

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// mq names a queue of the tests.
func mq(id int32) offset.MessageQueue { return key(id).MessageQueue }

// fences collects what OnFenced is told.
type fences struct {
	mu   sync.Mutex
	list []Fence
}

func (f *fences) add(x Fence) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, x)
}

func (f *fences) take() []Fence {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.list
	f.list = nil
	return out
}

// store gives a RemoteStore without a persist loop, unless opts say otherwise.
func (c *fakeCluster) store(opts ...StoreOption) *RemoteStore {
	c.tb.Helper()
	return c.storeOf(c.client(), opts...)
}

func (c *fakeCluster) storeOf(cl *Client, opts ...StoreOption) *RemoteStore {
	c.tb.Helper()
	s, err := NewRemoteStore(cl, "billing", append([]StoreOption{WithPersistInterval(0)}, opts...)...)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.tb.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(ctx)
	})
	return s
}

// read reads queues from the store, which must work.
func read(tb testing.TB, s *RemoteStore, ids ...int32) {
	tb.Helper()
	for _, id := range ids {
		if _, err := s.ReadOffset(within(tb, time.Minute), mq(id), ReadFromStore); err != nil && !errors.Is(err, offset.ErrNoOffset) {
			tb.Fatal(err)
		}
	}
}

// persist persists one queue, which must work.
func persist(tb testing.TB, s *RemoteStore, id int32) {
	tb.Helper()
	if err := s.Persist(within(tb, time.Minute), mq(id)); err != nil {
		tb.Fatal(err)
	}
}

// wantAt checks where the cluster has a queue; -1 is no offset.
func wantAt(tb testing.TB, f *fakeCluster, id int32, want int64) {
	tb.Helper()
	if at := f.state.at(key(id)); at != want {
		tb.Fatalf("%s is at %d; want %d", key(id), at, want)
	}
}

func TestReadTypesAndNoOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		ctx := within(t, time.Second)
		for _, from := range []ReadOffsetType{ReadFromMemory, ReadFromStore, MemoryFirstThenStore} {
			if v, err := s.ReadOffset(ctx, mq(0), from); !errors.Is(err, offset.ErrNoOffset) || v != 0 {
				t.Fatalf("type %d of a queue without offset: %d, %v", from, v, err)
			}
		}
		if n := f.count("fetch"); n != 2 {
			t.Fatalf("%d fetches; reading from memory asks nobody", n)
		}
		f.state.reset(key(1), 0) // an offset of 0 is an offset
		if v, err := s.ReadOffset(ctx, mq(1), MemoryFirstThenStore); v != 0 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		s.UpdateOffset(mq(1), 5, true)
		for from, want := range map[ReadOffsetType]int64{ReadFromMemory: 5, MemoryFirstThenStore: 5, ReadFromStore: 0} {
			if v, err := s.ReadOffset(ctx, mq(1), from); v != want || err != nil {
				t.Fatalf("type %d: %d, %v; want %d", from, v, err, want)
			}
		}
		if _, err := s.ReadOffset(ctx, mq(1), 9); !errors.Is(err, offset.ErrInvalid) {
			t.Fatal(err)
		}
	})
}

func TestNoOffsetBeforeAndZeroAfterACommitOfZero(t *testing.T) { // C18, step 3
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		if _, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
			t.Fatal(err)
		}
		s.UpdateOffset(mq(0), 0, true)
		persist(t, s, 0)
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 0 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
	})
}

func TestFailedFirstReadLeavesNothingInMemory(t *testing.T) { // C11
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 5757922)
		s := f.store(WithPersistInterval(time.Second))
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		v, err := s.ReadOffset(within(t, 3*time.Second), mq(0), ReadFromStore)
		if err == nil || errors.Is(err, offset.ErrNoOffset) || v != 0 {
			t.Fatalf("%d, %v; want an error other than ErrNoOffset", v, err)
		}
		f.play(nil)
		time.Sleep(3 * time.Second) // the persist loop runs
		if n := f.count("commit"); n != 0 || len(s.CloneOffsetTable("")) != 0 {
			t.Fatalf("%d commits, memory %v", n, s.CloneOffsetTable(""))
		}
		wantAt(t, f, 0, 5757922)
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 5757922 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
	})
}

func TestReadsGiveAValueOrAnErrorButNeverNoOffsetWithoutALeader(t *testing.T) { // C27
	for _, answer := range []error{offset.ErrNotLeader, offset.ErrNotReady, offset.ErrNoLeader, offset.ErrBusy, offset.ErrOutcomeUnknown, offset.ErrClosed} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1", "b:1")
			f.state.reset(key(0), 77)
			s := f.store()
			f.play(func(*fakeNode, string, int) (fault, error) { return refuse, answer })
			if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); err == nil || errors.Is(err, offset.ErrNoOffset) {
				t.Fatalf("with %v: %d, %v", answer, v, err)
			}
			f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
				if nth%3 != 0 {
					return refuse, answer
				}
				return none, nil
			})
			if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 77 || err != nil {
				t.Fatalf("with %v now and then: %d, %v", answer, v, err)
			}
		})
	}
}

func TestTwoBrokersOwnTheSameQueueID(t *testing.T) { // C12
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		north := offset.MessageQueue{Topic: "moss", Broker: "bk-north", QueueID: 1}
		south := offset.MessageQueue{Topic: "moss", Broker: "bk-south", QueueID: 1}
		cl := f.client()
		s := f.storeOf(cl)
		for q, v := range map[offset.MessageQueue]int64{north: 100, south: 7} {
			if _, err := s.ReadOffset(within(t, time.Second), q, ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
				t.Fatal(err)
			}
			s.UpdateOffset(q, v, true)
		}
		if err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{north, south}); err != nil {
			t.Fatal(err)
		}
		again := f.storeOf(cl)
		for q, want := range map[offset.MessageQueue]int64{north: 100, south: 7} {
			if v, err := again.ReadOffset(within(t, time.Second), q, ReadFromStore); v != want || err != nil {
				t.Fatalf("%v: %d, %v; want %d", q, v, err, want)
			}
		}
	})
}

func TestValueOfAQueueNeverReadStaysInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 40)
		s := f.store()
		s.UpdateOffset(mq(0), 50, true)
		for range 2 {
			err := s.Persist(within(t, time.Second), mq(0))
			p := (*PersistError)(nil)
			if !errors.Is(err, offset.ErrNotRead) || !errors.As(err, &p) || p.Queues[0].Queue != mq(0) || p.Queues[0].Offset != 50 {
				t.Fatalf("%v, %+v", err, p)
			}
		}
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), MemoryFirstThenStore); v != 50 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		if n := f.count("commit"); n != 0 {
			t.Fatalf("%d commits", n)
		}
		// The first read takes over: the value was not of this epoch.
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 40 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		if m := s.CloneOffsetTable(""); m[mq(0)] != 40 {
			t.Fatalf("memory %v", m)
		}
	})
}

func TestLaterReadsChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 10)
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 20, true)
		f.state.reset(key(0), 5) // an operator
		if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != 5 || err != nil {
			t.Fatalf("%d, %v", v, err)
		}
		if m := s.CloneOffsetTable(""); m[mq(0)] != 20 {
			t.Fatalf("a second read changed the memory to %d", m[mq(0)])
		}
		if err := s.Persist(within(t, time.Second), mq(0)); !errors.Is(err, offset.ErrFenced) {
			t.Fatalf("%v; a second read took the epoch over", err)
		}
		wantAt(t, f, 0, 5)
	})
}

func TestOnlyWhatChangedIsSentInOneRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		all := []offset.MessageQueue{mq(0), mq(1), mq(2), mq(3)}
		read(t, s, 0, 1, 2, 3)
		for i, q := range all {
			s.UpdateOffset(q, int64(i)+1, true)
		}
		for range 3 {
			if err := s.PersistAll(within(t, time.Second), all); err != nil {
				t.Fatal(err)
			}
		}
		if commits, _ := f.state.applied(); commits != 4 || f.count("commit") != 1 {
			t.Fatalf("%d commits in %d requests; want 4 in 1", commits, f.count("commit"))
		}
		s.UpdateOffset(mq(2), 9, true)
		if err := s.PersistAll(within(t, time.Second), all); err != nil {
			t.Fatal(err)
		}
		if commits, _ := f.state.applied(); commits != 5 || f.count("commit") != 2 {
			t.Fatalf("%d commits in %d requests; want 5 in 2", commits, f.count("commit"))
		}
		wantAt(t, f, 2, 9)
	})
}

func TestUpdatesOnlyRaiseWithIncreaseOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFakeCluster(t, "a:1").store()
		s.UpdateOffset(mq(0), 7, true)
		s.UpdateOffset(mq(0), 3, true)
		s.UpdateOffset(mq(0), -1, false)
		if m := s.CloneOffsetTable(""); m[mq(0)] != 7 {
			t.Fatalf("memory %v; want 7", m)
		}
		s.UpdateOffset(mq(0), 3, false)
		s.UpdateOffset(offset.MessageQueue{Topic: "other"}, 1, true)
		if m := s.CloneOffsetTable("orders"); len(m) != 1 || m[mq(0)] != 3 {
			t.Fatalf("memory %v; want 3", m)
		}
		s.UpdateOffset(mq(9), -1, true)
		if m := s.CloneOffsetTable(""); len(m) != 2 {
			t.Fatalf("a negative offset was stored: %v", m)
		}
		s.RemoveOffset(mq(0))
		if m := s.CloneOffsetTable("orders"); len(m) != 0 {
			t.Fatalf("memory %v after removal", m)
		}
	})
}

func TestPersistAllWithoutQueuesDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 7, true)
		if err := errors.Join(s.PersistAll(within(t, time.Second), nil), s.PersistAll(within(t, time.Second), []offset.MessageQueue{})); err != nil {
			t.Fatal(err)
		}
		if n := f.count("commit"); n != 0 || len(s.CloneOffsetTable("")) != 1 {
			t.Fatalf("%d commits, memory %v", n, s.CloneOffsetTable(""))
		}
	})
}

func TestPersistAllDropsOthersAndSaysWhatWasNotPersisted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0, 1, 2)
		for id := range int32(3) {
			s.UpdateOffset(mq(id), 10, true)
		}
		persist(t, s, 1)
		err := s.PersistAll(within(t, time.Second), []offset.MessageQueue{mq(0)})
		p := (*PersistError)(nil)
		if !errors.As(err, &p) || len(p.Queues) != 1 || p.Queues[0] != (QueueError{mq(2), 10, offset.ErrDropped}) {
			t.Fatalf("%v, %+v", err, p)
		}
		if m := s.CloneOffsetTable(""); len(m) != 1 || m[mq(0)] != 10 {
			t.Fatalf("memory %v", m)
		}
		wantAt(t, f, 0, 10)
		wantAt(t, f, 2, -1)
	})
}

func TestFrozenByTheApplicationIsPersistedAndTakesNoUpdates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 100)
		s := f.store()
		read(t, s, 0)
		s.UpdateAndFreezeOffset(mq(0), 30)
		s.UpdateOffset(mq(0), 200, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 30)
		s.RemoveOffset(mq(0))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 31, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 31)
	})
}

func TestUpdateConsumeOffsetToBrokerSendsThisVeryOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		ctx := within(t, time.Second)
		if err := s.UpdateConsumeOffsetToBroker(ctx, mq(0), 7, false); !errors.Is(err, offset.ErrNotRead) {
			t.Fatal(err)
		}
		read(t, s, 0)
		s.UpdateOffset(mq(0), 3, true)
		if err := s.UpdateConsumeOffsetToBroker(ctx, mq(0), 7, false); err != nil {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 7)
		if m := s.CloneOffsetTable(""); m[mq(0)] != 3 {
			t.Fatalf("memory %v; want it left alone", m)
		}
		if err := s.UpdateConsumeOffsetToBroker(ctx, mq(0), 2, false); err != nil {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 2)
		if m := s.CloneOffsetTable(""); m[mq(0)] != 2 {
			t.Fatalf("memory %v; want the lowered value", m)
		}
		if err := s.UpdateConsumeOffsetToBroker(ctx, mq(0), -2, false); !errors.Is(err, offset.ErrInvalid) {
			t.Fatal(err)
		}
	})
}

func TestLoopPersistsWhatChangedOncePerInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store(WithPersistInterval(time.Second))
		read(t, s, 0)
		for i := range int64(100) {
			s.UpdateOffset(mq(0), i, true)
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Second)
		wantAt(t, f, 0, 99)
		if n := f.count("commit"); n < 9 || n > 11 {
			t.Fatalf("%d commits in 11s", n)
		}
	})
}

func TestCloseEndsTheLoopPersistsAndTellsWhatItCouldNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store(WithPersistInterval(time.Hour))
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 5, true)
		s.UpdateOffset(mq(7), 6, true) // never read
		err := s.Close(within(t, time.Second))
		p := (*PersistError)(nil)
		if !errors.As(err, &p) || len(p.Queues) != 1 || p.Queues[0].Queue != mq(7) || !errors.Is(err, offset.ErrNotRead) {
			t.Fatalf("%v", err)
		}
		wantAt(t, f, 0, 5)
		s.UpdateOffset(mq(0), 9, true)
		ctx := within(t, time.Second)
		_, readErr := s.ReadOffset(ctx, mq(0), ReadFromStore)
		for _, err := range []error{readErr, s.Persist(ctx, mq(0)), s.PersistAll(ctx, []offset.MessageQueue{mq(0)}), s.UpdateConsumeOffsetToBroker(ctx, mq(0), 9, false)} {
			if e := (*Error)(nil); !errors.Is(err, offset.ErrClosed) || !errors.As(err, &e) {
				t.Errorf("after Close: %v", err)
			}
		}
		if err := s.Close(ctx); !errors.Is(err, offset.ErrNotRead) || len(s.queuesOf(err)) != 1 {
			t.Errorf("a second Close: %v; the value is not persisted still", err)
		}
	})
}

func TestCloseIsBoundedWhileTheClusterIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store(WithPersistInterval(time.Second), WithPersistTimeout(time.Hour))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 5, true)
		f.kill("a:1")
		time.Sleep(2 * time.Second) // the loop is at it
		began := time.Now()
		err := s.Close(within(t, time.Second))
		if took := time.Since(began); took != time.Second || err == nil || !slices.Equal(s.queuesOf(err), []offset.MessageQueue{mq(0)}) {
			t.Fatalf("after %s: %v", took, err)
		}
	})
}

// queuesOf lists the queues that a PersistError names.
func (s *RemoteStore) queuesOf(err error) (list []offset.MessageQueue) {
	p := (*PersistError)(nil)
	if errors.As(err, &p) {
		for _, q := range p.Queues {
			list = append(list, q.Queue)
		}
	}
	return list
}
