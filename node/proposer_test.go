package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

var testCluster = offset.ClusterID{1}

// fakeLog takes the place of raft: entries are applied when the test says so.
type fakeLog struct {
	t       *testing.T
	machine *machine
	mu      sync.Mutex
	entries []*fakeFuture
}

type fakeFuture struct {
	ShutdownCh chan struct{}
	data       []byte
	index      uint64
	done       chan error
	answers    *fsm.Answers
}

func (f *fakeFuture) Error() error {
	select {
	case err := <-f.done:
		return err
	case <-f.ShutdownCh:
		return raft.ErrRaftShutdown
	}
}
func (f *fakeFuture) Index() uint64 { return f.index }
func (f *fakeFuture) Response() any { return f.answers }

func (l *fakeLog) apply(data []byte) raft.ApplyFuture {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := &fakeFuture{data: data, index: uint64(len(l.entries)) + 1, done: make(chan error, 1)}
	l.entries = append(l.entries, f)
	return f
}

// at returns the i-th entry, nil if there is none yet.
func (l *fakeLog) at(i int) *fakeFuture {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i >= len(l.entries) {
		return nil
	}
	return l.entries[i]
}

// requests decodes the i-th entry.
func (l *fakeLog) requests(i int) []entry.Request {
	var d entry.Decoder
	e, err := d.Decode(l.at(i).data)
	if err != nil {
		l.t.Fatal(err)
	}
	return e.Requests
}

// commit applies the i-th entry, or answers it with an error.
func (l *fakeLog) commit(i int, err error) {
	f := l.at(i)
	if err == nil {
		f.answers = l.machine.Apply(&raft.Log{Index: f.index, Term: 1, Type: raft.LogCommand, Data: f.data}).(*fsm.Answers)
	}
	f.done <- err
}

// proposing runs a proposer over a fake log inside a bubble of virtual time.
// after runs once it has ended.
func proposing(t *testing.T, with func(*Config), test func(p *proposer, l *fakeLog), after ...func()) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := good().withDefaults()
		if with != nil {
			with(&c)
		}
		m := &machine{FSM: fsm.New(fsm.Config{Cluster: testCluster})}
		l := &fakeLog{t: t, machine: m}
		p := newProposer(&c, testCluster, m, &counters{})
		p.apply, p.leads, p.watch = l.apply, func() bool { return true }, &transferWatch{limit: time.Hour}
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		group.Go(func() { p.run(ctx) })
		group.Go(p.resolve)
		test(p, l)
		cancel()
		synctest.Wait()
		close(p.end)
		group.Wait()
		for _, f := range after {
			f()
		}
	})
}

func commits(group string, queues int) entry.Request {
	t := offset.TopicCommits{Group: group, Topic: "t"}
	for q := range queues {
		t.Queues = append(t.Queues, offset.QueueCommit{QueueID: int32(q), Offset: 1})
	}
	return entry.Request{Principal: "p", Commits: &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{t}}}
}

// full is a request that fills an entry that is sealed at 1 KiB.
func full() entry.Request {
	r := commits("full", 1)
	for i := range 10 {
		t := offset.TopicCommits{Group: "full", Topic: fmt.Sprintf("%d%s", i, strings.Repeat("x", 200)), Queues: []offset.QueueCommit{{Offset: 1}}}
		r.Commits.Topics = append(r.Commits.Topics, t)
	}
	return r
}

// call proposes on a goroutine of its own.
func call(ctx context.Context, p *proposer, r entry.Request) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := p.propose(ctx, r)
		done <- err
	}()
	synctest.Wait()
	return done
}

