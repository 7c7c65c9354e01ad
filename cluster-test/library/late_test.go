package library

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/offset"
)

// promise is how long after its context has ended a call comes back at the latest.
const promise = 100 * time.Millisecond

// tries is how often a call must be late in a row: a call that waits for
// something else than its context is late every time, a busy machine is not.
const tries = 3

// queues is how many queues a store of this test persists at a time.
var queues = effort.Of[int32](2000, offset.MaxCommits)

// TestNoCallIsLate has every method that takes a context called under each
// fault, many at once, with contexts that end while the fault lasts. Time that
// the process was kept from running meanwhile is not the library's.
func TestNoCallIsLate(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			w := f.start(t)
			for range effort.Of(1, 3) {
				w.measure(t)
			}
			slices.SortFunc(w.late, func(a, b lateness) int { return int(b.by - a.by) })
			w.late = w.late[:min(len(w.late), 3)]
			t.Logf("%d calls, the latest: %v", w.calls, w.late)
		})
	}
}

// lateness is how late a call came back.
type lateness struct {
	call string
	by   time.Duration
}

// String gives it for the log.
func (l lateness) String() string { return fmt.Sprintf("%s %s", l.call, l.by) }

// world is one fault under way: who is called, and what came of it.
type world struct {
	client *client.Client
	// id is that of the cluster that answers; any if none does.
	id offset.ClusterID
	// prepare makes a store whose queues were read and have something to say;
	// nil where nothing can be read. hit brings the fault about, and heal ends it.
	prepare   func() *client.RemoteStore
	hit, heal func()
	calls     int
	late      []lateness
	stalls    stalls
}

// measure calls everything once under the fault.
func (w *world) measure(t *testing.T) {
	calls := w.all()
	var watching sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	w.stalls.watch(ctx, &watching)
	defer watching.Wait()
	defer cancel()
	w.hit()
	var mu sync.Mutex
	var all sync.WaitGroup
	for name, do := range calls {
		all.Go(func() {
			by, stalled := w.once(name, do)
			for n := 1; by > promise+margin+stalled && n < tries; n++ {
				by, stalled = w.once(name, do)
			}
			mu.Lock()
			defer mu.Unlock()
			w.calls++
			w.late = append(w.late, lateness{name, by.Round(10 * time.Microsecond)})
			if by > promise+margin+stalled {
				t.Errorf("%s came back %s after its context had ended, %d times in a row; the process stood still for %s of that", name, by, tries, stalled)
			}
		})
	}
	all.Wait()
	w.heal()
}

// once makes one call, and gives how late it came back, 0 if it was in time, and
// for how long the process stood still in between.
func (w *world) once(name string, do func(context.Context)) (by, stalled time.Duration) {
	const wait = 300 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	if len(name)%2 == 0 { // half of the contexts are cancelled, and have no deadline
		ctx, cancel = context.WithCancel(context.Background())
		defer time.AfterFunc(wait, cancel).Stop()
	}
	defer cancel()
	var ended time.Time
	var before time.Duration
	seen := make(chan struct{})
	go func() { // ends with the context, which always ends
		<-ctx.Done()
		ended, before = time.Now(), w.stalls.total()
		close(seen)
	}()
	do(ctx)
	back := time.Now()
	if ctx.Err() == nil {
		cancel()
		<-seen
		return 0, 0
	}
	<-seen
	return max(back.Sub(ended), 0), w.stalls.total() - before
}

func key(queue int32) offset.Key {
	return offset.Key{Group: "late", MessageQueue: mq(queue)}
}

func mq(queue int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: fmt.Sprintf("t-%d", queue/16), Broker: "b", QueueID: queue % 16}
}

// all are the calls, ready to be made.
func (w *world) all() map[string]func(context.Context) {
	calls := clientCalls(w.client, w.id)
	if w.prepare == nil {
		return calls
	}
	for name, do := range map[string]func(context.Context, *client.RemoteStore){
		"PersistAll": func(ctx context.Context, s *client.RemoteStore) { _ = s.PersistAll(ctx, some(queues)) },
		"PersistAll of few, lowering": func(ctx context.Context, s *client.RemoteStore) {
			for _, q := range some(200) {
				s.UpdateOffset(q, 1, false)
			}
			_ = s.PersistAll(ctx, some(200))
		},
		"Persist": func(ctx context.Context, s *client.RemoteStore) { _ = s.Persist(ctx, mq(3)) },
		"UpdateConsume": func(ctx context.Context, s *client.RemoteStore) {
			_ = s.UpdateConsumeOffsetToBroker(ctx, mq(3), 99, false)
		},
		"ReadOffset": func(ctx context.Context, s *client.RemoteStore) {
			_, _ = s.ReadOffset(ctx, mq(3), client.ReadFromStore)
		},
		"ReadOffset, first": func(ctx context.Context, s *client.RemoteStore) {
			_, _ = s.ReadOffset(ctx, mq(queues+1), client.MemoryFirstThenStore)
		},
		"Close": func(ctx context.Context, s *client.RemoteStore) { _ = s.Close(ctx) },
		"two at once": func(ctx context.Context, s *client.RemoteStore) {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { _ = s.PersistAll(ctx, some(queues)) })
			}
			_, _ = s.ReadOffset(ctx, mq(3), client.ReadFromStore)
			_ = s.UpdateConsumeOffsetToBroker(ctx, mq(4), 99, true)
			both.Wait()
			_ = s.Close(ctx)
		},
	} {
		s := w.prepare()
		calls["RemoteStore: "+name] = func(ctx context.Context) { do(ctx, s) }
	}
	return calls
}

