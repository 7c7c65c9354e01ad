package library

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// held is how many queues the load is on, two for each who updates.
const held = 16

// quiet keeps what the load does on purpose, thousands of removals of values
// that were not persisted, out of the log.
func quiet() client.StoreOption { return client.WithStoreLogger(slog.New(slog.DiscardHandler)) }

// TestEverythingAtOnce is C13 (apache/rocketmq-client-go#544, #139: "concurrent
// map read and map write" in an offset store that was read while it was
// updated): eight goroutines update, four read in all three ways, one persists
// all, one removes, two copy the table, on every store. In the end each queue
// is persisted with its last update. It is worth its name under -race.
func TestEverythingAtOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	t.Run("RemoteStore", func(t *testing.T) {
		c := served.Start(t, effort.Of(1, 3))
		cl := c.Client()
		s, err := client.NewRemoteStore(cl, "moss", client.WithPersistInterval(20*time.Millisecond), quiet())
		if err != nil {
			t.Fatal(err)
		}
		l := &mix{store: s, raising: true, seed: seed}
		l.play(t)
		l.compare(t, func(ctx context.Context) (map[offset.MessageQueue]int64, error) { return stored(ctx, cl) })
	})
	t.Run("MemoryStore", func(t *testing.T) {
		var m tidemarktest.Memory
		l := &mix{store: m.Store("moss"), raising: true, seed: seed}
		l.play(t)
		l.compare(t, func(context.Context) (map[offset.MessageQueue]int64, error) { return m.Offsets("moss"), nil })
	})
	t.Run("LocalFileStore", func(t *testing.T) {
		dir := t.TempDir()
		open := func(interval time.Duration) *client.LocalFileStore {
			s, err := client.NewLocalFileStore("here@DEFAULT", "moss", client.WithLocalDir(dir), client.WithPersistInterval(interval), quiet())
			if err == nil {
				err = s.Load()
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		l := &mix{store: open(20 * time.Millisecond), seed: seed}
		l.play(t)
		l.compare(t, func(ctx context.Context) (map[offset.MessageQueue]int64, error) {
			s := open(0)
			defer s.Close(ctx)
			return s.CloneOffsetTable(""), nil
		})
	})
}

// stored is what the cluster has of the load's queues.
func stored(ctx context.Context, c *client.Client) (map[offset.MessageQueue]int64, error) {
	var keys []offset.Key
	for i := range int32(held) {
		keys = append(keys, offset.Key{Group: "moss", MessageQueue: mq(i)})
	}
	states, _, err := c.Fetch(ctx, offset.ReadAt{}, keys...)
	if err != nil {
		return nil, err
	}
	out := map[offset.MessageQueue]int64{}
	for i, s := range states {
		if s.Exists {
			out[keys[i].MessageQueue] = s.Position.Offset
		}
	}
	return out, nil
}

// mix is the load on one store.
type mix struct {
	store client.Store
	// raising: what is read from the store never becomes less. A local store's
	// answer may be a value of the memory that is removed before it is written.
	raising bool
	seed    uint64
	// last is the last update of each queue, by its one goroutine; the others
	// read it as a bound.
	last [held]atomic.Int64
	done [6]atomic.Int64
}

// what the counters of done count.
const (
	updates = iota
	readings
	persists
	removals
	copies
	refusals
)

func (m *mix) play(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), effort.Of(2*time.Second, time.Minute))
	defer cancel()
	var busy sync.WaitGroup
	for i := range 8 {
		m.again(ctx, &busy, i, func(r *rand.Rand) { m.update(int32(2*i+r.IntN(2)), r) })
	}
	for i := range 4 {
		seen := map[offset.MessageQueue]int64{}
		m.again(ctx, &busy, 8+i, func(r *rand.Rand) { m.read(t, ctx, r, seen) })
	}
	m.again(ctx, &busy, 12, func(*rand.Rand) { m.persist(t, ctx) })
	m.again(ctx, &busy, 13, func(r *rand.Rand) {
		queue := mq(r.Int32N(held))
		m.store.RemoveOffset(queue)
		m.done[removals].Add(1)
		if r.IntN(4) > 0 { // most are read again, as a consumer does that gets the queue back
			_, _ = m.store.ReadOffset(ctx, queue, client.ReadFromStore)
		}
		select { // more seldom than what is removed is read again
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	})
	for i := range 2 {
		m.again(ctx, &busy, 14+i, func(r *rand.Rand) { m.copy(t, r) })
	}
	busy.Wait()
	m.end(t)
	t.Logf("%d updates, %d reads, %d persists (%d named a queue), %d removals, %d copies",
		m.done[updates].Load(), m.done[readings].Load(), m.done[persists].Load(), m.done[refusals].Load(), m.done[removals].Load(), m.done[copies].Load())
	for i := range refusals {
		if m.done[i].Load() == 0 {
			t.Errorf("nothing of kind %d was done", i)
		}
	}
}

