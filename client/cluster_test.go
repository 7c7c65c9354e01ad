package client_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// edges serves the API of each member of a cluster on its in-memory network.
type edges struct {
	*incluster.Cluster
	all map[*incluster.Member]*server.Server
	// clients counts those that were made.
	clients int
	done    sync.WaitGroup
}

func startEdges(t *testing.T) *edges {
	t.Helper()
	e := &edges{Cluster: incluster.Start(t, 3), all: make(map[*incluster.Member]*server.Server)}
	t.Cleanup(func() {
		for m := range e.all {
			e.close(m)
		}
		e.done.Wait()
	})
	for _, m := range e.Members {
		e.open(m)
	}
	return e
}

// open serves the API of a member that runs.
func (e *edges) open(m *incluster.Member) {
	e.TB.Helper()
	l, err := e.Net.Host(m.Name).Listen(":7411")
	if err != nil {
		e.TB.Fatal(err)
	}
	s := server.New(server.Config{Service: m.Node()})
	e.all[m] = s
	e.done.Go(func() { _ = s.Serve(l) }) // a member that is killed takes the listener away
}

// close ends the API of a member at once.
func (e *edges) close(m *incluster.Member) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = e.all[m].Shutdown(ctx) // it says what it cut off
}

// kill ends a member with its API, as a crash does.
func (e *edges) kill(m *incluster.Member) {
	e.Net.Host(m.Name).Down()
	e.close(m)
	m.Kill()
	e.Net.Heal(app, m.Name) // Kill cut it off from all, and joins it with the members alone
	e.Net.Heal(m.Name, app)
}

// app is the host of the clients.
const app = "app"

func (e *edges) restart(m *incluster.Member) {
	m.Start()
	e.open(m)
}

// client gives a Client whose first seed is another member each time.
func (e *edges) client(opts ...client.Option) *client.Client {
	e.TB.Helper()
	seeds := []string{"n1:7411", "n2:7411", "n3:7411", "n1:7411", "n2:7411"}[e.clients%3:][:3]
	e.clients++
	dial := func(ctx context.Context, addr string) (net.Conn, error) { return e.Net.Host(app).Dial(ctx, addr) }
	c, err := client.New(seeds, append([]client.Option{client.WithDialer(dial)}, opts...)...)
	if err != nil {
		e.TB.Fatal(err)
	}
	e.TB.Cleanup(func() { c.Close() })
	return c
}

func (e *edges) store(c *client.Client, opts ...client.StoreOption) *client.RemoteStore {
	e.TB.Helper()
	s, err := client.NewRemoteStore(c, "billing", opts...)
	if err != nil {
		e.TB.Fatal(err)
	}
	e.TB.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = s.Close(ctx)
	})
	return s
}

func queue(id int) offset.MessageQueue {
	return offset.MessageQueue{Topic: "orders", Broker: fmt.Sprintf("bk-%d", id%2), QueueID: int32(id)}
}

func queues(n int) (list []offset.MessageQueue) {
	for id := range n {
		list = append(list, queue(id))
	}
	return list
}

func within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

// readAll reads queues before their first message.
func readAll(tb testing.TB, s *client.RemoteStore, list []offset.MessageQueue) {
	tb.Helper()
	for _, q := range list {
		if _, err := s.ReadOffset(within(tb, 10*time.Second), q, client.ReadFromStore); err != nil && !errors.Is(err, offset.ErrNoOffset) {
			tb.Fatal(err)
		}
	}
}

// TestNothingPersistedIsLostWhileLeadersDie has four consumers of four queues
// persist, each by itself, while each member is killed and started again.
func TestNothingPersistedIsLostWhileLeadersDie(t *testing.T) {
	e := startEdges(t)
	c := e.client()
	list := queues(16)
	acked := make([]atomic.Int64, len(list))
	var longest atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	for g := range 4 {
		s := e.store(c, client.WithPersistInterval(0))
		mine := list[4*g : 4*g+4]
		readAll(t, s, mine)
		all.Go(func() {
			last := time.Now()
			for n := int64(1); ctx.Err() == nil; n++ {
				for _, q := range mine {
					s.UpdateOffset(q, n, true)
				}
				if err := s.PersistAll(within(t, 30*time.Second), mine); err != nil {
					t.Errorf("consumer %d, offset %d: %v", g, n, err)
					return
				}
				now := time.Now()
				longest.Store(max(longest.Load(), int64(now.Sub(last))))
				last = now
				for i := range mine {
					acked[4*g+i].Store(n)
				}
			}
		})
	}
	for range 3 {
		e.more(acked, 20)
		leader := e.Leader()
		e.kill(leader)
		e.more(acked, 20)
		e.restart(leader)
		e.WaitReady(leader)
	}
	stop()
	all.Wait()
	states, _, err := c.Fetch(within(t, 10*time.Second), offset.ReadAt{}, keys(list)...)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for i, st := range states {
		total += acked[i].Load()
		if !st.Exists || st.Position.Offset < acked[i].Load() {
			t.Errorf("%v is at %d; %d was acknowledged", list[i], st.Position.Offset, acked[i].Load())
		}
	}
	t.Logf("%d offsets acknowledged, 3 leaders killed, the longest gap was %s", total, time.Duration(longest.Load()).Round(time.Millisecond))
}

