package fsm

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"
)

// Wait returns nil once Index is at least index, ctx's cause when that is done
// first, or Err when the FSM has latched. Wait only for an index that an
// Answers or a leader's Index named, or of a command: raft has entries that no FSM
// ever sees.
func (f *FSM) Wait(ctx context.Context, index uint64) error {
	if f.Index() >= index {
		return nil
	}
	w := f.waiters.add(index)
	defer f.waiters.remove(w)
	if f.Index() >= index { // published before the waiter was seen
		return nil
	}
	select {
	case <-w.done:
		return nil
	case <-f.latch.failed:
		return f.latch.err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waiter waits for an index. done is closed under the lock of waiters.
type waiter struct {
	index uint64
	done  chan struct{}
	at    int // in the heap; -1 once it is out
}

// waiters are woken in the order of their indexes, so that publishing costs
// nothing for those whose time has not come.
type waiters struct {
	count atomic.Int64 // of heap, so that publishing needs no lock while it is 0
	mu    sync.Mutex
	heap  waitHeap
}

func (ws *waiters) add(index uint64) *waiter {
	w := &waiter{index: index, done: make(chan struct{})}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	heap.Push(&ws.heap, w)
	ws.count.Add(1)
	return w
}

func (ws *waiters) remove(w *waiter) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if w.at >= 0 {
		heap.Remove(&ws.heap, w.at)
		ws.count.Add(-1)
	}
}

// wake releases all that wait for index or less; it is called after publishing.
func (ws *waiters) wake(index uint64) {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for len(ws.heap) > 0 && ws.heap[0].index <= index {
		close(heap.Pop(&ws.heap).(*waiter).done)
		ws.count.Add(-1)
	}
}

// waitHeap is a container/heap of waiters, the lowest index first.
type waitHeap []*waiter

func (h waitHeap) Len() int           { return len(h) }
func (h waitHeap) Less(i, j int) bool { return h[i].index < h[j].index }
func (h waitHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i]; h[i].at, h[j].at = i, j }

// Push and Pop are for container/heap only.
func (h *waitHeap) Push(x any) { w := x.(*waiter); w.at = len(*h); *h = append(*h, w) }

func (h *waitHeap) Pop() any {
	n := len(*h) - 1
	w := (*h)[n]
	(*h)[n] = nil
	*h, w.at = (*h)[:n], -1
	return w
}
