package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
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
		s.sending <- struct{}{} // a run that goes on
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