func keys(list []offset.MessageQueue) (out []offset.Key) {
	for _, q := range list {
		out = append(out, offset.Key{Group: "billing", MessageQueue: q})
	}
	return out
}

// TestNoReaderIsToldNoOffsetWhileLeadershipMoves reads through every member
// while leadership is handed on and the leader dies (C27).
func TestNoReaderIsToldNoOffsetWhileLeadershipMoves(t *testing.T) {
	e := startEdges(t)
	c := e.client()
	s := e.store(c, client.WithPersistInterval(0))
	list := queues(8)
	readAll(t, s, list)
	for _, q := range list {
		s.UpdateOffset(q, 77, true)
	}
	if err := s.PersistAll(within(t, 10*time.Second), list); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var values atomic.Int64
	for range 3 { // each begins at another member
		reader := e.store(e.client(), client.WithPersistInterval(0))
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				short, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
				v, err := reader.ReadOffset(short, list[i%len(list)], client.ReadFromStore)
				cancel()
				if err == nil && v != 77 || errors.Is(err, offset.ErrNoOffset) {
					t.Errorf("a queue at 77 was read as %d, %v", v, err)
					return
				}
				if err == nil {
					values.Add(1)
				}
			}
		})
	}
	goOn := func() {
		from := values.Load()
		e.Until("values are read", func() bool { return values.Load() > from+50 })
	}
	for range 4 {
		goOn()
		if _, _, err := c.Transfer(within(t, 10*time.Second), ""); err != nil && !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
	}
	goOn()
	leader := e.Leader()
	e.kill(leader)
	goOn()
	e.restart(leader)
	goOn()
}

// more waits until every queue has had n further acknowledgements.
func (e *edges) more(acked []atomic.Int64, n int64) {
	e.TB.Helper()
	from := make([]int64, len(acked))
	for i := range acked {
		from[i] = acked[i].Load()
	}
	e.Until("every consumer goes on", func() bool {
		for i := range acked {
			if acked[i].Load() < from[i]+n {
				return false
			}
		}
		return true
	})
}

// resetTo is an operator's reset of one queue.
func (e *edges) resetTo(c *client.Client, q offset.MessageQueue, to int64) offset.ActResult {
	e.TB.Helper()
	ctx := within(e.TB, 10*time.Second)
	k := offset.Key{Group: "billing", MessageQueue: q}
	_, meta, err := c.Fetch(ctx, offset.ReadAt{}, k)
	if err != nil {
		e.TB.Fatal(err)
	}
	r, _, err := c.Act(ctx, offset.Act{
		ID: incluster.NewActID(), Base: meta.Index, Cluster: meta.Cluster,
		Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: to}}},
	})
	if err != nil {
		e.TB.Fatal(err)
	}
	return r
}

