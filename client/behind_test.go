package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func oneWay(t *testing.T, s OffsetStore, mq offset.MessageQueue, next int64) {
	t.Helper()
	began := time.Now()
	if err := s.UpdateConsumeOffsetToBroker(context.Background(), mq, next, true); err != nil || time.Since(began) != 0 {
		t.Fatalf("%v after %s", err, time.Since(began))
	}
}

// RocketMQ's client reads a queue right after a one-way commit of it, and must
// see that.
func TestReadWaitsForWhatWasSentOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		for n := range int64(20) {
			oneWay(t, s, mq(0), n)
			if v, err := s.ReadOffset(within(t, time.Second), mq(0), ReadFromStore); v != n || err != nil {
				t.Fatalf("%d, %v; want %d", v, err, n)
			}
		}
	})
}

func TestOneWayIsBoundedToldAndAwaitedByClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()), WithPersistTimeout(time.Second))
		read(t, s, 0)
		oneWay(t, s, mq(1), 3) // never read
		synctest.Wait()
		wantLines(t, &l, "failed 1 at 3: not read from the store yet")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		for n := range int64(maxBehind) {
			oneWay(t, s, mq(0), n)
		}
		if err := s.UpdateConsumeOffsetToBroker(context.Background(), mq(0), 7, true); !errors.Is(err, offset.ErrBusy) {
			t.Fatal(err)
		}
		began := time.Now()
		_ = s.Close(within(t, 300*time.Millisecond))
		if took := time.Since(began); took != 300*time.Millisecond {
			t.Errorf("Close took %s", took)
		}
		if err := s.UpdateConsumeOffsetToBroker(context.Background(), mq(0), 7, true); !errors.Is(err, offset.ErrClosed) {
			t.Error(err)
		}
	})
}

// An offset that was sent one way is nowhere else: where its turn does not come,
// hooks, log and metrics hear of it as of one that was sent in vain.
func TestOneWayWhoseTurnDoesNotComeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		var log bytes.Buffer
		s := f.store(WithStoreHooks(l.hooks()), WithStoreMetrics(&l), WithStoreLogger(slog.New(slog.NewTextHandler(&log, nil))))
		read(t, s, 0, 1)
		s.sending <- struct{}{} // a run under way
		oneWay(t, s, mq(0), 100)
		oneWay(t, s, mq(1), 101)
		time.Sleep(s.set.timeout)
		synctest.Wait()
		<-s.sending
		why := "busy: context deadline exceeded"
		wantLines(t, &l, "failed 0 at 100: "+why, "failed 1 at 101: "+why,
			"persist clustering billing 0 1 5s true", "persist clustering billing 0 1 5s true")
		for _, said := range []string{"offset 100 of orders/bk/0", "offset 101 of orders/bk/1"} {
			if strings.Count(log.String(), said) != 1 {
				t.Errorf("the log does not name %q:\n%s", said, &log)
			}
		}
		if n := s.Stats().Failed; n != 2 {
			t.Errorf("%d runs failed", n)
		}
	})
}

// slowFirst makes the next commit take a second.
func slowFirst(f *fakeCluster) {
	var slow atomic.Bool
	f.play(func(_ *fakeNode, kind string, _ int) (fault, error) {
		if kind == "commit" && slow.CompareAndSwap(false, true) {
			time.Sleep(time.Second)
		}
		return none, nil
	})
}

