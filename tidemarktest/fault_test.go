package tidemarktest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// TestFailNext shows what each fault looks like behind an ordinary client.
func TestFailNext(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	short := func() time.Duration { return 2 * time.Second }
	for _, x := range []struct {
		name  string
		n     int
		fault tidemarktest.Fault
		// want is the error that comes out of persisting, stored whether the
		// value is at the cluster then.
		want   error
		stored bool
	}{
		{"one refusal is not seen", 1, tidemarktest.Refuse(offset.ErrBusy), nil, true},
		{"refused until the deadline", tidemarktest.Always, tidemarktest.Refuse(offset.ErrBusy), offset.ErrBusy, false},
		{"refused for good", 1, tidemarktest.Refuse(offset.ErrDenied), offset.ErrDenied, false},
		{"a limit", 1, tidemarktest.Refuse(offset.Errorf(offset.ErrLimit, "so many queues")), offset.ErrLimit, false},
		{"one lost call is not seen", 1, tidemarktest.LoseCall(), nil, true},
		{"lost calls", tidemarktest.Always, tidemarktest.LoseCall(), offset.ErrOutcomeUnknown, false},
		{"one lost answer is not seen", 1, tidemarktest.LoseAnswer(), nil, true},
		{"lost answers", tidemarktest.Always, tidemarktest.LoseAnswer(), offset.ErrOutcomeUnknown, true},
		{"late", 1, tidemarktest.Delay(50 * time.Millisecond), nil, true},
		{"too late", tidemarktest.Always, tidemarktest.Delay(patience), offset.ErrBusy, false},
		{"fenced", 1, tidemarktest.Refuse(offset.ErrFenced), offset.ErrFenced, false},
	} {
		t.Run(x.name, func(t *testing.T) {
			defer c.Heal()
			s := newStore(t, c)
			mq := offset.MessageQueue{Topic: x.name}
			read(t, s, mq)
			c.FailNext(x.n, tidemarktest.Commit, x.fault)
			s.UpdateOffset(mq, 7, true)
			d := patience
			if x.n == tidemarktest.Always {
				d = short()
			}
			err := s.Persist(within(t, d), mq)
			// Where the deadline comes between a send and its answer, the outcome is unknown.
			between := x.n == tidemarktest.Always && errors.Is(err, offset.ErrOutcomeUnknown)
			if !between && !errors.Is(err, x.want) || x.want == nil && err != nil {
				t.Errorf("persisting: %v; want %v", err, x.want)
			}
			v, ok := c.Offsets("billing")[mq]
			for end := time.Now().Add(patience); x.stored && !ok && time.Now().Before(end); { // what is unknown may be done later
				v, ok = c.Offsets("billing")[mq]
			}
			if ok != x.stored || ok && v != 7 {
				t.Errorf("the cluster has %d, %v; want it stored: %v", v, ok, x.stored)
			}
		})
	}
}

// TestFailNextTakesTurns, by kind, and counts.
func TestFailNextTakesTurns(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	s := newStore(t, c)
	read(t, s, queue(0))
	before := c.Calls(tidemarktest.AnyCall)
	c.FailNext(1, tidemarktest.Commit, tidemarktest.Refuse(offset.ErrDenied))
	c.FailNext(1, tidemarktest.AnyCall, tidemarktest.Refuse(offset.ErrLimit))
	c.FailNext(0, tidemarktest.Commit, tidemarktest.Refuse(offset.ErrInvalid))
	if _, err := s.ReadOffset(within(t, patience), queue(0), client.ReadFromStore); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("a read takes what is for any call, and no other: %v", err)
	}
	s.UpdateOffset(queue(0), 1, true)
	if err := s.Persist(within(t, patience), queue(0)); !errors.Is(err, offset.ErrDenied) {
		t.Errorf("the first commit: %v", err)
	}
	if err := s.Persist(within(t, patience), queue(0)); err != nil {
		t.Errorf("the second: %v", err)
	}
	if n, all := c.Calls(tidemarktest.Commit), c.Calls(tidemarktest.AnyCall)-before; n != 2 || all != 3 {
		t.Errorf("%d commits, %d calls in all; want 2 and 3", n, all)
	}
}

// TestEveryKindOfCallCanFail, so that no kind is left out.
func TestEveryKindOfCallCanFail(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	cl := c.Client()
	ctx := within(t, patience)
	k := offset.Key{Group: "billing", MessageQueue: queue(0)}
	c.Reset(k.Group, k.MessageQueue, 50)
	states, meta, err := cl.Fetch(ctx, offset.ReadAt{}, k)
	if err != nil {
		t.Fatal(err)
	}
	for call, do := range map[tidemarktest.Call]func() error{
		tidemarktest.Commit: func() error {
			_, _, err := cl.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: 60, Epoch: states[0].Epoch}})
			return err
		},
		tidemarktest.Set: func() error {
			_, _, err := cl.Set(ctx, offset.Set{Key: k, Offset: 1, Cluster: meta.Cluster, Epoch: states[0].Epoch, Exists: true, Replaces: 50})
			return err
		},
		tidemarktest.Fetch: func() error { _, _, err := cl.Fetch(ctx, offset.ReadAt{}, k); return err },
		tidemarktest.Act: func() error {
			_, _, err := cl.Act(ctx, offset.Act{ID: offset.ActID{1}, Base: meta.Index, Cluster: meta.Cluster, Remove: &offset.Remove{Scope: offset.Scope{Group: k.Group}}})
			return err
		},
		tidemarktest.List: func() error { _, err := cl.List(ctx, offset.List{}); return err },
	} {
		c.FailNext(1, call, tidemarktest.Refuse(offset.ErrDenied))
		if err := do(); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("%s: %v", call, err)
		}
	}
	c.FailNext(1, tidemarktest.List, tidemarktest.Refuse(offset.ErrDenied))
	if err := cl.Export(ctx, offset.List{}, func(offset.Page) error { return nil }); !errors.Is(err, offset.ErrDenied) {
		t.Errorf("export: %v", err)
	}
	if got := c.Offsets(k.Group)[queue(0)]; got != 50 {
		t.Errorf("what was refused was done: the queue is at %d", got)
	}
}
