package history

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// staleness looks for a read that is older than what was acknowledged before it.
type staleness struct {
	*testing.T
	a    arena.Arena
	key  offset.Key
	last int64 // acknowledged
}

// TestC28 (hashicorp/consul#54, rqlite/rqlite#5): a leader that is cut off from
// the others, not from clients, never answers a linearizable read with less than
// what the others have acknowledged meanwhile.
func TestC28(t *testing.T) {
	s := &staleness{T: t, a: arena.InProcess(t, 3), key: incluster.Key("c28", 0)}
	for range effort.Of(4, 100) {
		leader, others := s.leader()
		s.commit(leader)
		for _, o := range others {
			s.a.Net().Cut(leader, o)
			s.a.Net().Cut(o, leader)
		}
		s.reading(leader, func() { s.commit(others...) })
		s.a.Net().HealAll()
		s.whole()
	}
}

// TestC28Pause is the same with a leader that stands still (SIGSTOP) while
// another one takes over, and reads that wait for it when it goes on.
func TestC28Pause(t *testing.T) {
	s := &staleness{T: t, a: arena.Processes(t, 3), key: incluster.Key("c28", 0)}
	for range effort.Of(2, 10) {
		leader, others := s.leader()
		s.commit(leader)
		if err := s.a.Pause(leader); err != nil {
			t.Fatal(err)
		}
		s.reading(leader, func() {
			s.commit(others...)
			time.Sleep(effort.Of(time.Duration(0), 5*time.Second)) // how long it stands still
			if err := s.a.Resume(leader); err != nil {
				t.Error(err)
			}
		})
		s.whole()
	}
}

func (s *staleness) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	s.Cleanup(cancel)
	return ctx
}

func (s *staleness) leader() (leader string, others []string) {
	s.Helper()
	leader, _, err := fault.WaitLeader(s.within(healTime), s.a)
	if err != nil {
		s.Fatal(err)
	}
	for _, n := range s.a.Names() {
		if n != leader {
			others = append(others, n)
		}
	}
	return leader, others
}

// commit commits the next value through one of the nodes until it is acknowledged.
func (s *staleness) commit(nodes ...string) {
	s.Helper()
	next := s.last + 1 + rand.Int64N(100)
	for end := s.within(healTime); ; {
		n := s.a.Node(nodes[rand.IntN(len(nodes))])
		ctx := s.within(2 * time.Second)
		states, meta, err := n.Fetch(ctx, &offset.Fetch{Keys: []offset.Key{s.key}})
		if err == nil {
			topics, _ := offset.GroupCommits([]offset.Commit{{Key: s.key, Offset: next, Epoch: states[0].Epoch}})
			var verdicts []offset.Verdict
			if verdicts, _, err = n.Commit(ctx, &offset.Commits{Cluster: meta.Cluster, Topics: topics}); err == nil && verdicts[0].Code == offset.CodeOK {
				s.last = next
				return
			}
		}
		if end.Err() != nil {
			s.Fatalf("nothing is acknowledged by %v: %v", nodes, err)
		}
	}
}

// reading reads from the old leader every 10 ms while act is under way, and for a
// while after it; what act had acknowledged before a read was sent is its least.
func (s *staleness) reading(leader string, act func()) {
	s.Helper()
	least := &struct {
		sync.Mutex
		value int64
	}{value: s.last}
	node, stop := s.a.Node(leader), make(chan struct{})
	var readers sync.WaitGroup
	read := func() {
		least.Lock()
		want := least.value
		least.Unlock()
		states, _, err := node.Fetch(s.within(time.Second), &offset.Fetch{Keys: []offset.Key{s.key}})
		if err == nil && states[0].Position.Offset < want {
			s.Errorf("%s answers a linearizable read with %d, and %d was acknowledged before", leader, states[0].Position.Offset, want)
		}
	}
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond): // the pace of reads
				readers.Go(read)
			}
		}
	})
	act()
	least.Lock()
	least.value = s.last
	least.Unlock()
	time.Sleep(effort.Of(500*time.Millisecond, 2*time.Second)) // reads go on that long
	close(stop)
	readers.Wait()
}

// whole waits until all nodes serve.
func (s *staleness) whole() {
	s.Helper()
	x := &round{arena: s.a}
	if err := x.healthy(s.within(healTime)); err != nil {
		s.Fatal(err)
	}
}
