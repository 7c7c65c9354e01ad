package tidemarktest

import (
	"context"
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Subject is an OffsetStore under TestOffsetStore: a place where one group's
// offsets are persisted, empty at first, and stores over it.
type Subject struct {
	// Open opens a further store over the place, as another process, or the
	// next start of this one, would, and loads it. It has no persist loop. If it
	// has a Close as client.Store has it, that is called in the end.
	Open func() client.OffsetStore
	// Reset moves a queue as an operator does. nil: there are no operators, and
	// a store takes every value, whether its queue was read before or not, as a
	// client.LocalFileStore does.
	Reset func(mq offset.MessageQueue, next int64)
	// Keeps says that PersistAll leaves the queues that it is not given in
	// memory; else it drops them.
	Keeps bool
}

// TestOffsetStore checks that an OffsetStore does what the interface says, one
// subtest for each rule; start gives each a Subject of its own. All stores of
// this module pass it, and whoever writes one should have it pass, under the
// race detector.
func TestOffsetStore(t *testing.T, start func(t *testing.T) Subject) {
	t.Helper()
	rules := append(memoryRules, persistRules...)
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) { r.check(newTrial(t, start(t))) })
	}
	for _, r := range fenceRules {
		t.Run(r.name, func(t *testing.T) {
			s := start(t)
			if s.Reset == nil {
				t.Skip("this store has no operators")
			}
			r.check(newTrial(t, s))
		})
	}
	t.Run("everything may be called at once", func(t *testing.T) { newTrial(t, start(t)).crowd() })
}

// rule is one thing that a store must do.
type rule struct {
	name  string
	check func(r *trial)
}

// trial is a rule under test.
type trial struct {
	*testing.T
	Subject
	ctx context.Context
}

func newTrial(t *testing.T, s Subject) *trial {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return &trial{T: t, Subject: s, ctx: ctx}
}

// queue is the queue of that number; 100 and above are of another topic.
func (r *trial) queue(id int32) offset.MessageQueue {
	mq := offset.MessageQueue{Topic: "orders", Broker: "bk", QueueID: id}
	if id >= 100 {
		mq.Topic, mq.QueueID = "%RETRY%a/b 组", id-100
	}
	return mq
}

// open opens a store and closes it in the end.
func (r *trial) open() client.OffsetStore {
	r.Helper()
	s := r.Subject.Open()
	if c, ok := s.(client.Store); ok {
		r.Cleanup(func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel() // what is left was left on purpose
			_ = c.Close(ctx)
		})
	}
	return s
}

// reading opens a store and reads queues, as a consumer does before their
// first message.
func (r *trial) reading(ids ...int32) client.OffsetStore {
	r.Helper()
	s := r.open()
	for _, id := range ids {
		if _, err := s.ReadOffset(r.ctx, r.queue(id), client.ReadFromStore); err != nil && !errors.Is(err, offset.ErrNoOffset) {
			r.Fatalf("reading queue %d: %v", id, err)
		}
	}
	return s
}

// none stands for ErrNoOffset where a value is expected.
const none = -1

// reads fails the test unless a read of a queue gives want.
func (r *trial) reads(s client.OffsetStore, id int32, from client.ReadOffsetType, want int64) {
	r.Helper()
	v, err := s.ReadOffset(r.ctx, r.queue(id), from)
	switch {
	case want == none && (v != 0 || !errors.Is(err, offset.ErrNoOffset)):
		r.Errorf("queue %d, type of reading %d: %d, %v; want 0 and ErrNoOffset", id, from, v, err)
	case want != none && (v != want || err != nil):
		r.Errorf("queue %d, type of reading %d: %d, %v; want %d", id, from, v, err, want)
	}
}

// holds fails the test unless the memory is want.
func (r *trial) holds(s client.OffsetStore, topic string, want map[int32]int64) {
	r.Helper()
	all := make(map[offset.MessageQueue]int64)
	for id, v := range want {
		all[r.queue(id)] = v
	}
	if got := s.CloneOffsetTable(topic); !maps.Equal(got, all) {
		r.Errorf("the memory of topic %q is %v; want %v", topic, got, all)
	}
}

// stored fails the test unless a further store finds want.
func (r *trial) stored(id int32, want int64) {
	r.Helper()
	r.reads(r.open(), id, client.ReadFromStore, want)
}

func (r *trial) persist(s client.OffsetStore, id int32) {
	r.Helper()
	if err := s.Persist(r.ctx, r.queue(id)); err != nil {
		r.Fatalf("persisting queue %d: %v", id, err)
	}
}

func (r *trial) persistAll(s client.OffsetStore, ids ...int32) error {
	var list []offset.MessageQueue
	for _, id := range ids {
		list = append(list, r.queue(id))
	}
	return s.PersistAll(r.ctx, list)
}

// names fails the test unless err is a PersistError of these queues, each with
// its value and the cause.
func (r *trial) names(err, cause error, want map[int32]int64) {
	r.Helper()
	p := (*client.PersistError)(nil)
	if !errors.As(err, &p) || len(p.Queues) != len(want) {
		r.Fatalf("%v; want a PersistError of %d queues", err, len(want))
	}
	for id, v := range want {
		found := false
		for _, q := range p.Queues {
			found = found || q.Queue == r.queue(id) && q.Offset == v && errors.Is(q.Err, cause)
		}
		if !found || !errors.Is(err, cause) {
			r.Errorf("%+v; want %d of queue %d with %v", p.Queues, v, id, cause)
		}
	}
}
