package fsm

import (
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/table"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// batch applies entries to the table. What they changed, the answers and the
// news for the callbacks are one: they come out together in publish, or not at
// all.
type batch struct {
	fsm   *FSM
	table *table.Table
	// results are the answers: those before done are published, those before
	// next are all there, and the one at next is in the making.
	results    []any
	done, next int

	// index and time are those of the entry that is being applied; as in the
	// table, the time never goes back.
	index uint64
	time  int64
	// dirty: there are changes to publish. spoilt: they hold half an entry, so
	// that they never will be.
	dirty, spoilt bool

	records []Record
	marks   []mark
	configs []config
}

// mark is the digest at a checkpoint.
type mark struct {
	index  uint64
	digest offset.Digest
}

// config is a configuration and the index of its entry.
type config struct {
	index uint64
	c     raft.Configuration
}

func newBatch(f *FSM, n int) *batch {
	t := f.table.Load()
	return &batch{fsm: f, table: t, time: t.Root().Time(), results: make([]any, n)}
}

// begin opens an entry.
func (b *batch) begin(index uint64, timeMS int64) {
	if planted.Is(planted.ApplyByClock) {
		timeMS = planted.Clock()
	}
	b.index, b.time, b.dirty = index, max(b.time, timeMS), true
	b.table.Begin(index, timeMS)
}

// try runs what changes the table for one entry. If that panics the entry may
// be applied by half: the FSM latches, and nothing is published that is not
// yet, nor answered.
func (b *batch) try(index uint64, step func()) {
	err := guard(func() error { step(); return nil })
	if err == nil {
		return
	}
	b.fsm.fail(index, err)
	b.spoilt = true // by half an entry, or by half a Publish
	b.records, b.marks, b.configs = nil, nil, nil
	for i, r := range b.results[b.done:] {
		if a, ok := r.(*Answers); ok {
			b.results[b.done+i] = &Answers{Index: a.Index, Err: b.fsm.Err()}
		}
	}
}

// publish makes all that was applied visible, completes the answers and calls the
// callbacks.
func (b *batch) publish() {
	if b.spoilt {
		return
	}
	if b.dirty {
		b.table.Publish()
		b.dirty = false
		b.fsm.waiters.wake(b.table.Root().Index())
	}
	b.complete(b.table.Root().LastAct())
	b.tell()
}

// complete fills in what answers say of the state that they are published with.
func (b *batch) complete(lastAct uint64) {
	for ; b.done < b.next; b.done++ {
		if a, ok := b.results[b.done].(*Answers); ok {
			a.LastAct = lastAct
		}
	}
}

// tell hands out what the callbacks are for.
func (b *batch) tell() {
	c := &b.fsm.config
	for _, r := range b.records {
		c.Audit(r)
	}
	for _, m := range b.marks {
		if c.Checkpoint != nil {
			c.Checkpoint(m.index, m.digest)
		}
	}
	for _, k := range b.configs {
		if c.Configuration != nil {
			c.Configuration(k.index, k.c)
		}
	}
	b.records, b.marks, b.configs = b.records[:0], b.marks[:0], b.configs[:0]
}

// collect returns where the table notes what it changes, nil if nobody asks.
func (b *batch) collect() *table.Changes {
	if b.fsm.config.Audit == nil {
		return nil
	}
	b.fsm.changes.Reset()
	return &b.fsm.changes
}

// record completes r and keeps it until its entry is published.
func (b *batch) record(asked *entry.Request, r Record, ch *table.Changes) {
	if b.fsm.config.Audit == nil {
		return
	}
	r.Index, r.Time = b.index, b.time
	r.Principal, r.From = asked.Principal, asked.From
	if ch != nil {
		r.Changed, r.Replaced, r.Lowered = ch.Total, ch.Replaced, ch.Lowered
		r.Keys = append([]table.Change(nil), ch.First...)
	}
	b.records = append(b.records, r)
}
