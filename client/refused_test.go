package client

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// barred refuses commits of the queues with these ids.
func barred(why error, ids ...int32) func(offset.Key) error {
	return func(k offset.Key) error {
		if slices.Contains(ids, k.QueueID) {
			return why
		}
		return nil
	}
}

// raise gives queues 0 to n-1 an offset to persist.
func raise(s *RemoteStore, n int, to int64) (all []offset.MessageQueue) {
	for id := range int32(n) {
		all = append(all, mq(id))
		s.UpdateOffset(mq(id), to, true)
	}
	return all
}

// readMany is read for queues 0 to n-1, without a request for each.
func readMany(s *RemoteStore, n int) {
	for id := range int32(n) {
		e := &entry{}
		e.take(offset.KeyState{}, testCluster)
		s.table[mq(id)] = e
	}
}

// A topic that grew by a queue in a group that is at its limit: the cluster
// refuses a request that would add it, and has the others all the same.
func TestAQueueOverALimitHoldsUpItselfAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()))
		read(t, s, 0, 1, 9)
		for _, id := range []int32{0, 1, 9} {
			s.UpdateOffset(mq(id), 50, true)
		}
		f.bar(barred(offset.ErrLimit, 9))
		err := s.Close(within(t, time.Second))
		if !errors.Is(err, offset.ErrLimit) || !slices.Equal(s.queuesOf(err), []offset.MessageQueue{mq(9)}) {
			t.Errorf("%v", err)
		}
		wantAt(t, f, 0, 50)
		wantAt(t, f, 1, 50)
		wantAt(t, f, 9, -1)
		if got := l.take(); !slices.Equal(got[:2], []string{"persisted 0 at 50", "persisted 1 at 50"}) || len(got) != 3 {
			t.Errorf("told %q", got)
		}
		f.bar(nil)
		if err := s.Close(within(t, time.Second)); err != nil {
			t.Error(err)
		}
		wantAt(t, f, 9, 50)
	})
}

// What a policy denies is known by the next run, which sends the rest in one request.
func TestADeniedTopicHoldsUpNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		denied := offset.MessageQueue{Topic: "secret", QueueID: 5}
		if _, err := s.ReadOffset(within(t, time.Second), denied, ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
			t.Fatal(err)
		}
		readMany(s, 1000)
		f.bar(func(k offset.Key) error {
			if k.Topic == "secret" {
				return offset.ErrDenied
			}
			return nil
		})
		for n := range int64(3) {
			s.UpdateOffset(denied, n, true)
			all := append(raise(s, 1000, n), denied)
			before := f.count("commit")
			err := s.PersistAll(within(t, time.Second), all)
			if !errors.Is(err, offset.ErrDenied) || !slices.Equal(s.queuesOf(err), []offset.MessageQueue{denied}) {
				t.Fatalf("run %d: %v", n, err)
			}
			wantAt(t, f, 0, n)
			wantAt(t, f, 999, n)
			if sent := f.count("commit") - before; n == 0 && sent > 21 || n > 0 && sent != 2 {
				t.Errorf("run %d: %d requests", n, sent)
			}
		}
	})
}

// Where nothing is allowed a run does not try each queue.
func TestRefusalsOfAllAreFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		readMany(s, 10_000)
		f.bar(func(offset.Key) error { return offset.ErrDenied })
		for n := range int64(3) {
			all := raise(s, 10_000, n)
			before := f.count("commit")
			err := s.PersistAll(within(t, time.Second), all)
			if !errors.Is(err, offset.ErrDenied) || len(s.queuesOf(err)) != 10_000 {
				t.Fatalf("run %d: %d queues are named", n, len(s.queuesOf(err)))
			}
			if sent := f.count("commit") - before; sent > 3+2*maxHalved {
				t.Errorf("run %d: %d requests", n, sent)
			}
		}
		f.bar(nil)
		before := f.count("commit")
		if err := s.PersistAll(within(t, time.Second), raise(s, 10_000, 9)); err != nil {
			t.Fatal(err)
		}
		if sent := f.count("commit") - before; sent > 4 {
			t.Errorf("%d requests once all is allowed", sent)
		}
		wantAt(t, f, 9_999, 9)
	})
}

// What is denied in the midst of a request does not hold up the queues on either side.
func TestAllOfARequestGetsItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		readMany(s, 2000)
		f.bar(func(k offset.Key) error {
			if k.QueueID >= 500 && k.QueueID < 1500 {
				return offset.ErrDenied
			}
			return nil
		})
		for n := range int64(3) {
			err := s.PersistAll(within(t, time.Second), raise(s, 2000, n))
			if !errors.Is(err, offset.ErrDenied) {
				t.Fatal(err)
			}
			for _, id := range []int32{0, 499, 1500, 1999} {
				wantAt(t, f, id, n)
			}
		}
	})
}

// A run that ends before it has found who is to blame leaves the next one what it
// has found.
func TestARunGoesOnWhereTheLastOneEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		readMany(s, 1000)
		f.bar(barred(offset.ErrLimit, 300))
		var answers atomic.Int32 // that are left for a run
		f.play(func(*fakeNode, string, int) (fault, error) {
			if answers.Add(-1) < 0 {
				return refuse, offset.ErrBusy
			}
			return none, nil
		})
		runs := 0
		for ; runs < 8; runs++ {
			answers.Store(8)
			err := s.PersistAll(within(t, time.Second), raise(s, 1000, int64(runs)))
			if slices.Equal(s.queuesOf(err), []offset.MessageQueue{mq(300)}) {
				break
			}
		}
		if runs == 0 || runs == 8 {
			t.Errorf("%d runs until one alone is held up", runs)
		}
	})
}

// More queues are to blame than one run can find: the runs after find them, and
// one that is allowed again gets through though others are not.
func TestRefusedQueuesAreFoundRunByRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		readMany(s, 2000)
		var bad []int32
		var names []offset.MessageQueue
		for id := int32(50); id < 2000; id += 100 {
			bad, names = append(bad, id), append(names, mq(id))
		}
		f.bar(barred(offset.ErrLimit, bad...))
		runs := 0
		for ; runs < 6; runs++ {
			err := s.PersistAll(within(t, time.Second), raise(s, 2000, int64(runs)))
			if slices.Equal(s.queuesOf(err), names) {
				break
			}
		}
		if runs == 0 || runs == 6 {
			t.Fatalf("%d runs until only those to blame are held up", runs)
		}
		f.bar(barred(offset.ErrLimit, bad[1:]...))
		for ; runs < 200 && f.state.at(key(50)) < 0; runs++ {
			_ = s.PersistAll(within(t, time.Second), raise(s, 2000, int64(runs)))
		}
		if f.state.at(key(50)) < 0 {
			t.Error("a queue that is allowed again does not get through")
		}
	})
}
