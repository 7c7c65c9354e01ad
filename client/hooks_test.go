package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// ledger notes what hooks and metrics are told; it is both.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) note(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *ledger) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := l.lines
	l.lines = nil
	return out
}

func (l *ledger) Call(c CallEnd) {
	l.note("call %s %d %s %d", c.Op, c.Attempts, c.Took, offset.CodeOf(c.Err))
}
func (l *ledger) Connection(opened bool) { l.note("connection %v", opened) }
func (l *ledger) LeaderChange()          { l.note("leader change") }
func (l *ledger) Fence(group string, err error) {
	l.note("fence %s %v", group, err)
}
func (l *ledger) Persist(p PersistRun) {
	l.note("persist %s %s %d %d %s %v", p.Model, p.Group, p.Persisted, p.Failed, p.Took, p.Err != nil)
}

// hooks note which queue by its id.
func (l *ledger) hooks() StoreHooks {
	return StoreHooks{
		Persisted: func(mq offset.MessageQueue, next int64) { l.note("persisted %d at %d", mq.QueueID, next) },
		Failed:    func(q QueueError) { l.note("failed %d at %d: %v", q.Queue.QueueID, q.Offset, q.Err) },
		Fenced:    func(f Fence) { l.note("fenced %d at %d: %v", f.Queue.QueueID, f.Offset, f.Err) },
	}
}

func wantLines(t *testing.T, l *ledger, want ...string) {
	t.Helper()
	got := l.take()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("told %q;\nwant %q", got, want)
	}
}

func TestRemoteStoreTellsItsHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var l ledger
		s := f.store(WithStoreHooks(l.hooks()), WithOnFenced(func(x Fence) { l.note("and OnFenced of %d", x.Queue.QueueID) }))
		read(t, s, 0, 1, 2)
		s.UpdateOffset(mq(0), 5, true)
		s.UpdateOffset(mq(1), 6, true)
		s.UpdateOffset(mq(3), 7, true)
		all := []offset.MessageQueue{mq(0), mq(1), mq(2), mq(3)}
		_ = s.PersistAll(within(t, time.Second), all)
		wantLines(t, &l, "persisted 0 at 5", "persisted 1 at 6", "failed 3 at 7: not read from the store yet")
		s.RemoveOffset(mq(3))
		_ = s.PersistAll(within(t, time.Second), all)
		wantLines(t, &l, "failed 3 at 7: dropped before it was persisted") // and nothing else
		s.UpdateOffset(mq(0), 2, false)
		persist(t, s, 0)
		wantLines(t, &l, "persisted 0 at 2")
		f.state.reset(key(1), 1)
		s.UpdateOffset(mq(1), 9, true)
		_ = s.Persist(within(t, time.Second), mq(1))
		if got := l.take(); !slices.Equal(got, []string{"failed 1 at 9: fenced", "fenced 1 at 9: fenced", "and OnFenced of 1"}) {
			t.Fatalf("told %q", got)
		}
		s.UpdateOffset(mq(2), 3, true)
		_ = s.PersistAll(within(t, time.Second), all[:1])
		wantLines(t, &l, "failed 1 at 9: dropped before it was persisted", "failed 2 at 3: dropped before it was persisted")
	})
}

// Hooks are called with no lock held: they may use the store.
func TestHooksMayUseTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var s *RemoteStore
		again := 0
		s = f.store(WithStoreHooks(StoreHooks{Persisted: func(mq offset.MessageQueue, next int64) {
			if again++; next == 5 {
				s.UpdateOffset(mq, 6, true)
				persist(t, s, mq.QueueID)
			}
		}}))
		read(t, s, 0)
		s.UpdateOffset(mq(0), 5, true)
		persist(t, s, 0)
		wantAt(t, f, 0, 6)
		if again != 2 {
			t.Errorf("told %d times", again)
		}
	})
}

func TestLocalStoreTellsItsHooksAndMetrics(t *testing.T) {
	f := newShelf(t)
	var l ledger
	now := &handClock{}
	s := f.load(WithStoreHooks(l.hooks()), WithStoreMetrics(&l), WithStoreClock(now))
	s.UpdateOffset(bk("b", 0), 5, true)
	s.UpdateOffset(offset.MessageQueue{Topic: "a\nb", QueueID: 1}, 6, true)
	err := s.PersistAll(context.Background(), []offset.MessageQueue{bk("b", 0), {Topic: "a\nb", QueueID: 1}})
	if !errors.Is(err, offset.ErrInvalid) {
		t.Fatal(err)
	}
	got := l.take()
	if len(got) != 3 || got[0] != "persist broadcasting moss-readers 1 1 0s true" || got[1] != "persisted 0 at 5" {
		t.Fatalf("told %q", got)
	}
	s.RemoveOffset(offset.MessageQueue{Topic: "a\nb", QueueID: 1})
	persistAll(t, s)
	wantLines(t, &l, "failed 1 at 6: dropped before it was persisted")
	s.UpdateOffset(bk("b", 0), 8, true)
	f.write("offsets.json", []byte("x"))
	f.write("offsets.json.bak", []byte("x"))
	if err := s.Persist(context.Background(), bk("b", 0)); !errors.Is(err, offset.ErrDamaged) {
		t.Fatal(err)
	}
	if got := l.take(); len(got) != 2 || got[0] != "persist broadcasting moss-readers 0 1 0s true" {
		t.Fatalf("told %q", got)
	}
}