// What was sent one way before a lowering does not undo it, though the lowering
// was acknowledged.
func TestALoweringComesAfterWhatWasSentOneWay(t *testing.T) {
	for what, lower := range map[string]func(s *RemoteStore, ctx context.Context) error{
		"UpdateConsumeOffsetToBroker": func(s *RemoteStore, ctx context.Context) error {
			return s.UpdateConsumeOffsetToBroker(ctx, mq(0), 50, false)
		},
		"Persist": func(s *RemoteStore, ctx context.Context) error {
			s.UpdateOffset(mq(0), 50, false)
			return s.Persist(ctx, mq(0))
		},
		"PersistAll": func(s *RemoteStore, ctx context.Context) error {
			s.UpdateOffset(mq(0), 50, false)
			return s.PersistAll(ctx, []offset.MessageQueue{mq(0)})
		},
		"the loop": func(s *RemoteStore, ctx context.Context) error {
			s.UpdateOffset(mq(0), 50, false)
			s.tick(ctx)
			return nil
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1")
			s := f.store()
			read(t, s, 0)
			s.UpdateOffset(mq(0), 90, true)
			persist(t, s, 0)
			slowFirst(f)
			oneWay(t, s, mq(0), 95)
			synctest.Wait()
			oneWay(t, s, mq(0), 100)
			synctest.Wait()
			if err := lower(s, within(t, 10*time.Second)); err != nil {
				t.Errorf("%s: %v", what, err)
			}
			time.Sleep(3 * time.Second)
			wantAt(t, f, 0, 50)
		})
	}
}

// A run that has waited already leaves a lowering that came then to the next one.
func TestALoweringDoesNotOvertakeWhatWasSentOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 90, true)
		persist(t, s, 0)
		s.sending <- struct{}{} // a run under way
		s.UpdateOffset(mq(0), 91, true)
		ctx := within(t, time.Minute)
		first := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		oneWay(t, s, mq(0), 100)
		synctest.Wait()
		s.UpdateOffset(mq(0), 50, false)
		<-s.sending
		if err := <-first; !errors.Is(err, offset.ErrBusy) || len(s.queuesOf(err)) != 1 {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		wantAt(t, f, 0, 100)
		persist(t, s, 0)
		wantAt(t, f, 0, 50)
	})
}

// A lowering that waits for what was sent one way before it is replaced by what is sent
// one way after it, and undoes none of that.
func TestALoweringThatWaitsIsReplacedByWhatIsSentOneWayAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		s.UpdateOffset(mq(0), 90, true)
		persist(t, s, 0)
		s.sending <- struct{}{} // a run under way
		oneWay(t, s, mq(0), 95)
		s.UpdateOffset(mq(0), 50, false)
		ctx := within(t, time.Minute)
		lowering := background(func() error { return s.Persist(ctx, mq(0)) })
		synctest.Wait()
		for n := range int64(10) {
			oneWay(t, s, mq(0), 96+n)
		}
		<-s.sending
		if err := <-lowering; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		wantAt(t, f, 0, 105)
		if _, sets := f.state.applied(); sets != 0 {
			t.Errorf("%d sets", sets)
		}
	})
}

// Whether an offset lowers its queue is known when it is sent one way: what raised
// the queue before its turn came is a later word, or another consumer's.
func TestWhatWasSentOneWayUndoesNothingSaidLater(t *testing.T) {
	exact := func(oneway bool) func(t *testing.T, s *RemoteStore) {
		return func(t *testing.T, s *RemoteStore) {
			ctx := within(t, time.Minute)
			background(func() error { return s.UpdateConsumeOffsetToBroker(ctx, mq(0), 100, oneway) })
			synctest.Wait()
		}
	}
	raise := func(t *testing.T, s *RemoteStore) {
		s.UpdateOffset(mq(0), 150, true)
		persist(t, s, 0)
	}
	first := func(t *testing.T, s *RemoteStore) {
		oneWay(t, s, mq(0), 95)
		synctest.Wait()
	}
	for name, steps := range map[string][]func(t *testing.T, s *RemoteStore){
		"after one under way":                        {first, exact(true), raise},
		"with an answer, after one under way":        {first, exact(false), raise},
		"alone":                                      {func(t *testing.T, s *RemoteStore) { oneWay(t, s, mq(0), 100) }, raise},
		"another consumer, after one under way":      {first, exact(true), raiseByAnother},
		"another consumer, and one with an answer":   {first, exact(false), raiseByAnother},
		"another consumer, whose offset is not ours": {first, raiseByAnother, exact(true)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1")
			s := f.store()
			read(t, s, 0)
			slowFirst(f)
			for _, step := range steps {
				step(t, s)
			}
			time.Sleep(3 * time.Second)
			if at := f.state.at(key(0)); at != 150 {
				t.Errorf("%s: the queue is at %d", name, at)
			}
			if _, sets := f.state.applied(); sets != 0 {
				t.Errorf("%s: %d sets", name, sets)
			}
			if st := s.Stats(); st.Unpersisted != 0 || st.Failed != 0 {
				t.Errorf("%s: %+v", name, st)
			}
		})
	}
}

