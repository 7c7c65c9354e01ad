package tidemarktest

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// memoryRules are those of what a store holds in memory.
var memoryRules = []rule{
	{"a queue without an offset has none, in each type of reading", func(r *trial) {
		s := r.open()
		for _, from := range []client.ReadOffsetType{client.ReadFromMemory, client.ReadFromStore, client.MemoryFirstThenStore} {
			r.reads(s, 0, from, none)
		}
		r.holds(s, "", nil)
	}},
	{"the types of reading look where they say", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 5, true)
		r.persist(s, 0)
		s = r.open()
		r.reads(s, 0, client.ReadFromStore, 5)
		s.UpdateOffset(r.queue(0), 8, true)
		r.reads(s, 0, client.ReadFromMemory, 8)
		r.reads(s, 0, client.MemoryFirstThenStore, 8)
		r.persist(s, 0)
		s.RemoveOffset(r.queue(0))
		r.reads(s, 0, client.ReadFromMemory, none)
		r.reads(s, 0, client.MemoryFirstThenStore, 8) // and takes it over
		r.reads(s, 0, client.ReadFromMemory, 8)
	}},
	{"an unknown type of reading is refused", func(r *trial) {
		if _, err := r.open().ReadOffset(r.ctx, r.queue(0), 9); !errors.Is(err, offset.ErrInvalid) {
			r.Errorf("%v; want ErrInvalid", err)
		}
	}},
	{"a queue that cannot be is refused", func(r *trial) {
		for _, mq := range []offset.MessageQueue{{}, {Topic: "t", QueueID: -1}, {Topic: "a\nb"}} {
			if _, err := r.open().ReadOffset(r.ctx, mq, client.ReadFromStore); !errors.Is(err, offset.ErrInvalid) {
				r.Errorf("%+v: %v; want ErrInvalid", mq, err)
			}
		}
	}},
	{"an update only raises with increaseOnly, and is ignored if negative", func(r *trial) {
		s := r.reading(0)
		for _, u := range []struct {
			next int64
			only bool
			want int64
		}{{7, true, 7}, {3, true, 7}, {7, true, 7}, {-1, false, 7}, {-1, true, 7}, {3, false, 3}, {4, true, 4}, {0, false, 0}, {4, false, 4}} {
			s.UpdateOffset(r.queue(0), u.next, u.only)
			r.holds(s, "", map[int32]int64{0: u.want})
		}
		s.UpdateOffset(r.queue(1), -5, false)
		r.reads(s, 1, client.ReadFromMemory, none)
	}},
	{"a frozen queue takes no updates until it is removed", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 50, true)
		s.UpdateAndFreezeOffset(r.queue(0), 30)
		s.UpdateOffset(r.queue(0), 60, true)
		s.UpdateOffset(r.queue(0), 20, false)
		r.holds(s, "", map[int32]int64{0: 30})
		r.persist(s, 0)
		r.stored(0, 30)
		s.RemoveOffset(r.queue(0))
		r.reads(s, 0, client.ReadFromStore, 30)
		s.UpdateOffset(r.queue(0), 31, true)
		r.persist(s, 0)
		r.stored(0, 31)
	}},
	{"freezing moves a frozen queue", func(r *trial) {
		s := r.reading(0)
		s.UpdateAndFreezeOffset(r.queue(0), 30)
		s.UpdateAndFreezeOffset(r.queue(0), 10)
		s.UpdateOffset(r.queue(0), 60, true)
		r.holds(s, "", map[int32]int64{0: 10})
	}},
	{"removing drops the memory alone", func(r *trial) {
		s := r.reading(0, 1)
		s.UpdateOffset(r.queue(0), 5, true)
		s.UpdateOffset(r.queue(1), 6, true)
		r.persist(s, 0)
		s.UpdateOffset(r.queue(0), 9, true)
		s.RemoveOffset(r.queue(0))
		s.RemoveOffset(r.queue(7)) // never there
		r.holds(s, "", map[int32]int64{1: 6})
		r.stored(0, 5)
	}},
	{"a clone is of one topic or of all, and the caller's own", func(r *trial) {
		s := r.reading(0, 1, 100)
		for id, v := range map[int32]int64{0: 1, 1: 2, 100: 3} {
			s.UpdateOffset(r.queue(id), v, true)
		}
		r.holds(s, "", map[int32]int64{0: 1, 1: 2, 100: 3})
		r.holds(s, "orders", map[int32]int64{0: 1, 1: 2})
		r.holds(s, r.queue(100).Topic, map[int32]int64{100: 3})
		r.holds(s, "other", nil)
		clone := s.CloneOffsetTable("")
		clone[r.queue(0)] = 99
		delete(clone, r.queue(1))
		r.holds(s, "", map[int32]int64{0: 1, 1: 2, 100: 3})
	}},
}

// crowd has everything called at once (C13); each queue ends where its last
// update was.
func (r *trial) crowd() {
	const queues, rounds = 8, 300
	ids := make([]int32, queues)
	for i := range ids {
		ids[i] = int32(i)
	}
	s := r.reading(append(ids, queues)...)
	var busy, rest sync.WaitGroup
	var over atomic.Bool
	again := func(do func()) {
		rest.Go(func() {
			for !over.Load() {
				do()
			}
		})
	}
	for _, id := range ids {
		busy.Go(func() {
			for n := range int64(rounds) {
				s.UpdateOffset(r.queue(id), n+1, n%7 != 0)
			}
		})
	}
	for id := range int32(4) {
		again(func() {
			for from := client.ReadFromMemory; from <= client.MemoryFirstThenStore; from++ {
				if v, err := s.ReadOffset(r.ctx, r.queue(id), from); err != nil && !errors.Is(err, offset.ErrNoOffset) || v > rounds {
					r.Errorf("reading: %d, %v", v, err)
				}
			}
		})
		again(func() { s.CloneOffsetTable("orders") })
	}
	again(func() {
		if err := r.persistAll(s, append(ids, queues)...); err != nil && !errors.Is(err, offset.ErrNotRead) {
			r.Errorf("persisting: %v", err)
		}
	})
	again(func() { // the one queue that comes and goes
		s.RemoveOffset(r.queue(queues))
		s.ReadOffset(r.ctx, r.queue(queues), client.ReadFromStore)
		s.UpdateOffset(r.queue(queues), 1, true)
	})
	busy.Wait()
	over.Store(true)
	rest.Wait()
	s.RemoveOffset(r.queue(queues))
	if err := r.persistAll(s, ids...); err != nil {
		r.Fatal(err)
	}
	for _, id := range ids {
		r.stored(id, rounds)
	}
}
