package tidemarktest_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/tidemarktest"
)

// patience is how long a call may take before the test fails.
const patience = 20 * time.Second

func within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

func queue(id int32) offset.MessageQueue {
	return offset.MessageQueue{Topic: "orders", Broker: "bk", QueueID: id}
}

// newStore is a store without a loop, over a client of one's own.
func newStore(tb testing.TB, c *tidemarktest.Cluster, opts ...client.StoreOption) *client.RemoteStore {
	tb.Helper()
	s, err := client.NewRemoteStore(c.Client(), "billing", append([]client.StoreOption{client.WithPersistInterval(0)}, opts...)...)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// read reads a queue from the store; -1 is no offset.
func read(tb testing.TB, s client.OffsetStore, mq offset.MessageQueue) int64 {
	tb.Helper()
	v, err := s.ReadOffset(within(tb, patience), mq, client.ReadFromStore)
	if errors.Is(err, offset.ErrNoOffset) {
		return -1
	}
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func persist(tb testing.TB, s client.OffsetStore, mq offset.MessageQueue, next int64) {
	tb.Helper()
	s.UpdateOffset(mq, next, true)
	if err := s.Persist(within(tb, patience), mq); err != nil {
		tb.Fatal(err)
	}
}

func want(tb testing.TB, c *tidemarktest.Cluster, offsets map[offset.MessageQueue]int64) {
	tb.Helper()
	if got := c.Offsets("billing"); !maps.Equal(got, offsets) {
		tb.Errorf("the cluster has %v; want %v", got, offsets)
	}
}

// TestALeaderDiesAndComesBack under an ordinary client, which was given the
// endpoints and nothing else.
func TestALeaderDiesAndComesBack(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3)
	s := newStore(t, c)
	read(t, s, queue(0))
	persist(t, s, queue(0), 10)
	dead := c.KillLeader()
	if dead.Running() {
		t.Errorf("%s runs after its death", dead.Name())
	}
	if _, err := net.Dial("tcp", dead.Endpoint()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("connecting to a dead node: %v; want it refused", err)
	}
	persist(t, s, queue(0), 20)
	if next := c.Leader(); next == dead {
		t.Errorf("%s leads after its death", dead.Name())
	}
	endpoint := dead.Endpoint()
	dead.Restart()
	if !dead.Running() || dead.Endpoint() != endpoint {
		t.Errorf("restarted: runs %v, at %s, was at %s", dead.Running(), dead.Endpoint(), endpoint)
	}
	for _, n := range c.Nodes() { // with the one that came back as the second of two
		if n != dead {
			n.Kill()
			break
		}
	}
	persist(t, s, queue(0), 30)
	want(t, c, map[offset.MessageQueue]int64{queue(0): 30})
}

// TestOneNodeDiesAndKeepsWhatWasAcknowledged.
func TestOneNodeDiesAndKeepsWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	s := newStore(t, c)
	read(t, s, queue(0))
	persist(t, s, queue(0), 10)
	node := c.KillLeader()
	s.UpdateOffset(queue(0), 20, true)
	if err := s.Persist(within(t, 300*time.Millisecond), queue(0)); err == nil {
		t.Error("a dead cluster persisted")
	}
	node.Restart()
	want(t, c, map[offset.MessageQueue]int64{queue(0): 10})
	persist(t, s, queue(0), 20)
	want(t, c, map[offset.MessageQueue]int64{queue(0): 20})
}

// TestALeaderThatIsCutOff from the others stands down, and clients find the
// new one; it follows once healed.
func TestALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3)
	s := newStore(t, c)
	read(t, s, queue(0))
	persist(t, s, queue(0), 10)
	old := c.Leader()
	for _, n := range c.Nodes() {
		if n != old {
			c.Cut(old, n)
		}
	}
	persist(t, s, queue(0), 20)
	if c.Leader() == old {
		t.Errorf("%s leads without a quorum", old.Name())
	}
	c.Heal()
	for _, n := range c.Nodes() {
		if n != old && n != c.Leader() {
			n.Kill() // so that the healed one is needed
			break
		}
	}
	persist(t, s, queue(0), 30)
	want(t, c, map[offset.MessageQueue]int64{queue(0): 30})
}

