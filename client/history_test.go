package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestStoresUnderFaults runs consumers, two of which believe that they own the
// same queues, against nodes that lose requests and answers, break
// connections and refuse, while an operator resets queues.
//
// Each reset moves a queue to the next thousand, and consumers go on from
// where they read. So the thousands of an offset tell under which act it was
// consumed, and an offset that is applied under another one is a consumer that
// undid an act.
func TestStoresUnderFaults(t *testing.T) {
	seed := rand.Uint64()
	for n := range uint64(5) {
		synctest.Test(t, func(t *testing.T) {
			h := &ordeal{t: t, rng: rand.New(rand.NewPCG(seed, n)), f: newFakeCluster(t, "a:1", "b:1"), gen: make(map[int32]int64), acked: make(map[int32]int64)}
			h.play()
			if t.Failed() {
				t.Logf("seed %d, history %d", seed, n)
			}
		})
	}
}

const thousand = 1000

// ordeal is one random history of stores under faults.
type ordeal struct {
	t *testing.T
	f *fakeCluster

	reviving sync.Mutex

	mu  sync.Mutex
	rng *rand.Rand
	// gen is how many resets each queue had, acked the highest offset of it
	// that was acknowledged since the last one (or since it was lowered).
	gen, acked map[int32]int64
	told       int
}

func (h *ordeal) intn(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rng.IntN(n)
}

func (h *ordeal) play() {
	for id := range int32(4) {
		h.reset(id)
	}
	h.f.play(h.fault)
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	var all sync.WaitGroup
	for _, queues := range [][]int32{{0, 1}, {1, 2}, {3}} {
		all.Go(func() { h.consume(ctx, queues) })
	}
	all.Go(func() {
		for ctx.Err() == nil {
			time.Sleep(time.Duration(h.intn(3000)) * time.Millisecond)
			h.reset(int32(h.intn(4)))
			h.revive() // both may have been killed at once
		}
	})
	all.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range int32(4) {
		if at := h.f.state.at(key(id)); at < h.acked[id] {
			h.t.Errorf("queue %d is at %d; %d was acknowledged since the last act", id, at, h.acked[id])
		}
	}
	if h.told == 0 {
		h.t.Error("nobody was ever fenced: the history tests nothing")
	}
}

// reset moves a queue to the next thousand.
func (h *ordeal) reset(id int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.gen[id]++
	h.acked[id] = 0
	h.f.state.reset(key(id), h.gen[id]*thousand)
}

// fault befalls one call in five, and brings a killed node back.
func (h *ordeal) fault(n *fakeNode, _ string, _ int) (fault, error) {
	h.revive()
	h.check()
	switch h.intn(30) {
	case 0:
		return lose, nil
	case 1:
		return loseAnswer, nil
	case 2:
		return refuse, offset.ErrNoLeader
	case 3:
		return refuse, offset.ErrOutcomeUnknown
	case 4:
		h.f.lead(n.addr)
		return cutAfter, nil
	case 5:
		return cut, nil
	}
	return none, nil
}

// revive brings killed nodes back, each once.
func (h *ordeal) revive() {
	h.reviving.Lock()
	defer h.reviving.Unlock()
	for _, addr := range []string{"a:1", "b:1"} {
		if h.f.node(addr) == nil {
			h.f.start(addr)
		}
	}
}

// check finds a queue whose offset was consumed under another act.
func (h *ordeal) check() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, gen := range h.gen {
		if at := h.f.state.at(key(id)); at/thousand != gen {
			h.t.Errorf("queue %d is at %d, after reset %d", id, at, gen)
		}
	}
}

// consume is a consumer of some queues, until ctx ends.
func (h *ordeal) consume(ctx context.Context, queues []int32) {
	var fenced sync.Map
	s := h.f.store(WithPersistInterval(200*time.Millisecond), WithPersistTimeout(time.Second), WithOnFenced(func(f Fence) {
		h.mu.Lock()
		h.told++
		h.mu.Unlock()
		fenced.Store(f.Queue.QueueID, true)
	}))
	at := make(map[int32]int64)
	for ctx.Err() == nil {
		for _, id := range queues {
			if _, again := fenced.LoadAndDelete(id); again || at[id] == 0 {
				s.RemoveOffset(mq(id))
				v, err := h.read(ctx, s, id)
				if err != nil {
					fenced.Store(id, true)
					continue
				}
				at[id] = v
			}
			h.step(ctx, s, id, at)
		}
		time.Sleep(time.Duration(h.intn(100)) * time.Millisecond)
	}
}

func (h *ordeal) read(ctx context.Context, s *RemoteStore, id int32) (int64, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	v, err := s.ReadOffset(ctx, mq(id), ReadFromStore)
	if errors.Is(err, offset.ErrNoOffset) {
		err = fmt.Errorf("%w, but the queue has one", err)
		h.t.Error(err)
	}
	return v, err
}

// step consumes a little of a queue, or goes back within its thousand, and
// persists now and then.
func (h *ordeal) step(ctx context.Context, s *RemoteStore, id int32, at map[int32]int64) {
	switch h.intn(12) {
	case 0:
		at[id] -= at[id] % thousand / 2
		h.mu.Lock()
		h.acked[id] = min(h.acked[id], at[id])
		h.mu.Unlock()
		s.UpdateOffset(mq(id), at[id], false)
	case 1: // a look at the store, which must take over nothing
		_, _ = h.read(ctx, s, id)
	default:
		if at[id]%thousand < thousand-2 {
			at[id]++
		}
		s.UpdateOffset(mq(id), at[id], true)
	}
	if h.intn(3) > 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	h.mu.Lock()
	gen := h.gen[id]
	h.mu.Unlock()
	if s.Persist(ctx, mq(id)) != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if id != 1 && h.gen[id] == gen { // queue 1 is lowered by two consumers
		h.acked[id] = max(h.acked[id], at[id])
	}
}