func TestMetricsOfAClientAndItsStores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		var l ledger
		c := f.clientOf([]string{"a:1"}, WithMetrics(&l))
		s := f.storeOf(c)
		read(t, s, 0)
		wantLines(t, &l, "connection true", "call fetch 1 0s 0")
		f.lead("b:1")
		s.UpdateOffset(mq(0), 5, true)
		persist(t, s, 0)
		wantLines(t, &l, "leader change", "call commit 1 0s 0", "persist clustering billing 1 0 0s false")
		f.state.reset(key(0), 1)
		s.UpdateOffset(mq(0), 6, true)
		_ = s.Persist(within(t, time.Second), mq(0))
		wantLines(t, &l, "connection false", "connection true", "fence billing fenced",
			fmt.Sprintf("call commit 1 0s %d", offset.CodeFenced), "persist clustering billing 0 1 0s true")
		if st := s.Stats(); st != (StoreStats{Queues: 1, Unpersisted: 1, Frozen: 1, Persisted: 1, Failed: 1, Fenced: 1}) {
			t.Errorf("stats %+v", st)
		}
		_, _, _ = c.Fetch(within(t, time.Second), offset.ReadAt{}) // no key
		wantLines(t, &l, fmt.Sprintf("call fetch 0 0s %d", offset.CodeInvalid))
		_ = c.Close()
		wantLines(t, &l, "connection false")
	})
}

// A store says by itself what must not stay unsaid, also where its Client was
// given no logger.
func TestStoreLogsByDefault(t *testing.T) {
	c, err := New([]string{"a:1"})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewRemoteStore(c, "g", WithPersistInterval(0))
	if err != nil {
		t.Fatal(err)
	}
	if s.set.logger != slog.Default() || c.set.logger == slog.Default() {
		t.Error("the loggers are others")
	}
}

// allocations of one run of persisting that sends one queue's offset.
func allocations(t *testing.T, opts ...StoreOption) float64 {
	f := newFakeCluster(t, "a:1")
	s := f.store(opts...)
	read(t, s, 0)
	n := int64(0)
	return testing.AllocsPerRun(50, func() {
		n++
		s.UpdateOffset(mq(0), n, true)
		r := &run{s: s, queues: map[offset.MessageQueue]struct{}{}}
		s.mu.Lock()
		s.all(r)
		for _, it := range r.items {
			r.verdict(it, offset.Verdict{State: offset.KeyState{Exists: true, Position: offset.Position{Offset: it.value}}})
		}
		s.mu.Unlock()
		s.ran(r, s.set.began(), persistError(r.failed))
	})
}

// TestHooksCostNothingWhenUnused: a run allocates for the hooks only where one
// is set.
func TestHooksCostNothingWhenUnused(t *testing.T) {
	none := allocations(t)
	some := allocations(t, WithStoreHooks(StoreHooks{Persisted: func(offset.MessageQueue, int64) {}}))
	counted := allocations(t, WithStoreMetrics(nothingCounted{}))
	if some <= none || counted != none {
		t.Errorf("%v allocations without hooks, %v with one, %v with metrics", none, some, counted)
	}
	s := &RemoteStore{}
	r := &run{persisted: 1}
	if n := testing.AllocsPerRun(100, func() { s.ran(r, s.set.began(), nil) }); n != 0 {
		t.Errorf("telling nobody costs %v allocations", n)
	}
}

// nothingCounted is a Metrics that does nothing.
type nothingCounted struct{}

func (nothingCounted) Call(CallEnd)        {}
func (nothingCounted) Connection(bool)     {}
func (nothingCounted) LeaderChange()       {}
func (nothingCounted) Persist(PersistRun)  {}
func (nothingCounted) Fence(string, error) {}

// curious is a log that looks at a store as it is told something.
type curious struct {
	slog.Handler
	look func()
}

func (c curious) Handle(ctx context.Context, r slog.Record) error { c.look(); return nil }

// TestNothingIsLoggedUnderTheLock: a log that is slow, or that uses the store,
// does not hold up UpdateOffset.
func TestNothingIsLoggedUnderTheLock(t *testing.T) {
	var s OffsetStore
	looked := 0
	log := WithStoreLogger(slog.New(curious{slog.NewTextHandler(io.Discard, nil), func() { looked++; s.CloneOffsetTable("") }}))
	f := newFakeCluster(t, "a:1")
	remote := f.store(log)
	s = remote
	remote.UpdateOffset(mq(0), 5, true)
	read(t, remote, 0) // what was never read gives way
	f.state.reset(key(0), 1)
	remote.UpdateOffset(mq(0), 7, true)
	_ = remote.Persist(within(t, time.Minute), mq(0)) // fenced
	if looked != 2 {
		t.Errorf("a RemoteStore logged %d times", looked)
	}
	for _, files := range []map[string][]byte{
		{"offsets.json.bak": []byte("{\"offsetTable\":{}}")}, // the copy counts
		{"offsets.json": {0}, "offsets.json.bak": {0}},       // both are moved aside
	} {
		looked = 0
		d := newShelf(t)
		for name, b := range files {
			d.write(name, b)
		}
		local := d.new(log, WithDamageIgnored())
		s = local
		if err := local.Load(); err != nil || looked != 1 {
			t.Errorf("%v; a LocalFileStore logged %d times", err, looked)
		}
	}
}
