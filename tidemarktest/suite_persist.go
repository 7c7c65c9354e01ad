package tidemarktest

import (
	"context"
	"errors"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// persistRules are those of what a store persists.
var persistRules = []rule{
	{"what is persisted is found by the next store", func(r *trial) {
		s := r.reading(0, 1, 100)
		for id, v := range map[int32]int64{0: 10, 1: 1 << 60, 100: 7} {
			s.UpdateOffset(r.queue(id), v, true)
		}
		if err := r.persistAll(s, 0, 1, 100); err != nil {
			r.Fatal(err)
		}
		for id, v := range map[int32]int64{0: 10, 1: 1 << 60, 100: 7, 2: none} {
			r.stored(id, v)
		}
	}},
	{"nothing is persisted that was not asked for", func(r *trial) {
		s := r.reading(0, 1)
		s.UpdateOffset(r.queue(0), 10, true)
		s.UpdateOffset(r.queue(1), 11, true)
		r.stored(0, none)
		r.persist(s, 0)
		r.persist(s, 9) // not in memory
		r.stored(0, 10)
		r.stored(1, none)
	}},
	{"an offset of 0 is an offset", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 0, true)
		r.persist(s, 0)
		r.stored(0, 0)
	}},
	{"a lower value is persisted too", func(r *trial) {
		s := r.reading(0)
		for _, v := range []int64{100, 40, 41, 0, 7} {
			s.UpdateOffset(r.queue(0), v, false)
			r.persist(s, 0)
			r.stored(0, v)
		}
	}},
	{"two queues that differ in the broker alone are two", func(r *trial) {
		s := r.open()
		north, south := offset.MessageQueue{Topic: "t", Broker: "north", QueueID: 1}, offset.MessageQueue{Topic: "t", Broker: "south", QueueID: 1}
		for mq, v := range map[offset.MessageQueue]int64{north: 100, south: 7} {
			if _, err := s.ReadOffset(r.ctx, mq, client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
				r.Errorf("%+v: %v; want ErrNoOffset", mq, err)
			}
			s.UpdateOffset(mq, v, true)
		}
		if err := s.PersistAll(r.ctx, []offset.MessageQueue{north, south}); err != nil {
			r.Fatal(err)
		}
		for mq, want := range map[offset.MessageQueue]int64{north: 100, south: 7} {
			if v, err := r.open().ReadOffset(r.ctx, mq, client.ReadFromStore); v != want || err != nil {
				r.Errorf("%+v: %d, %v; want %d", mq, v, err, want)
			}
		}
	}},
	{"persisting no queue does nothing", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 7, true)
		if err := errors.Join(s.PersistAll(r.ctx, nil), s.PersistAll(r.ctx, []offset.MessageQueue{})); err != nil {
			r.Error(err)
		}
		r.holds(s, "", map[int32]int64{0: 7})
		r.stored(0, none)
	}},
	{"what PersistAll is not given is kept or dropped, never lost in silence", func(r *trial) {
		s := r.reading(0, 1, 2)
		for id := range int32(3) {
			s.UpdateOffset(r.queue(id), 10, true)
		}
		r.persist(s, 1)
		err := r.persistAll(s, 0)
		r.stored(0, 10)
		r.stored(2, none)
		if r.Keeps {
			if err != nil {
				r.Error(err)
			}
			r.holds(s, "", map[int32]int64{0: 10, 1: 10, 2: 10})
			return
		}
		r.names(err, offset.ErrDropped, map[int32]int64{2: 10})
		r.holds(s, "", map[int32]int64{0: 10})
	}},
	{"this very offset is persisted, whatever the memory holds", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 3, true)
		for _, v := range []int64{7, 2, 9} {
			if err := s.UpdateConsumeOffsetToBroker(r.ctx, r.queue(0), v, false); err != nil {
				r.Fatal(err)
			}
			r.stored(0, v)
		}
		if err := s.UpdateConsumeOffsetToBroker(r.ctx, r.queue(0), -2, false); !errors.Is(err, offset.ErrInvalid) {
			r.Errorf("a negative offset: %v; want ErrInvalid", err)
		}
		r.stored(0, 9)
	}},
	{"this very offset is persisted one way", func(r *trial) {
		s := r.reading(0)
		if err := s.UpdateConsumeOffsetToBroker(r.ctx, r.queue(0), 7, true); err != nil {
			r.Fatal(err)
		}
		r.reads(s, 0, client.ReadFromStore, 7) // a read waits for it
	}},
	{"a later read changes nothing", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 10, true)
		r.persist(s, 0)
		s.UpdateOffset(r.queue(0), 20, true)
		if _, err := s.ReadOffset(r.ctx, r.queue(0), client.ReadFromStore); err != nil {
			r.Error(err)
		}
		r.holds(s, "", map[int32]int64{0: 20})
		r.persist(s, 0)
		r.stored(0, 20)
	}},
	{"closing persists the rest, and ends the store", func(r *trial) {
		s, ok := r.reading(0).(client.Store)
		if !ok {
			r.Skip("this store has no Close")
		}
		s.UpdateOffset(r.queue(0), 10, true)
		if err := s.Close(r.ctx); err != nil {
			r.Error(err)
		}
		r.stored(0, 10)
		s.UpdateOffset(r.queue(0), 20, true)
		_, reading := s.ReadOffset(r.ctx, r.queue(0), client.ReadFromStore)
		for what, err := range map[string]error{
			"reading": reading, "persisting": s.Persist(r.ctx, r.queue(0)), "persisting all": r.persistAll(s, 0),
			"sending": s.UpdateConsumeOffsetToBroker(r.ctx, r.queue(0), 20, false),
		} {
			if !errors.Is(err, offset.ErrClosed) {
				r.Errorf("%s after Close: %v; want ErrClosed", what, err)
			}
		}
		if err := s.Close(r.ctx); err != nil {
			r.Errorf("a second Close: %v", err)
		}
		r.stored(0, 10)
	}},
	{"memory is read whatever the context", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 10, true)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		for _, from := range []client.ReadOffsetType{client.ReadFromMemory, client.MemoryFirstThenStore} {
			if v, err := s.ReadOffset(ctx, r.queue(0), from); v != 10 || err != nil {
				r.Errorf("type of reading %d: %d, %v; want 10", from, v, err)
			}
		}
	}},
}