// raiseByAnother is the commit of another consumer that has the queue.
func raiseByAnother(t *testing.T, s *RemoteStore) {
	other, err := NewRemoteStore(s.client, s.group, WithPersistInterval(0))
	if err != nil {
		t.Fatal(err)
	}
	read(t, other, 0)
	other.UpdateOffset(mq(0), 150, true)
	persist(t, other, 0)
}

// An offset that lowers is the memory's from the call on, and a later word replaces
// it there.
func TestALoweringSentOneWayIsTheMemorys(t *testing.T) {
	for name, c := range map[string]struct {
		then func(t *testing.T, s *RemoteStore)
		at   int64
		sets int
	}{
		"nothing later": {func(t *testing.T, s *RemoteStore) {}, 100, 1},
		"raised later":  {func(t *testing.T, s *RemoteStore) { s.UpdateOffset(mq(0), 200, true) }, 200, 0},
		"lowered later": {func(t *testing.T, s *RemoteStore) { s.UpdateOffset(mq(0), 40, false) }, 40, 1},
		"another, lower than what was sent before": {func(t *testing.T, s *RemoteStore) { oneWay(t, s, mq(0), 120) }, 120, 1},
		"another, higher than the store has":       {func(t *testing.T, s *RemoteStore) { oneWay(t, s, mq(0), 170) }, 170, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1")
			s := f.store()
			read(t, s, 0)
			s.sending <- struct{}{} // a run under way
			oneWay(t, s, mq(0), 150)
			oneWay(t, s, mq(0), 100) // below what is about to be there
			synctest.Wait()
			if m := s.CloneOffsetTable(""); m[mq(0)] != 100 {
				t.Errorf("%s: memory %v", name, m)
			}
			c.then(t, s)
			<-s.sending
			synctest.Wait()
			if at := f.state.at(key(0)); at != c.at {
				t.Errorf("%s: the queue is at %d", name, at)
			}
			if _, sets := f.state.applied(); sets != c.sets {
				t.Errorf("%s: %d sets", name, sets)
			}
			if err := s.Persist(within(t, time.Second), mq(0)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if at := f.state.at(key(0)); at != c.at {
				t.Errorf("%s: the queue is at %d after another run", name, at)
			}
		})
	}
}

// An offset that does not lower is a later word than a lowering that was not sent yet:
// that does not undo it once it is persisted.
func TestAnExactOffsetReplacesALoweringThatWasNotSent(t *testing.T) {
	lowerings := map[string]func(t *testing.T, s *RemoteStore){
		"in memory": func(t *testing.T, s *RemoteStore) { s.UpdateOffset(mq(0), 50, false) },
		"exact, whose turn did not come": func(t *testing.T, s *RemoteStore) {
			_ = within300(t, "UpdateConsumeOffsetToBroker", func(ctx context.Context) error {
				return s.UpdateConsumeOffsetToBroker(ctx, mq(0), 50, false)
			})
		},
		"one way, whose turn did not come": func(t *testing.T, s *RemoteStore) {
			oneWay(t, s, mq(0), 50)
			time.Sleep(s.set.timeout)
			synctest.Wait()
		},
	}
	between := map[string]struct {
		do func(t *testing.T, s *RemoteStore)
		at int64
	}{
		"nothing":          {func(t *testing.T, s *RemoteStore) {}, 120},
		"another consumer": {raiseByAnother, 150},
	}
	for lowering, lower := range lowerings {
		for what, b := range between {
			for _, oneway := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					f := newFakeCluster(t, "a:1")
					f.state.reset(key(0), 100)
					s := f.store()
					read(t, s, 0)
					s.sending <- struct{}{} // a run under way
					lower(t, s)
					<-s.sending
					b.do(t, s)
					if err := s.UpdateConsumeOffsetToBroker(within(t, time.Second), mq(0), 120, oneway); err != nil {
						t.Fatal(err)
					}
					wantRead(t, s, mq(0), ReadFromMemory, 120)
					synctest.Wait()
					s.tick(within(t, time.Second))
					if at := f.state.at(key(0)); at != b.at {
						t.Errorf("%s, then %s, oneway %t: the queue is at %d", lowering, what, oneway, at)
					}
					if _, sets := f.state.applied(); sets != 0 {
						t.Errorf("%s, then %s, oneway %t: %d sets", lowering, what, oneway, sets)
					}
				})
			}
		}
	}
}