func some(n int32) (list []offset.MessageQueue) {
	for i := range n {
		list = append(list, mq(i))
	}
	return list
}

// clientCalls are all methods of a Client that take a context.
func clientCalls(c *client.Client, id offset.ClusterID) map[string]func(context.Context) {
	commits := make([]offset.Commit, queues)
	for i := range commits {
		commits[i] = offset.Commit{Key: key(int32(i)), Offset: 1}
	}
	set := offset.Set{Key: key(0), Cluster: id, Offset: 1}
	act := offset.Act{ID: offset.ActID{1, 2}, Cluster: id, Reset: &offset.Reset{Targets: []offset.Target{{Key: key(0), Offset: 7}}}}
	all := map[string]func(context.Context){
		"Commit":        func(ctx context.Context) { _, _, _ = c.Commit(ctx, id, commits[:1]) },
		"Commit, large": func(ctx context.Context) { _, _, _ = c.Commit(ctx, id, commits) },
		"CommitAtomic":  func(ctx context.Context) { _, _, _ = c.CommitAtomic(ctx, id, commits[:2]) },
		"Fetch":         func(ctx context.Context) { _, _, _ = c.Fetch(ctx, offset.ReadAt{}, key(0)) },
		"Fetch, future": func(ctx context.Context) {
			_, _, _ = c.Fetch(ctx, offset.ReadAt{Level: offset.AtLeast, Index: 1 << 60}, key(0))
		},
		"Set":  func(ctx context.Context) { _, _, _ = c.Set(ctx, set) },
		"List": func(ctx context.Context) { _, _ = c.List(ctx, offset.List{What: offset.ListKeys}) },
		"Act":  func(ctx context.Context) { _, _, _ = c.Act(ctx, act) },
		"Export": func(ctx context.Context) {
			_ = c.Export(ctx, offset.List{}, func(offset.Page) error { return nil })
		},
		"Export, stopped": func(ctx context.Context) {
			_ = c.Export(ctx, offset.List{}, func(offset.Page) error { return net.ErrClosed })
		},
		"Status":        func(ctx context.Context) { _, _ = c.Status(ctx, "") },
		"Status of one": func(ctx context.Context) { _, _ = c.Status(ctx, c.Leader()) },
		"AddMember":     func(ctx context.Context) { _, _ = c.AddMember(ctx, "n9/00000000000000000000000000000000", "n9:7412") },
		"PromoteMember": func(ctx context.Context) { _, _ = c.PromoteMember(ctx, "n9/00000000000000000000000000000000") },
		"RemoveMember":  func(ctx context.Context) { _, _ = c.RemoveMember(ctx, "n9/00000000000000000000000000000000") },
		"Transfer":      func(ctx context.Context) { _, _, _ = c.Transfer(ctx, "n9/00000000000000000000000000000000") },
		"Snapshot":      func(ctx context.Context) { _, _, _, _ = c.Snapshot(ctx, "") },
		"RaiseLevel":    func(ctx context.Context) { _, _ = c.RaiseLevel(ctx, 1) },
	}
	return all
}

// prepared gives stores of a cluster, each with its queues read and updated.
func prepared(t *testing.T, cl *client.Client) func() *client.RemoteStore {
	n := 0
	return func() *client.RemoteStore {
		n++
		s, err := client.NewRemoteStore(cl, fmt.Sprintf("late-%d", n), client.WithPersistInterval(0))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		var all sync.WaitGroup
		for part := range int32(50) {
			all.Go(func() {
				for i := part; i < queues; i += 50 {
					_, _ = s.ReadOffset(ctx, mq(i), client.ReadFromStore)
					s.UpdateOffset(mq(i), 5, true)
				}
			})
		}
		all.Wait()
		if err := s.PersistAll(ctx, some(queues)); err != nil {
			t.Fatal(err)
		}
		for _, q := range some(queues) {
			s.UpdateOffset(q, 9, true)
		}
		t.Cleanup(func() { closeNow(s) })
		return s
	}
}

// closeNow ends what a store has under way.
func closeNow(s *client.RemoteStore) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = s.Close(ctx)
}
