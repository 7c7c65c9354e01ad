package tidemarktest_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// fencing gives a store that has read queue 0, at 10, and collects its fences.
func fencing(t *testing.T) (*tidemarktest.MemoryStore, *[]client.Fence) {
	s := tidemarktest.NewMemoryStore("billing")
	var told []client.Fence
	s.OnFenced = func(f client.Fence) { told = append(told, f) }
	s.Memory().Reset("billing", queue(0), 10)
	if v := read(t, s, queue(0)); v != 10 {
		t.Fatalf("the queue begins at %d", v)
	}
	return s, &told
}

// TestEveryFenceIsTold with what a RemoteStore reports, also of an idle queue.
func TestEveryFenceIsTold(t *testing.T) {
	for _, x := range []struct {
		name string
		// act happens after the queue was read at 10 and, if update is not 0,
		// moved there.
		update int64
		act    func(m *tidemarktest.Memory)
		want   client.Fence
	}{
		{"a reset", 11, func(m *tidemarktest.Memory) { m.Reset("billing", queue(0), 4) },
			client.Fence{Err: offset.ErrFenced, Has: true, Offset: 11, State: offset.KeyState{Exists: true, Epoch: 2, Position: offset.Position{Offset: 4, Epoch: 2}}}},
		{"a reset while it is idle", 0, func(m *tidemarktest.Memory) { m.Reset("billing", queue(0), 4) },
			client.Fence{Err: offset.ErrFenced, Has: true, Offset: 10, State: offset.KeyState{Exists: true, Epoch: 2, Position: offset.Position{Offset: 4, Epoch: 2}}}},
		{"a removal while it is idle", 0, func(m *tidemarktest.Memory) { m.Remove("billing", queue(0)) },
			client.Fence{Err: offset.ErrFenced, Has: true, Offset: 10, State: offset.KeyState{Epoch: 2, Position: offset.Position{Epoch: 2}}}},
		{"a refusal", 11, func(m *tidemarktest.Memory) {
			m.FailNext(1, tidemarktest.Commit, tidemarktest.Refuse(offset.ErrFenced))
		},
			client.Fence{Err: offset.ErrFenced, Has: true, Offset: 11, State: offset.KeyState{Exists: true, Epoch: 1, Position: offset.Position{Offset: 10, Epoch: 1}}}},
		{"a lowering whose outcome is unknown", 3, func(m *tidemarktest.Memory) { m.FailNext(1, tidemarktest.Set, tidemarktest.LoseAnswer()) },
			client.Fence{Err: offset.ErrOutcomeUnknown, Has: true, Offset: 3}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, told := fencing(t)
			if x.update != 0 {
				s.UpdateOffset(queue(0), x.update, false)
			}
			x.act(s.Memory())
			err := s.PersistAll(within(t, patience), []offset.MessageQueue{queue(0)})
			if idle := x.update == 0; idle != (err == nil) || err != nil && !errors.Is(err, x.want.Err) {
				t.Errorf("persisting: %v", err)
			}
			x.want.Queue = queue(0)
			if want := []client.Fence{x.want}; !reflect.DeepEqual(*told, want) {
				t.Errorf("told\n%+v; want\n%+v", *told, want)
			}
			s.UpdateOffset(queue(0), 50, true)
			if err := s.Persist(within(t, patience), queue(0)); !errors.Is(err, x.want.Err) || len(*told) != 1 {
				t.Errorf("persisting once more: %v, told %d times", err, len(*told))
			}
		})
	}
}

// TestAFenceWithoutOnFenced is told by each PersistAll, also of an idle queue.
func TestAFenceWithoutOnFenced(t *testing.T) {
	s, _ := fencing(t)
	s.OnFenced = nil
	s.Memory().Reset("billing", queue(0), 4)
	for range 2 {
		if err := s.PersistAll(within(t, patience), []offset.MessageQueue{queue(0)}); !errors.Is(err, offset.ErrFenced) {
			t.Errorf("persisting: %v; want ErrFenced", err)
		}
	}
}

// TestOnFencedMayUseTheStore to begin again where the operator has put it.
func TestOnFencedMayUseTheStore(t *testing.T) {
	s, _ := fencing(t)
	s.OnFenced = func(f client.Fence) {
		s.RemoveOffset(f.Queue)
		if v := read(t, s, f.Queue); v != 4 {
			t.Errorf("read again it is %d", v)
		}
	}
	s.UpdateOffset(queue(0), 11, true)
	s.Memory().Reset("billing", queue(0), 4)
	if err := s.Persist(within(t, patience), queue(0)); !errors.Is(err, offset.ErrFenced) {
		t.Error(err)
	}
	persist(t, s, queue(0), 5)
	if got := s.Memory().Offsets("billing"); !maps.Equal(got, map[offset.MessageQueue]int64{queue(0): 5}) {
		t.Errorf("persisted is %v", got)
	}
}

