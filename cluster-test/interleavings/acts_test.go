package interleavings

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestALateSetAfterANewerCommit: a Set that was under way while a commit came
// is not done, now or when it is sent again, and says that no act was missed.
func TestALateSetAfterANewerCommit(t *testing.T) {
	c := served.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	slow, quick := c.Client(), c.Client()
	k := incluster.Key("g", 0)
	commit(ctx, t, quick, k, 100)
	s, meta, err := slow.Fetch(ctx, ask.Default, k)
	if err != nil {
		t.Fatal(err)
	}
	late := offset.Set{Key: k, Offset: 50, Cluster: meta.Cluster, Epoch: s[0].Epoch, Exists: true, Replaces: 100}
	app := c.Outside[0]
	for _, m := range c.Members {
		c.Net.Cut(app, m.Name)
	}
	got := make(chan error, 1)
	go func() { _, _, err := slow.Set(ctx, late); got <- err }() // awaited below
	commit(ctx, t, quick, k, 120)
	for _, m := range c.Members {
		c.Net.Heal(app, m.Name)
	}
	if err := <-got; !errors.Is(err, offset.ErrOvertaken) {
		t.Errorf("the late Set: %v, want ErrOvertaken", err)
	}
	if _, _, err := slow.Set(ctx, late); !errors.Is(err, offset.ErrOvertaken) {
		t.Errorf("the same Set once more: %v, want ErrOvertaken", err)
	}
	commit(ctx, t, quick, k, 130) // the epoch has not moved
	for _, n := range c.Nodes() {
		n.MustRead(t, ask.Default, k, 130)
	}
}

// TestAResentRemoveAfterConsumersCameBack gets its first answer and removes
// nothing more; the same removal under another id, with the base of then,
// leaves the newcomers alone as well.
func TestAResentRemoveAfterConsumersCameBack(t *testing.T) {
	c := served.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	cl := c.Client()
	var keys []offset.Key
	for q := range int32(4) {
		keys = append(keys, incluster.Key("g", q))
		commit(ctx, t, cl, keys[q], 10)
	}
	remove := act(ctx, t, cl, offset.Act{Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}})
	first, _, err := cl.Act(ctx, remove)
	if err != nil || first.Changed != 4 {
		t.Fatalf("remove: %+v, %v", first, err)
	}
	for _, k := range keys {
		commit(ctx, t, cl, k, 3) // it starts again, lower
	}
	second, _, err := cl.Act(ctx, remove)
	if err != nil || second.Index != first.Index || second.Changed != first.Changed {
		t.Errorf("the resent remove: %+v, %v; want the first answer %+v", second, err, first)
	}
	other := remove
	other.ID = incluster.NewActID()
	if third, _, err := cl.Act(ctx, other); !errors.Is(err, offset.ErrSuperseded) {
		t.Errorf("an old remove under a new id: %+v, %v; want ErrSuperseded", third, err)
	}
	for _, n := range c.Nodes() {
		for _, k := range keys {
			n.MustRead(t, ask.Default, k, 3)
		}
	}
}

// worker is a consumer of some of sixteen queues, with a persist loop.
type worker struct {
	store *client.RemoteStore
	mqs   []offset.MessageQueue

	mu    sync.Mutex // guards what follows
	told  []client.Fence
	acked map[offset.MessageQueue]int64
}

// TestAResetOfOneQueueWhileThreeConsumersRunSixteen: its owner is told, once,
// and goes on from there after a remove and a read; nobody else notices.
func TestAResetOfOneQueueWhileThreeConsumersRunSixteen(t *testing.T) {
	c := served.Start(t, 3)
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	end := sync.OnceFunc(func() { stop(); all.Wait() })
	var workers []*worker
	for i := range 3 {
		w := &worker{acked: map[offset.MessageQueue]int64{}}
		s, err := client.NewRemoteStore(c.Client(), "g", client.WithPersistInterval(20*time.Millisecond), client.WithOnFenced(w.fenced))
		if err != nil {
			t.Fatal(err)
		}
		w.store = s
		for q := int32(i); q < 16; q += 3 {
			w.mqs = append(w.mqs, incluster.Key("g", q).MessageQueue)
		}
		workers = append(workers, w)
		all.Go(func() { w.run(ctx, t) })
	}
	t.Cleanup(end)
	cl := c.Client()
	target := incluster.Key("g", 7) // the second worker's
	owner := workers[1]
	ask.Until(t, "all queues are above 1000", func() bool {
		for _, w := range workers {
			if !w.above(1000) {
				return false
			}
		}
		return true
	})
	call := ask.Within(t, ask.Patience)
	result, _, err := cl.Act(call, act(call, t, cl, offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: target, Offset: 5}}}}))
	if err != nil || result.Changed != 1 {
		t.Fatalf("reset: %+v, %v", result, err)
	}
	ask.Until(t, "the owner is told", func() bool { return len(owner.fences()) > 0 })
	for _, w := range workers {
		w.mark()
	}
	ask.Until(t, "everybody goes on", func() bool {
		s, _, err := cl.Fetch(call, ask.Default, target)
		if err != nil || s[0].Position.Offset <= 5 {
			return false
		}
		for _, w := range workers {
			if !w.above(1) {
				return false
			}
		}
		return true
	})
	end()
	for i, w := range workers {
		f := w.fences()
		switch {
		case i != 1 && len(f) > 0:
			t.Errorf("worker %d was told of %v, which is not its queue", i, f[0].Queue)
		case i == 1 && (len(f) != 1 || f[0].Queue != target.MessageQueue || !errors.Is(f[0].Err, offset.ErrFenced) || f[0].State.Position.Offset != 5):
			t.Errorf("the owner was told %+v; want queue 7 at 5, once", f)
		}
	}
	s, _, err := cl.Fetch(call, ask.Default, target)
	if err != nil || s[0].Position.Offset < 5 || s[0].Position.Offset > 1000 || s[0].Position.Pending {
		t.Errorf("the queue is %+v, %v; want it on its way from 5, not pending", s[0], err)
	}
}

