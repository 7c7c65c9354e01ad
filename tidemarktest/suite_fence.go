package tidemarktest

import (
	"errors"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// fenceRules are those of a store whose group has operators, and other
// consumers: a value is persisted only under the epoch that was read with the
// offset it rests on.
var fenceRules = []rule{
	{"a value of a queue that was never read stays in memory", func(r *trial) {
		r.Reset(r.queue(0), 40)
		s := r.open()
		s.UpdateOffset(r.queue(0), 50, true)
		for range 2 {
			r.names(s.Persist(r.ctx, r.queue(0)), offset.ErrNotRead, map[int32]int64{0: 50})
		}
		r.names(s.UpdateConsumeOffsetToBroker(r.ctx, r.queue(0), 60, false), offset.ErrNotRead, map[int32]int64{0: 60})
		r.holds(s, "", map[int32]int64{0: 50})
		r.stored(0, 40)
		r.reads(s, 0, client.ReadFromStore, 40) // takes over: the value rested on nothing
		r.holds(s, "", map[int32]int64{0: 40})
		s.UpdateOffset(r.queue(0), 41, true)
		r.persist(s, 0)
		r.stored(0, 41)
	}},
	{"a queue that missed a reset is frozen until it is removed and read again", func(r *trial) {
		s := r.reading(0, 1)
		for id := range int32(2) {
			s.UpdateOffset(r.queue(id), 100, true)
			r.persist(s, id)
		}
		r.Reset(r.queue(0), 40)
		for id := range int32(2) {
			s.UpdateOffset(r.queue(id), 101, true)
		}
		for range 2 {
			r.names(r.persistAll(s, 0, 1), offset.ErrFenced, map[int32]int64{0: 101})
		}
		s.UpdateOffset(r.queue(0), 200, true) // ignored, and told
		r.names(s.Persist(r.ctx, r.queue(0)), offset.ErrFenced, map[int32]int64{0: 101})
		r.stored(0, 40)
		r.stored(1, 101)
		s.RemoveOffset(r.queue(0))
		r.reads(s, 0, client.ReadFromStore, 40)
		s.UpdateOffset(r.queue(0), 41, true)
		r.persist(s, 0)
		r.stored(0, 41)
	}},
	{"a later read does not take the epoch over", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 20, true)
		r.Reset(r.queue(0), 5)
		r.reads(s, 0, client.ReadFromStore, 5)
		r.holds(s, "", map[int32]int64{0: 20})
		r.names(s.Persist(r.ctx, r.queue(0)), offset.ErrFenced, map[int32]int64{0: 20})
		r.stored(0, 5)
	}},
	{"a fence holds for a lowering, too", func(r *trial) {
		s := r.reading(0)
		s.UpdateOffset(r.queue(0), 20, true)
		r.persist(s, 0)
		r.Reset(r.queue(0), 20)
		s.UpdateOffset(r.queue(0), 10, false)
		r.names(s.Persist(r.ctx, r.queue(0)), offset.ErrFenced, map[int32]int64{0: 10})
		r.stored(0, 20)
	}},
	{"a smaller value of another consumer takes nothing back", func(r *trial) {
		a, b := r.reading(0), r.reading(0)
		a.UpdateOffset(r.queue(0), 10, true)
		r.persist(a, 0)
		b.UpdateOffset(r.queue(0), 5, true)
		r.persist(b, 0)
		r.stored(0, 10)
	}},
	{"a lowering that a commit overtook is not done", func(r *trial) {
		a, b := r.reading(0), r.reading(0)
		for _, s := range []client.OffsetStore{a, b} {
			s.UpdateOffset(r.queue(0), 10, true)
			r.persist(s, 0)
		}
		b.UpdateOffset(r.queue(0), 20, true)
		r.persist(b, 0)
		a.UpdateOffset(r.queue(0), 3, false)
		err := a.Persist(r.ctx, r.queue(0))
		r.names(err, offset.ErrOvertaken, map[int32]int64{0: 3})
		if errors.Is(err, offset.ErrFenced) {
			r.Errorf("%v is told as a fence; no act was missed", err)
		}
		r.stored(0, 20)
	}},
	{"another consumer's lowering fences", func(r *trial) {
		a, b := r.reading(0), r.reading(0)
		a.UpdateOffset(r.queue(0), 10, true)
		r.persist(a, 0)
		a.UpdateOffset(r.queue(0), 4, false)
		r.persist(a, 0)
		b.UpdateOffset(r.queue(0), 9, true)
		r.names(b.Persist(r.ctx, r.queue(0)), offset.ErrFenced, map[int32]int64{0: 9})
		a.UpdateOffset(r.queue(0), 5, true)
		r.persist(a, 0)
		r.stored(0, 5)
	}},
}