// again does something until ctx has ended. A pause lets the others in.
func (m *mix) again(ctx context.Context, busy *sync.WaitGroup, i int, do func(*rand.Rand)) {
	r := rand.New(rand.NewPCG(m.seed, uint64(i)))
	busy.Go(func() {
		for ctx.Err() == nil {
			do(r)
			for range r.IntN(3) {
				runtime.Gosched()
			}
		}
	})
}

func (m *mix) update(queue int32, r *rand.Rand) {
	next := m.last[queue].Add(1 + r.Int64N(3))
	if r.IntN(200) == 0 {
		m.store.UpdateAndFreezeOffset(mq(queue), next) // until it is removed
	} else {
		m.store.UpdateOffset(mq(queue), next, r.IntN(2) == 0)
	}
	m.done[updates].Add(1)
}

func (m *mix) read(t *testing.T, ctx context.Context, r *rand.Rand, seen map[offset.MessageQueue]int64) {
	from := client.ReadOffsetType(r.IntN(3))
	queue := r.Int32N(held)
	v, err := m.store.ReadOffset(ctx, mq(queue), from)
	m.done[readings].Add(1)
	switch {
	case err != nil:
		if !errors.Is(err, offset.ErrNoOffset) && ctx.Err() == nil {
			t.Errorf("reading: %v", err)
		}
	case v < 0 || v > m.last[queue].Load():
		t.Errorf("%v is at %d; the last update was %d", mq(queue), v, m.last[queue].Load())
	case m.raising && from == client.ReadFromStore:
		if v < seen[mq(queue)] {
			t.Errorf("%v fell from %d to %d", mq(queue), seen[mq(queue)], v)
		}
		seen[mq(queue)] = v
	}
}

// persist persists all. A queue that was removed, and updated before it was
// read again, is named; another error is none that may come.
func (m *mix) persist(t *testing.T, ctx context.Context) {
	err := m.store.PersistAll(ctx, some(held))
	m.done[persists].Add(1)
	if err == nil || ctx.Err() != nil {
		return
	}
	m.done[refusals].Add(1)
	p := (*client.PersistError)(nil)
	if !errors.As(err, &p) {
		t.Errorf("persisting: %v", err)
		return
	}
	for _, q := range p.Queues {
		if !errors.Is(q.Err, offset.ErrNotRead) {
			t.Errorf("persisting %v: %v", q.Queue, q.Err)
		}
	}
}

func (m *mix) copy(t *testing.T, r *rand.Rand) {
	for q, v := range m.store.CloneOffsetTable([]string{"", "t-0", "none"}[r.IntN(3)]) {
		if v < 0 || v > m.last[q.QueueID].Load() {
			t.Errorf("a copy has %v at %d; the last update was %d", q, v, m.last[q.QueueID].Load())
		}
	}
	m.done[copies].Add(1)
}

// end makes the last update of each queue, as a consumer does that has just
// got it, and closes the store.
func (m *mix) end(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for i := range int32(held) {
		m.store.RemoveOffset(mq(i))
		if _, err := m.store.ReadOffset(ctx, mq(i), client.ReadFromStore); err != nil && !errors.Is(err, offset.ErrNoOffset) {
			t.Errorf("reading at the end: %v", err)
		}
		m.store.UpdateOffset(mq(i), m.last[i].Add(1), true)
	}
	if err := m.store.Close(ctx); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// compare holds what is persisted against the last updates.
func (m *mix) compare(t *testing.T, persisted func(context.Context) (map[offset.MessageQueue]int64, error)) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	got, err := persisted(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want := map[offset.MessageQueue]int64{}
	for i := range int32(held) {
		want[mq(i)] = m.last[i].Load()
	}
	if !maps.Equal(got, want) {
		t.Errorf("persisted is %v;\nthe last updates were %v", fmt.Sprint(got), fmt.Sprint(want))
	}
}