// TestAClusterThatClientsAreCutOffFrom answers nothing, and keeps what it had.
func TestAClusterThatClientsAreCutOffFrom(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3)
	s := newStore(t, c)
	read(t, s, queue(0))
	persist(t, s, queue(0), 10)
	for _, n := range c.Nodes() {
		c.Cut(tidemarktest.Clients, n)
	}
	s.UpdateOffset(queue(0), 20, true)
	if err := s.Persist(within(t, time.Second), queue(0)); err == nil {
		t.Error("persisted through a cut")
	}
	want(t, c, map[offset.MessageQueue]int64{queue(0): 10})
	c.Heal()
	persist(t, s, queue(0), 20)
	want(t, c, map[offset.MessageQueue]int64{queue(0): 20})
}

// TestAPausedNode does not answer, and continues where it was.
func TestAPausedNode(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	s := newStore(t, c)
	read(t, s, queue(0))
	persist(t, s, queue(0), 10)
	node := c.Leader()
	c.Pause(node)
	s.UpdateOffset(queue(0), 20, true)
	if err := s.Persist(within(t, time.Second), queue(0)); err == nil {
		t.Error("a silent node persisted")
	}
	c.Resume(node)
	persist(t, s, queue(0), 20)
	want(t, c, map[offset.MessageQueue]int64{queue(0): 20})
}

// TestAPausedLeaderIsReplaced.
func TestAPausedLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3)
	s := newStore(t, c)
	read(t, s, queue(0))
	old := c.Leader()
	c.Pause(old)
	persist(t, s, queue(0), 10)
	if c.Leader() == old {
		t.Errorf("%s leads while it is silent", old.Name())
	}
}

// TestWaitLeaderWithoutQuorum gives the error of the context.
func TestWaitLeaderWithoutQuorum(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3)
	c.KillLeader()
	c.KillLeader()
	if n, err := c.WaitLeader(within(t, 500*time.Millisecond)); n != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("one node of three: leader %v, %v", n, err)
	}
	for _, n := range c.Nodes() {
		if !n.Running() {
			n.Restart()
			break
		}
	}
	if n, err := c.WaitLeader(within(t, patience)); err != nil || !n.Running() {
		t.Errorf("two nodes of three: %v, %v", n, err)
	}
}

// TestActsOfAnOperator fence whoever had read the queue.
func TestActsOfAnOperator(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 1)
	var fences []client.Fence
	s := newStore(t, c, client.WithOnFenced(func(f client.Fence) { fences = append(fences, f) }))
	for id := range int32(3) {
		read(t, s, queue(id))
		persist(t, s, queue(id), 100)
	}
	c.Reset("billing", queue(0), 40)
	c.Remove("billing", queue(1))
	c.Reset("billing", queue(9), 9) // had no offset
	want(t, c, map[offset.MessageQueue]int64{queue(0): 40, queue(2): 100, queue(9): 9})
	for id := range int32(3) {
		s.UpdateOffset(queue(id), 101, true)
	}
	err := s.PersistAll(within(t, patience), []offset.MessageQueue{queue(0), queue(1), queue(2)})
	if !errors.Is(err, offset.ErrFenced) || len(fences) != 2 || fences[0].Queue != queue(0) || fences[1].Queue != queue(1) {
		t.Errorf("persisting after an operator's acts: %v, fences %+v", err, fences)
	}
	want(t, c, map[offset.MessageQueue]int64{queue(0): 40, queue(2): 101, queue(9): 9})
	s.RemoveOffset(queue(0))
	if v := read(t, s, queue(0)); v != 40 {
		t.Errorf("removed and read again: %d", v)
	}
	persist(t, s, queue(0), 41)
}

// TestManyClustersAtOnce have nothing to do with one another.
func TestManyClustersAtOnce(t *testing.T) {
	t.Parallel()
	const clusters = 6
	var all sync.WaitGroup
	list := make([]*tidemarktest.Cluster, clusters)
	for i := range list {
		list[i] = tidemarktest.Start(t, 1)
	}
	for i, c := range list {
		all.Go(func() {
			s := newStore(t, c)
			if _, err := s.ReadOffset(within(t, patience), queue(0), client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
				t.Error(err)
			}
			s.UpdateOffset(queue(0), int64(i), true)
			if err := s.Persist(within(t, patience), queue(0)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for i, c := range list {
		want(t, c, map[offset.MessageQueue]int64{queue(0): int64(i)})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	c := tidemarktest.Start(t, 3, nil, tidemarktest.WithTimers("slow-disk"))
	for i, n := range c.Nodes() {
		if n.Name() != fmt.Sprintf("n%d", i+1) || n.Endpoint() != c.Endpoints()[i] || !n.Running() {
			t.Errorf("node %d is %s at %s, endpoints %v", i, n.Name(), n.Endpoint(), c.Endpoints())
		}
	}
}
