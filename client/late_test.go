package client

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// within300 runs do with a context of 300 ms, and checks that it came back
// just then.
func within300(t *testing.T, what string, do func(ctx context.Context) error) error {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	err := do(ctx)
	if took := time.Since(began); took > 300*time.Millisecond || err == nil {
		t.Errorf("%s took %s: %v", what, took, err)
	}
	return err
}

// A Close whose turn does not come says which queues are not persisted.
func TestCloseNamesItsQueuesThoughItsTurnDidNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		s := f.store()
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 5, true)
		s.sending <- struct{}{} // a run under way
		for what, do := range map[string]func(context.Context) error{
			"Persist":    func(ctx context.Context) error { return s.Persist(ctx, mq(0)) },
			"PersistAll": func(ctx context.Context) error { return s.PersistAll(ctx, []offset.MessageQueue{mq(0), mq(1)}) },
		} {
			if err := within300(t, what, do); !errors.Is(err, offset.ErrBusy) || len(s.queuesOf(err)) != 1 {
				t.Errorf("%s: %v", what, err)
			}
		}
		err := within300(t, "Close", s.Close)
		if !errors.Is(err, offset.ErrBusy) || !errors.Is(err, context.DeadlineExceeded) || len(s.queuesOf(err)) != 1 || s.queuesOf(err)[0] != mq(0) {
			t.Errorf("Close: %v", err)
		}
		<-s.sending
		if err := s.Close(within(t, time.Second)); err != nil { // it tries again
			t.Error(err)
		}
		wantAt(t, f, 0, 5)
	})
}

// A run whose turn did not come is told and counted like any that failed.
func TestARunWhoseTurnDidNotComeIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()), WithStoreMetrics(&l))
		read(t, s, 0, 1)
		s.UpdateOffset(mq(0), 5, true)
		s.sending <- struct{}{} // a run under way
		for _, do := range []func(context.Context) error{
			func(ctx context.Context) error { return s.Persist(ctx, mq(0)) },
			func(ctx context.Context) error { return s.PersistAll(ctx, []offset.MessageQueue{mq(0), mq(1)}) },
		} {
			_ = within300(t, "a run", do)
			wantLines(t, &l, "failed 0 at 5: busy: context deadline exceeded", "persist clustering billing 0 1 300ms true")
		}
		err := within300(t, "UpdateConsumeOffsetToBroker", func(ctx context.Context) error {
			return s.UpdateConsumeOffsetToBroker(ctx, mq(1), 7, false)
		})
		if !slices.Equal(s.queuesOf(err), []offset.MessageQueue{mq(1)}) {
			t.Errorf("%v", err)
		}
		wantLines(t, &l, "failed 1 at 7: busy: context deadline exceeded", "persist clustering billing 0 1 300ms true")
		_ = within300(t, "Persist of what has not changed", func(ctx context.Context) error { return s.Persist(ctx, mq(1)) })
		wantLines(t, &l)
		if n := s.Stats().Failed; n != 3 {
			t.Errorf("%d runs failed", n)
		}
		<-s.sending
		persist(t, s, 0)
	})
}

// An OnFenced that reads again while the cluster is away, without a deadline,
// does not hold up Close.
func TestCloseEndsReadsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var s *RemoteStore
		got := make(chan error, 1)
		s = f.store(WithPersistInterval(time.Second), WithOnFenced(func(x Fence) {
			f.kill("a:1")
			s.RemoveOffset(x.Queue)
			_, err := s.ReadOffset(context.Background(), x.Queue, ReadFromStore)
			got <- err
		}))
		read(t, s, 0)
		f.state.reset(key(0), 4)
		time.Sleep(3 * time.Second)
		began := time.Now()
		if err := s.Close(within(t, 300*time.Millisecond)); err != nil || time.Since(began) > 300*time.Millisecond {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := <-got; !errors.Is(err, offset.ErrClosed) {
			t.Errorf("the read: %v", err)
		}
	})
}

// hungDisk is a disk that answers nothing until it is let go.
type hungDisk struct {
	realDisk
	hangs chan struct{}
}

func (d *hungDisk) read(path string, n int64) ([]byte, error) {
	<-d.hangs
	return d.realDisk.read(path, n)
}

// TestLocalStoreIsInTimeWhileTheDiskHangs: every call comes back with its
// context, says that it is not known what becomes of the file, and the store
// goes on once the disk does.
func TestLocalStoreIsInTimeWhileTheDiskHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShelf(t)
		d := &hungDisk{hangs: make(chan struct{})}
		var l ledger
		s := f.new(withDisk(d), WithStoreHooks(l.hooks()))
		ctx, q := context.Background(), bk("b", 0)
		s.UpdateOffset(q, 5, true)
		err := within300(t, "Persist", func(ctx context.Context) error { return s.Persist(ctx, q) })
		if !errors.Is(err, offset.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Persist: %v", err)
		}
		for _, do := range []func(context.Context) error{
			func(ctx context.Context) error { return s.PersistAll(ctx, []offset.MessageQueue{q}) },
			func(ctx context.Context) error { _, err := s.ReadOffset(ctx, bk("b", 9), ReadFromStore); return err },
			func(ctx context.Context) error { return s.UpdateConsumeOffsetToBroker(ctx, bk("b", 7), 7, false) },
			s.Close,
		} {
			if err := within300(t, "a call", do); !errors.Is(err, offset.ErrBusy) {
				t.Error(err)
			}
		}
		l.take()
		close(d.hangs)
		synctest.Wait()
		wantLines(t, &l, "persisted 0 at 5") // by the run that was given up
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
		f.holds("offsets.json", map[offset.MessageQueue]int64{q: 5})
	})
}

// A read that is given up while the disk hangs is no "no offset".
func TestLocalReadOfAHungDiskIsNeverNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &hungDisk{hangs: make(chan struct{})}
		s := newShelf(t).new(withDisk(d))
		err := within300(t, "ReadOffset", func(ctx context.Context) error {
			_, err := s.ReadOffset(ctx, bk("b", 0), ReadFromStore)
			return err
		})
		if errors.Is(err, offset.ErrNoOffset) || !errors.Is(err, offset.ErrBusy) {
			t.Error(err)
		}
		close(d.hangs)
	})
}

// TestLocalLateUpdateToBrokerTakesNothingBack: a call that was given up while
// the disk hung does not lay its offset over what the application said since.
func TestLocalLateUpdateToBrokerTakesNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newShelf(t)
		d := &hungDisk{hangs: make(chan struct{})}
		s := f.new(withDisk(d))
		q := bk("b", 0)
		s.UpdateOffset(q, 4, true)
		err := within300(t, "UpdateConsumeOffsetToBroker", func(ctx context.Context) error {
			go func() {
				synctest.Wait() // the call waits for the disk
				s.UpdateOffset(q, 10, true)
			}()
			return s.UpdateConsumeOffsetToBroker(ctx, q, 5, false)
		})
		if !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Error(err)
		}
		wantRead(t, s, q, ReadFromMemory, 10)
		close(d.hangs)
		synctest.Wait()
		persistAll(t, s)
		f.holds("offsets.json", map[offset.MessageQueue]int64{q: 10})
	})
}