func TestWhatWaitsTravelsTogether(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight = 2 }, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		var calls []<-chan error
		for i := range 12 {
			calls = append(calls, call(ctx, p, commits(fmt.Sprintf("g%d", i), 1)))
		}
		if l.at(0) == nil || l.at(1) == nil || l.at(2) != nil {
			t.Fatal("with two in flight, the first two requests are proposed at once, and no more")
		}
		l.commit(0, nil)
		synctest.Wait()
		if l.at(2) == nil || l.at(3) != nil {
			t.Fatal("when one comes back, one entry is proposed")
		}
		if n := len(l.requests(2)); n != 10 {
			t.Errorf("it carries %d requests, want all 10 that waited", n)
		}
		l.commit(1, nil)
		l.commit(2, nil)
		for i, c := range calls {
			if err := <-c; err != nil {
				t.Errorf("caller %d: %v", i, err)
			}
		}
		if n := p.machine.Root().Queues(); n != 12 {
			t.Errorf("%d queues, want 12", n)
		}
	})
}

func TestEntriesAreSealedBySize(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight, c.SealBytes = 1, 4<<10 }, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		call(ctx, p, commits("first", 1))
		for i := range 10 {
			call(ctx, p, commits(strings.Repeat("x", 200)+fmt.Sprint(i), 200))
		}
		for i := range 12 {
			synctest.Wait()
			f := l.at(i)
			if f == nil {
				break
			}
			if len(f.data) > 6<<10 {
				t.Errorf("entry %d has %d bytes, and is sealed at 4 KiB", i, len(f.data))
			}
			l.commit(i, nil)
		}
		synctest.Wait()
		if n := p.machine.Root().Queues(); n != 2001 {
			t.Errorf("%d queues, want 2,001", n)
		}
	})
}

func TestAClaimIsAloneInItsEntry(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight = 1 }, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		claim := entry.Request{Principal: "p", Act: &offset.Act{ID: offset.ActID{7}, Cluster: testCluster, Take: &offset.Take{Name: "g", Holder: "h"}}}
		call(ctx, p, commits("before", 1))
		call(ctx, p, commits("a", 1))
		call(ctx, p, claim)
		call(ctx, p, commits("b", 1))
		call(ctx, p, commits("c", 1))
		for i, want := range []int{1, 1, 1, 2} {
			synctest.Wait()
			if l.at(i) == nil {
				t.Fatalf("there is no entry %d", i)
			}
			r := l.requests(i)
			if len(r) != want || (i == 2) != (r[0].Act != nil) {
				t.Errorf("entry %d holds %d requests, act %v", i, len(r), r[0].Act != nil)
			}
			l.commit(i, nil)
		}
	})
}

func TestTheDeadlineDecidesByWhoHasTheRequest(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight = 1 }, func(p *proposer, l *fakeLog) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		first := call(ctx, p, commits("first", 1))
		second := call(ctx, p, commits("second", 1)) // taken into the next entry, not proposed
		resume := hold(t, p)
		third := call(ctx, p, commits("third", 1))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for i, c := range []<-chan error{first, second, third} {
			if err := <-c; !errors.Is(err, offset.ErrOutcomeUnknown) {
				t.Errorf("request %d, which the proposer had: %v, want unknown", i, err)
			}
		}
		resume()
		l.commit(0, nil)
	})
}

// hold stops the proposer at the next entry, without waiting for what flies.
func hold(t *testing.T, p *proposer) (resume func()) {
	t.Helper()
	select {
	case <-p.turn:
	default:
		t.Fatal("the turn is taken")
	}
	return func() { p.turn <- struct{}{} }
}