func (w *worker) fenced(f client.Fence) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, f)
}

func (w *worker) fences() []client.Fence {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]client.Fence(nil), w.told...)
}

// above tells whether all queues have gone up by more than n since the mark.
func (w *worker) above(n int64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, mq := range w.mqs {
		if w.acked[mq] <= n {
			return false
		}
	}
	return true
}

func (w *worker) mark() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.acked)
}

// run consumes: a fenced queue is removed and read again. Queue 7 goes slowly
// after that, so that where it stands tells where it came from.
func (w *worker) run(ctx context.Context, t *testing.T) {
	at := map[offset.MessageQueue]int64{}
	seen := 0
	for ctx.Err() == nil {
		for _, mq := range w.mqs {
			if _, ok := at[mq]; !ok {
				v, err := w.store.ReadOffset(ctx, mq, client.ReadFromStore)
				if err != nil && !errors.Is(err, offset.ErrNoOffset) {
					continue
				}
				at[mq] = v
			}
			step := int64(100)
			if seen > 0 && mq.QueueID == 7 {
				step = 1
			}
			at[mq] += step
			w.store.UpdateOffset(mq, at[mq], true)
			w.mu.Lock()
			w.acked[mq] += step
			w.mu.Unlock()
		}
		for _, f := range w.fences()[seen:] {
			seen++
			w.store.RemoveOffset(f.Queue)
			delete(at, f.Queue)
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	end, cancel := context.WithTimeout(context.Background(), ask.Patience)
	defer cancel()
	if err := w.store.Close(end); err != nil && !errors.Is(err, offset.ErrFenced) {
		t.Errorf("closing a store: %v", err)
	}
}

// TestALeaderCutOffDuringARestore: a restore is a replace of all. Whatever
// becomes of the leader that takes the last step, every read gives all of the
// old or all of the new, and in the end it is the new, everywhere.
func TestALeaderCutOffDuringARestore(t *testing.T) {
	c := served.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	cl := c.Client()
	var keys []offset.Key
	var staged []offset.Target
	for q := range int32(50) {
		keys = append(keys, incluster.Key("g", q))
		staged = append(staged, offset.Target{Key: keys[q], Offset: 7})
	}
	c.Leader().Fill("other", 10, 1) // what the restore takes away
	for _, k := range keys {
		commit(ctx, t, cl, k, 1000)
	}
	im := offset.Import{Mode: offset.ImportReplace, Hash: [32]byte{1}, Chunks: 1, Offsets: uint64(len(staged))}
	a := act(ctx, t, cl, offset.Act{})
	send := func(step offset.ImportStep, base uint64) (offset.ActResult, error) {
		x := im
		if x.Step = step; step == offset.ImportChunk {
			x.Targets = staged
		}
		b := a
		b.Base, b.Import = base, &x
		r, _, err := cl.Act(ctx, b)
		return r, err
	}
	for _, step := range []offset.ImportStep{offset.ImportBegin, offset.ImportChunk} {
		if r, err := send(step, a.Base); err != nil {
			t.Fatalf("step %d: %+v, %v", step, r, err)
		}
	}
	ask.Same(t, c.Nodes()) // a follower that is behind still has a part of the old
	watch, end := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, n := range c.Nodes() {
		all.Go(func() { wholeRoots(watch, t, n, keys) })
	}
	page, err := cl.List(ctx, offset.List{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	old := c.Leader()
	for _, m := range c.Followers(old) {
		c.Net.Cut(old.Name, m.Name)
		c.Net.Cut(m.Name, old.Name)
	}
	r, err := send(offset.ImportSwap, page.Meta.Index) // sent to the leader that is cut off, and again
	if err != nil || r.Code != offset.CodeOK {
		t.Fatalf("the swap: %+v, %v", r, err)
	}
	c.Net.HealAll()
	c.WaitReady(c.Members...)
	end()
	all.Wait()
	for _, n := range c.Nodes() {
		for _, k := range keys {
			n.MustRead(t, ask.Default, k, 7)
		}
		n.MustRead(t, ask.Default, incluster.Key("other", 0), -1)
	}
	c.SameLogs(ask.Same(t, c.Nodes()))
}

// wholeRoots reads all keys at every level: all old, or all new.
func wholeRoots(ctx context.Context, t *testing.T, n *ask.Node, keys []offset.Key) {
	for ctx.Err() == nil {
		for _, at := range []offset.ReadAt{ask.Local, ask.Default} {
			call, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
			states, _, err := n.Fetch(call, at, keys...)
			cancel()
			if err != nil {
				continue // cut off, or between leaders
			}
			values := map[int64]int{}
			for _, s := range states {
				values[ask.Value(s)]++
			}
			if text := fmt.Sprint(values); len(values) != 1 || values[1000]+values[7] != len(keys) {
				t.Errorf("%s (%v) reads a mixture: %s", n.Name, at.Level, text)
				return
			}
		}
	}
}