// TestResetOfOneQueueTellsItsOwnerAlone: three consumers run sixteen queues,
// an operator resets one of them while it is idle.
func TestResetOfOneQueueTellsItsOwnerAlone(t *testing.T) {
	e := startEdges(t)
	c := e.client()
	var mu sync.Mutex
	told := make(map[int][]client.Fence)
	var stores []*client.RemoteStore
	for g := range 3 {
		s := e.store(c, client.WithPersistInterval(100*time.Millisecond), client.WithOnFenced(func(f client.Fence) {
			mu.Lock()
			defer mu.Unlock()
			told[g] = append(told[g], f)
		}))
		stores = append(stores, s)
	}
	list := queues(16)
	for i, q := range list {
		s := stores[i%3]
		readAll(t, s, []offset.MessageQueue{q})
		s.UpdateOffset(q, 100, true)
		if err := s.Persist(within(t, 10*time.Second), q); err != nil {
			t.Fatal(err)
		}
	}
	e.resetTo(c, list[7], 40) // it is of stores[1]
	e.Until("the owner is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(told[1]) > 0
	})
	for i, q := range list {
		s := stores[i%3]
		s.UpdateOffset(q, 101, true)
		err := s.Persist(within(t, 10*time.Second), q)
		if fenced := errors.Is(err, offset.ErrFenced); fenced != (i == 7) || err != nil && !fenced {
			t.Errorf("queue %d: %v", i, err)
		}
	}
	s := stores[1]
	s.RemoveOffset(list[7])
	if v, err := s.ReadOffset(within(t, 10*time.Second), list[7], client.ReadFromStore); v != 40 || err != nil {
		t.Fatalf("%d, %v", v, err)
	}
	s.UpdateOffset(list[7], 41, true)
	if err := s.Persist(within(t, 10*time.Second), list[7]); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(told[0])+len(told[2]) != 0 || len(told[1]) != 1 || told[1][0].Queue != list[7] || told[1][0].State.Position.Offset != 40 {
		t.Fatalf("told %+v", told)
	}
}

func TestLoweringOnACluster(t *testing.T) {
	e := startEdges(t)
	c := e.client()
	s := e.store(c, client.WithPersistInterval(0))
	q := queue(0)
	readAll(t, s, []offset.MessageQueue{q})
	for _, step := range []struct {
		to   int64
		only bool
	}{{100, true}, {40, false}, {41, true}, {0, false}, {7, true}} {
		s.UpdateOffset(q, step.to, step.only)
		if err := s.Persist(within(t, 10*time.Second), q); err != nil {
			t.Fatalf("to %d: %v", step.to, err)
		}
		if v, err := s.ReadOffset(within(t, 10*time.Second), q, client.ReadFromStore); v != step.to || err != nil {
			t.Fatalf("%d, %v; want %d", v, err, step.to)
		}
	}
}

func TestOperatorsCallsOnACluster(t *testing.T) {
	e := startEdges(t)
	c := e.client()
	ctx := within(t, 20*time.Second)
	s := e.store(c, client.WithPersistInterval(0))
	list := queues(4)
	readAll(t, s, list)
	for _, q := range list {
		s.UpdateOffset(q, 9, true)
	}
	if err := s.PersistAll(ctx, list); err != nil {
		t.Fatal(err)
	}
	page, err := c.List(ctx, offset.List{What: offset.ListKeys, Group: "billing"})
	if err != nil || len(page.Keys) != 4 {
		t.Fatalf("%+v, %v", page, err)
	}
	rows := 0
	if err := c.Export(ctx, offset.List{}, func(p offset.Page) error { rows += len(p.Keys); return nil }); err != nil || rows != 4 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	for _, m := range e.Members {
		st, err := c.Status(ctx, m.Config.AdvertiseAPI)
		if err != nil || st.NodeID != m.ID() || len(st.Members) != 3 {
			t.Fatalf("%+v, %v", st, err)
		}
	}
	e.Until("leadership is handed over", func() bool { // a busy machine may be too slow for it, or elect another leader before
		before := e.Leader()
		id, _, err := c.Transfer(ctx, "")
		if err != nil && !errors.Is(err, offset.ErrOutcomeUnknown) && !errors.Is(err, offset.ErrBusy) {
			t.Fatal(err)
		}
		return err == nil && id != before.ID()
	})
	if err := s.PersistAll(ctx, list); err != nil {
		t.Fatal(err)
	}
	act := offset.Act{ID: incluster.NewActID(), Base: page.Meta.Index, Cluster: page.Meta.Cluster, Remove: &offset.Remove{Scope: offset.Scope{Group: "billing"}}}
	r, _, err := c.Act(ctx, act)
	if err != nil || r.Changed != 4 {
		t.Fatalf("%+v, %v", r, err)
	}
	again, _, err := c.Act(ctx, act)
	if err != nil || again.Index != r.Index || again.Changed != 4 {
		t.Fatalf("a resend: %+v, %v; want the first answer, %+v", again, err, r)
	}
	act.ID = incluster.NewActID()
	act.Remove, act.Clone = nil, &offset.Clone{From: "nobody", To: "billing"}
	if _, _, err := c.Act(ctx, act); !errors.Is(err, offset.ErrNotFound) {
		t.Fatalf("a clone of a group that is not there: %v", err)
	}
}