func TestWhatWaitsPastItsDeadlineIsDropped(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight, c.SealBytes = 1, 1<<10 }, func(p *proposer, l *fakeLog) {
		call(context.Background(), p, commits("first", 1))
		call(context.Background(), p, full()) // the next entry
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		late := call(ctx, p, commits("late", 1))
		time.Sleep(2 * time.Second)
		if err := <-late; !errors.Is(err, offset.ErrBusy) || offset.OutcomeOf(err) != offset.NotDone {
			t.Errorf("a request that nobody took: %v, want busy, and not done", err)
		}
		for i := range 3 {
			synctest.Wait()
			if l.at(i) != nil {
				l.commit(i, nil)
			}
		}
		synctest.Wait()
		if p.machine.Root().Get(offset.Key{Group: "late", MessageQueue: offset.MessageQueue{Topic: "t"}}).Exists {
			t.Error("the dropped request was applied")
		}
		if n := p.waitingBytes.Load(); n != 0 {
			t.Errorf("%d bytes are said to wait", n)
		}
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight, c.SealBytes, c.Limits.Waiting = 1, 1<<10, 3 }, func(p *proposer, l *fakeLog) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		call(ctx, p, commits("first", 1))
		call(ctx, p, full())
		var waiting []<-chan error
		for range 3 {
			waiting = append(waiting, call(ctx, p, commits("waits", 1)))
		}
		if err := <-call(ctx, p, commits("more", 1)); !errors.Is(err, offset.ErrBusy) {
			t.Errorf("a fourth that waits: %v, want ErrBusy at once", err)
		}
		cancel()
		for _, w := range waiting {
			<-w
		}
		l.commit(0, nil)
	})
}

func TestErrorsOfRaftReachTheCallers(t *testing.T) {
	for _, k := range []struct{ raft, want error }{
		{raft.ErrNotLeader, offset.ErrNotLeader},
		{raft.ErrLeadershipLost, offset.ErrOutcomeUnknown},
		{errors.New("disk full"), offset.ErrOutcomeUnknown},
	} {
		proposing(t, nil, func(p *proposer, l *fakeLog) {
			done := call(context.Background(), p, commits("g", 1))
			l.commit(0, k.raft)
			if err := <-done; !errors.Is(err, k.want) {
				t.Errorf("raft says %v, the caller hears %v, want %v", k.raft, err, k.want)
			}
		})
	}
}

func TestAtTheEndEverybodyIsTold(t *testing.T) {
	var flying, waiting <-chan error
	proposing(t, func(c *Config) { c.InFlight, c.SealBytes = 1, 1<<10 }, func(p *proposer, l *fakeLog) {
		flying = call(context.Background(), p, commits("flies", 1))
		call(context.Background(), p, full())
		waiting = call(context.Background(), p, commits("waits", 1))
	}, func() {
		if err := <-flying; !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("what raft had: %v, want unknown", err)
		}
		if err := <-waiting; !errors.Is(err, offset.ErrNotLeader) {
			t.Errorf("what waited: %v, want not the leader", err)
		}
	})
}

func TestStopDrains(t *testing.T) {
	proposing(t, func(c *Config) { c.InFlight = 2 }, func(p *proposer, l *fakeLog) {
		ctx := context.Background()
		first := call(ctx, p, commits("first", 1))
		var stopped atomic.Bool
		var resume func()
		go func() {
			resume, _ = p.stop(ctx)
			stopped.Store(true)
		}()
		synctest.Wait()
		kept := call(ctx, p, commits("kept", 1))
		if stopped.Load() || l.at(1) != nil {
			t.Fatal("it stopped with one in flight, or went on proposing")
		}
		l.commit(0, nil)
		synctest.Wait()
		if !stopped.Load() || l.at(1) != nil || <-first != nil {
			t.Fatal("it did not stop once nothing was in flight")
		}
		resume()
		synctest.Wait()
		l.commit(1, nil)
		if err := <-kept; err != nil {
			t.Errorf("what waited: %v", err)
		}
	})
}

func TestALargeRequestIsRefused(t *testing.T) {
	proposing(t, nil, func(p *proposer, l *fakeLog) {
		r := entry.Request{Commits: &offset.Commits{Cluster: testCluster}}
		for i := range 2500 {
			r.Commits.Topics = append(r.Commits.Topics, offset.TopicCommits{
				Group: "g", Topic: fmt.Sprintf("%04d%s", i, strings.Repeat("x", 240)), Queues: []offset.QueueCommit{{Offset: 1}},
			})
		}
		if _, err := p.propose(context.Background(), r); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("a request of more than 512 KiB: %v, want ErrInvalid", err)
		}
	})
}