// One that was not taken replaces nothing.
func TestAnExactOffsetThatIsNotTakenLeavesALowering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(0), 100)
		s := f.store()
		read(t, s, 0, 1)
		s.sending <- struct{}{} // a run under way
		for n := range int64(maxBehind) {
			oneWay(t, s, mq(1), n)
		}
		s.UpdateOffset(mq(0), 50, false)
		if err := s.UpdateConsumeOffsetToBroker(context.Background(), mq(0), 120, true); !errors.Is(err, offset.ErrBusy) {
			t.Error(err)
		}
		<-s.sending
		persist(t, s, 0)
		wantAt(t, f, 0, 50)
	})
}

// A queue that was removed and read again is another: what was asked for before is
// not of its epoch.
func TestAnExactOffsetIsNotSentUnderALaterEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0)
		s.sending <- struct{}{} // a run under way
		ctx := within(t, time.Minute)
		sent := background(func() error { return s.UpdateConsumeOffsetToBroker(ctx, mq(0), 100, false) })
		synctest.Wait()
		f.state.reset(key(0), 7)
		s.RemoveOffset(mq(0))
		read(t, s, 0)
		<-s.sending
		if err := <-sent; !errors.Is(err, offset.ErrNotRead) {
			t.Error(err)
		}
		wantAt(t, f, 0, 7)
	})
}

// Callers that wait for what was sent one way do so within their context.
func TestTheWaitForWhatWasSentOneWayIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		f.state.reset(key(0), 90)
		read(t, s, 0, 1)
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		oneWay(t, s, mq(0), 95)
		s.UpdateOffset(mq(0), 50, false)
		for what, do := range map[string]func(context.Context) error{
			"Persist": func(ctx context.Context) error { return s.Persist(ctx, mq(0)) },
			"UpdateConsumeOffsetToBroker": func(ctx context.Context) error {
				return s.UpdateConsumeOffsetToBroker(ctx, mq(0), 50, false)
			},
		} {
			if err := within300(t, what, do); len(s.queuesOf(err)) != 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}

// An OnFenced in the goroutine of what was sent one way may read that queue.
func TestAFenceOfWhatWasSentOneWayMayReadTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var s *RemoteStore
		got := make(chan error, 1)
		s = f.store(WithOnFenced(func(x Fence) {
			s.RemoveOffset(x.Queue)
			_, err := s.ReadOffset(within(t, time.Second), x.Queue, ReadFromStore)
			got <- err
		}))
		read(t, s, 0)
		f.state.reset(key(0), 4)
		oneWay(t, s, mq(0), 7)
		if err := <-got; err != nil {
			t.Error(err)
		}
	})
}

// Close lets come through what was sent one way before.
func TestCloseAwaitsWhatWasSentOneWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0, 1)
		f.delay(key(0))
		oneWay(t, s, mq(0), 4)
		oneWay(t, s, mq(1), 5)
		if err := s.Close(within(t, time.Minute)); err != nil {
			t.Fatal(err)
		}
		wantAt(t, f, 0, 4)
		wantAt(t, f, 1, 5)
	})
}

func TestLocalOneWayIsWrittenByTheNextRun(t *testing.T) {
	f := newShelf(t)
	s := f.load()
	s.UpdateAndFreezeOffset(bk("b", 0), 2)
	for _, q := range []int32{0, 1} {
		if err := s.UpdateConsumeOffsetToBroker(context.Background(), bk("b", q), 7, true); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(f.names()); n != 0 {
		t.Errorf("%q were written at once", f.names())
	}
	s.tick(context.Background())
	f.holds("offsets.json", map[offset.MessageQueue]int64{bk("b", 0): 7, bk("b", 1): 7})
}
