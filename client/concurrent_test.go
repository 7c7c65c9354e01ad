package client

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestConcurrentUse has everything called at once: eight goroutines update,
// four read in all three ways, one persists all, one removes and reads again,
// two copy the memory (C13). Each queue ends where its last update was.
func TestConcurrentUse(t *testing.T) {
	f := newFakeCluster(t, "a:1", "b:1")
	s := f.store(WithPersistInterval(2 * time.Millisecond))
	ctx := within(t, time.Minute)
	const queues, rounds = 8, 400
	var all []offset.MessageQueue
	for id := range int32(queues + 1) {
		all = append(all, mq(id))
		read(t, s, id)
	}
	var busy, rest sync.WaitGroup
	stop, cancel := context.WithCancel(ctx)
	again := func(do func()) {
		rest.Go(func() {
			for stop.Err() == nil {
				do()
			}
		})
	}
	for id := range int32(queues) {
		busy.Go(func() {
			for n := range int64(rounds) {
				s.UpdateOffset(mq(id), n+1, n%7 != 0)
				if n%50 == 0 { // a deliberate lowering now and then
					s.UpdateOffset(mq(id), n/2, false)
					s.UpdateOffset(mq(id), n+1, true)
				}
				time.Sleep(10 * time.Microsecond)
			}
		})
	}
	for i := range 4 {
		again(func() {
			for _, from := range []ReadOffsetType{ReadFromMemory, ReadFromStore, MemoryFirstThenStore} {
				if _, err := s.ReadOffset(ctx, mq(int32(i)), from); err != nil && !errors.Is(err, offset.ErrNoOffset) {
					t.Errorf("reading: %v", err)
				}
			}
		})
	}
	again(func() {
		if err := s.PersistAll(ctx, all); err != nil && !errors.Is(err, offset.ErrNotRead) {
			t.Errorf("persisting: %v", err)
		}
	})
	again(func() { // the one queue that comes and goes
		s.RemoveOffset(mq(queues))
		if _, err := s.ReadOffset(ctx, mq(queues), ReadFromStore); err != nil && !errors.Is(err, offset.ErrNoOffset) {
			t.Errorf("reading again: %v", err)
		}
		s.UpdateOffset(mq(queues), 1, true)
	})
	for range 2 {
		again(func() {
			for q, v := range s.CloneOffsetTable("orders") {
				if v < 0 || v > rounds {
					t.Errorf("%v is at %d", q, v)
				}
			}
			time.Sleep(50 * time.Microsecond)
		})
	}
	busy.Wait()
	cancel()
	rest.Wait()
	if err := s.PersistAll(ctx, all); err != nil {
		t.Fatal(err)
	}
	for id := range int32(queues) {
		wantAt(t, f, id, rounds)
	}
}