// TestFailuresInMemory are seen once each, and what is said again is harmless.
func TestFailuresInMemory(t *testing.T) {
	for _, x := range []struct {
		name   string
		fault  tidemarktest.Fault
		want   error
		stored int64
	}{
		{"refused", tidemarktest.Refuse(offset.ErrNoLeader), offset.ErrNoLeader, 10},
		{"lost before", tidemarktest.LoseCall(), offset.ErrOutcomeUnknown, 10},
		{"lost behind", tidemarktest.LoseAnswer(), offset.ErrOutcomeUnknown, 20},
		{"late", tidemarktest.Delay(time.Millisecond), nil, 20},
	} {
		t.Run(x.name, func(t *testing.T) {
			s, told := fencing(t)
			s.Memory().FailNext(1, tidemarktest.Commit, x.fault)
			s.UpdateOffset(queue(0), 20, true)
			err := s.Persist(within(t, patience), queue(0))
			if !errors.Is(err, x.want) || x.want == nil && err != nil {
				t.Errorf("persisting: %v; want %v", err, x.want)
			}
			if v := s.Memory().Offsets("billing")[queue(0)]; v != x.stored {
				t.Errorf("persisted is %d; want %d", v, x.stored)
			}
			if err := s.Persist(within(t, patience), queue(0)); err != nil {
				t.Errorf("persisting again: %v", err)
			}
			s.UpdateOffset(queue(0), 5, false) // compares with what is there, also after a doubt
			if err := s.Persist(within(t, patience), queue(0)); err != nil || len(*told) != 0 {
				t.Errorf("lowering: %v, %v", err, *told)
			}
			if v := s.Memory().Offsets("billing")[queue(0)]; v != 5 {
				t.Errorf("persisted is %d; want 5", v)
			}
		})
	}
}

// TestAnUnknownCommitIsCleared before a lowering that follows at once.
func TestAnUnknownCommitIsCleared(t *testing.T) {
	s, told := fencing(t)
	s.Memory().FailNext(1, tidemarktest.Commit, tidemarktest.LoseAnswer())
	s.UpdateOffset(queue(0), 20, true)
	if err := s.Persist(within(t, patience), queue(0)); !errors.Is(err, offset.ErrOutcomeUnknown) {
		t.Error(err)
	}
	s.UpdateOffset(queue(0), 15, false)
	if err := s.Persist(within(t, patience), queue(0)); err != nil || len(*told) != 0 {
		t.Errorf("lowering: %v, %v", err, *told)
	}
	if v := s.Memory().Offsets("billing")[queue(0)]; v != 15 {
		t.Errorf("persisted is %d; want 15", v)
	}
}

// TestReadsFailInMemory with errors that are never "no offset".
func TestReadsFailInMemory(t *testing.T) {
	s := tidemarktest.NewMemoryStore("billing")
	s.Memory().Reset("billing", queue(0), 7)
	for _, x := range []struct {
		fault tidemarktest.Fault
		time  time.Duration
		want  error
	}{
		{tidemarktest.Refuse(offset.ErrNoLeader), patience, offset.ErrNoLeader},
		{tidemarktest.LoseCall(), patience, offset.ErrUnreachable},
		{tidemarktest.LoseAnswer(), patience, offset.ErrUnreachable},
		{tidemarktest.Delay(time.Hour), 10 * time.Millisecond, context.DeadlineExceeded},
	} {
		s.Memory().FailNext(1, tidemarktest.Fetch, x.fault)
		v, err := s.ReadOffset(within(t, x.time), queue(0), client.ReadFromStore)
		if v != 0 || !errors.Is(err, x.want) || errors.Is(err, offset.ErrNoOffset) {
			t.Errorf("%d, %v; want %v", v, err, x.want)
		}
	}
	if len(s.CloneOffsetTable("")) != 0 {
		t.Errorf("a failed read left %v in memory", s.CloneOffsetTable(""))
	}
	if v := read(t, s, queue(0)); v != 7 || s.Memory().Calls(tidemarktest.Fetch) != 5 {
		t.Errorf("%d after %d reads", v, s.Memory().Calls(tidemarktest.Fetch))
	}
	s.Memory().FailNext(tidemarktest.Always, tidemarktest.AnyCall, tidemarktest.Refuse(offset.ErrBusy))
	s.Memory().Heal()
	read(t, s, queue(0))
}

// TestOnlyWhatChangedIsSent, in one call.
func TestOnlyWhatChangedIsSent(t *testing.T) {
	s := tidemarktest.NewMemoryStore("billing")
	var all []offset.MessageQueue
	for id := range int32(4) {
		read(t, s, queue(id))
		s.UpdateOffset(queue(id), int64(id)+1, true)
		all = append(all, queue(id))
	}
	for range 3 {
		if err := s.PersistAll(within(t, patience), all); err != nil {
			t.Fatal(err)
		}
	}
	if n := s.Memory().Calls(tidemarktest.Commit); n != 1 {
		t.Errorf("%d commits", n)
	}
}

// TestAPersistLoopOverMemory runs in a bubble of synctest: nothing of a
// MemoryStore is outside.
func TestAPersistLoopOverMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, told := fencing(t)
		l, err := client.StartPersistLoop(s, client.PersistLoopConfig{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		s.UpdateOffset(queue(0), 20, true)
		time.Sleep(1500 * time.Millisecond)
		if v := s.Memory().Offsets("billing")[queue(0)]; v != 20 {
			t.Errorf("persisted is %d after an interval", v)
		}
		s.Memory().Reset("billing", queue(0), 4)
		time.Sleep(time.Second)
		l.Close(t.Context())
		if len(*told) != 1 {
			t.Errorf("%d fences were told within an interval", len(*told))
		}
	})
}

// TestConsumersOfOneGroup hand a queue over.
func TestConsumersOfOneGroup(t *testing.T) {
	var m tidemarktest.Memory
	a, b, other := m.Store("billing"), m.Store("billing"), m.Store("audit")
	read(t, a, queue(0))
	persist(t, a, queue(0), 30)
	a.RemoveOffset(queue(0))
	if v := read(t, b, queue(0)); v != 30 {
		t.Errorf("the next owner begins at %d", v)
	}
	if v := read(t, other, queue(0)); v != -1 {
		t.Errorf("another group begins at %d", v)
	}
}
