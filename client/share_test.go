package client

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// crowd holds a request of one commit open for others to join.
type crowd struct {
	c       *Client
	b       *shared[*offset.Commits, offset.Verdict]
	own     *seat[*offset.Commits]
	callers sync.WaitGroup
}

// gathering begins a request that commits key(99).
func gathering(t *testing.T, c *Client) *crowd {
	t.Helper()
	k := key(99)
	q := &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{topicOf(&offset.Commit{Key: k, Offset: 1})}}
	b, own, first := c.commits.enter(q, 1000)
	if b == nil || !first {
		t.Fatalf("a request could not be begun: %v, %v", b, first)
	}
	return &crowd{c: c, b: b, own: own}
}

// join has a caller commit, and waits until it has joined.
func (w *crowd) join(t *testing.T, d time.Duration, k offset.Key, to int64, check func(v []offset.Verdict, err error)) {
	w.callers.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), d)
		defer cancel()
		v, _, err := w.c.Commit(ctx, testCluster, []offset.Commit{{Key: k, Offset: to}})
		check(v, err)
	})
	synctest.Wait()
}

// send sends what was gathered; what came of it is known when send returns, to
// the callers too.
func (w *crowd) send() {
	w.c.commits.gather(w.b)
	w.c.commits.start(w.c, w.b)
	<-w.b.done
	w.callers.Wait()
}

func wantCommitted(t *testing.T, want int64) func(v []offset.Verdict, err error) {
	return func(v []offset.Verdict, err error) {
		if err != nil || len(v) != 1 || v[0].State.Position.Offset != want {
			t.Errorf("verdicts %v, %v; want offset %d", v, err, want)
		}
	}
}

func wantError(t *testing.T, want error) func(v []offset.Verdict, err error) {
	return func(v []offset.Verdict, err error) {
		if !errors.Is(err, want) {
			t.Errorf("%v; want %v", err, want)
		}
	}
}

func TestCallersShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.state.reset(key(1), 70)
		w := gathering(t, f.client())
		w.join(t, time.Second, key(0), 5, wantCommitted(t, 5))
		w.join(t, time.Second, key(1), 6, func(v []offset.Verdict, err error) {
			r := (*Refused)(nil)
			if !errors.As(err, &r) || len(r.Keys) != 1 || r.Keys[0].Key != key(1) || r.Keys[0].State.Position.Offset != 70 {
				t.Errorf("the fenced one got %v, %v", v, err)
			}
		})
		w.join(t, time.Second, key(2), 7, wantCommitted(t, 7))
		w.send()
		if n := f.count("commit"); n != 1 {
			t.Errorf("%d requests were made of four; want one", n)
		}
	})
}

// What one caller may not do, or cannot, is not the others' fault.
func TestARefusalOfASharedRequestIsNobodys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, kind string, nth int) (fault, error) {
			if kind == "commit" && nth == 1 {
				return refuse, offset.ErrDenied
			}
			return none, nil
		})
		c := f.client()
		w := gathering(t, c)
		w.join(t, time.Second, key(0), 5, wantCommitted(t, 5))
		w.join(t, time.Second, key(1), 6, wantCommitted(t, 6))
		w.send()
		if n := f.count("commit"); n != 3 {
			t.Errorf("%d requests; want the shared one, and one for each caller", n)
		}
		q := &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{{Queues: make([]offset.QueueCommit, 1)}}}
		if b, _, _ := c.commits.enter(q, 1000); b != nil {
			t.Error("right after a refusal requests are shared")
		}
		time.Sleep(apartTime)
		if b, _, _ := c.commits.enter(q, 1000); b == nil {
			t.Error("requests are not shared any more")
		}
	})
}

// An error that says to try again is everybody's, and each tries again.
func TestCallersOfASharedRequestTryAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, kind string, nth int) (fault, error) {
			if kind == "commit" && nth == 1 {
				return refuse, offset.ErrBusy
			}
			return none, nil
		})
		w := gathering(t, f.client())
		w.join(t, time.Second, key(0), 5, wantCommitted(t, 5))
		w.join(t, time.Second, key(1), 6, wantCommitted(t, 6))
		w.send()
		if f.state.at(key(0)) != 5 || f.state.at(key(1)) != 6 {
			t.Errorf("stored are %d and %d", f.state.at(key(0)), f.state.at(key(1)))
		}
	})
}

// A caller that waits no more is let go at once; the others get their answers.
func TestWhoLeavesASharedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		slow := make(chan struct{})
		f.play(func(_ *fakeNode, kind string, _ int) (fault, error) {
			if kind == "commit" {
				<-slow
			}
			return none, nil
		})
		w := gathering(t, f.client())
		began := time.Now()
		w.join(t, 900*time.Millisecond, key(0), 5, func(_ []offset.Verdict, err error) {
			if took := time.Since(began); !errors.Is(err, offset.ErrOutcomeUnknown) || took != 900*time.Millisecond {
				t.Errorf("after %v: %v", took, err)
			}
			close(slow)
		})
		w.join(t, time.Second, key(1), 6, wantCommitted(t, 6))
		if w.b.ms != 850 {
			t.Errorf("the node is given %d ms; want what it may take for the most hurried", w.b.ms)
		}
		w.send()
	})
}

// A caller that leaves before the request has begun is told that nothing was sent, and
// nothing of his is; the last who leaves ends the call.
func TestASharedRequestThatReachesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		f.kill("a:1")
		w := gathering(t, c)
		w.join(t, 900*time.Millisecond, key(0), 5, wantError(t, offset.ErrUnreachable))
		w.join(t, time.Second, key(1), 6, wantError(t, offset.ErrUnreachable))
		w.send()
	})
}

func TestWhoLeavesBeforeASharedRequestIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		slow := func(ctx context.Context, addr string) (net.Conn, error) {
			time.Sleep(950 * time.Millisecond)
			return f.net.dial(ctx, addr)
		}
		w := gathering(t, f.clientOf([]string{"a:1"}, WithDialer(slow)))
		w.join(t, 900*time.Millisecond, key(0), 5, wantError(t, offset.ErrUnreachable))
		w.join(t, 1100*time.Millisecond, key(1), 6, wantCommitted(t, 6))
		w.join(t, 900*time.Millisecond, key(2), 7, wantError(t, offset.ErrUnreachable))
		w.join(t, 1100*time.Millisecond, key(3), 8, wantCommitted(t, 8))
		w.send()
		if w.own.at != 0 || f.state.at(key(0)) != -1 || f.state.at(key(2)) != -1 {
			t.Errorf("of those who had left %d and %d are stored", f.state.at(key(0)), f.state.at(key(2)))
		}
	})
}

// The last who leaves a request that was sent learns what came of it.
func TestAllLeaveASharedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		w := gathering(t, f.client())
		w.join(t, 900*time.Millisecond, key(0), 5, wantError(t, offset.ErrOutcomeUnknown))
		w.join(t, time.Second, key(1), 6, wantError(t, offset.ErrOutcomeUnknown))
		w.callers.Go(func() { // the first of all goes last
			ctx := within(t, 1100*time.Millisecond)
			<-ctx.Done()
			if err := w.c.commits.leave(ctx, w.b, w.own); err != nil || !errors.Is(w.b.err, context.Canceled) {
				t.Errorf("the last got %v, and %v of the request", err, w.b.err)
			}
		})
		w.send()
	})
}

// A node that serves is used while the leader that it names is dialled.
func TestASharedRequestWaitsForNoBetterNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.clientOf([]string{"a:1"}, WithDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			if addr == "b:1" {
				<-ctx.Done() // it cannot be reached from here
				return nil, ctx.Err()
			}
			return f.net.dial(ctx, addr)
		}))
		if err := commitOne(within(t, time.Second), c, key(9), 1, 0); err != nil {
			t.Fatal(err)
		}
		f.lead("b:1")
		if err := commitOne(within(t, time.Second), c, key(9), 2, 0); err != nil { // its answer names b:1
			t.Fatal(err)
		}
		w, began := gathering(t, c), time.Now()
		w.join(t, time.Second, key(0), 5, wantCommitted(t, 5))
		w.join(t, time.Second, key(1), 6, wantCommitted(t, 6))
		w.send()
		if took := time.Since(began); took > 0 || f.count("a:1 commit") != 3 {
			t.Errorf("they took %v, in %d requests at the node that serves", took, f.count("a:1 commit"))
		}
	})
}

// A refusal that comes with the end of a caller's time is not its own.
func TestWhoseTimeIsUpIsNotRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, kind string, _ int) (fault, error) {
			if kind == "commit" {
				time.Sleep(900 * time.Millisecond)
			}
			return refuse, offset.ErrDenied
		})
		w := gathering(t, f.client())
		w.join(t, 900*time.Millisecond, key(0), 5, func(_ []offset.Verdict, err error) {
			if errors.Is(err, offset.ErrDenied) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it got %v", err)
			}
		})
		w.send()
	})
}

func TestASharedRequestEndsWithTheClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		c := f.client()
		w := gathering(t, c)
		w.join(t, time.Minute, key(0), 5, wantError(t, offset.ErrOutcomeUnknown))
		w.callers.Go(func() {
			time.Sleep(time.Second)
			c.Close()
		})
		w.send()
		w = gathering(t, c)
		w.join(t, time.Minute, key(0), 5, wantError(t, offset.ErrClosed))
		w.send()
	})
}

// newCommitsWith has a request of a caller that leaves the node so long.
func newCommitsWith(ms uint32) *sharing[*offset.Commits, offset.Verdict] {
	c := newCommits(realClock{})
	q := &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{{Queues: make([]offset.QueueCommit, 1)}}}
	c.enter(q, ms)
	c.enter(q, ms/10*11) // so that the most patient has 1100, and 790 is too little next to it
	return c
}

func TestWhatDoesNotShare(t *testing.T) {
	c := newCommits(realClock{})
	one := []offset.TopicCommits{{Queues: make([]offset.QueueCommit, 1)}}
	first, _, _ := c.enter(&offset.Commits{Cluster: testCluster, Topics: one}, 1000)
	for what, q := range map[string]*offset.Commits{
		"an atomic set": {Cluster: testCluster, Atomic: true, Topics: one},
		"many keys":     {Cluster: testCluster, Topics: []offset.TopicCommits{{Queues: make([]offset.QueueCommit, maxShareKeys+1)}}},
	} {
		if b, _, _ := c.enter(q, 1000); b != nil {
			t.Errorf("%s shares", what)
		}
	}
	if b, _, _ := c.enter(&offset.Commits{Cluster: testCluster, Topics: one}, leastShareMS-1); b != nil {
		t.Error("a hurried one shares")
	}
	for _, ms := range []uint32{740, 1260, 790} {
		if b, _, begins := newCommitsWith(1000).enter(&offset.Commits{Cluster: testCluster, Topics: one}, ms); b == nil || !begins {
			t.Errorf("one that has %d ms shares with one that has 1000", ms)
		}
	}
	if b, _, begins := c.enter(&offset.Commits{Cluster: offset.ClusterID{9}, Topics: one}, 1000); b == first || !begins {
		t.Error("epochs of two clusters share")
	}
	f := newFetches(realClock{})
	if b, _, _ := f.enter(&offset.Fetch{At: offset.ReadAt{Level: offset.Local}, Keys: make([]offset.Key, 1)}, 1000); b != nil {
		t.Error("a local read shares")
	}
	for i := range maxSharedKeys / 2 {
		if b, _, begins := f.enter(&offset.Fetch{Keys: make([]offset.Key, 2)}, 1000); b.keys != 2*i+2 || begins != (i == 0) {
			t.Fatalf("request %d: %d keys, begins=%v", i, b.keys, begins)
		}
	}
	if _, _, begins := f.enter(&offset.Fetch{Keys: make([]offset.Key, 2)}, 1000); !begins {
		t.Error("one too many is taken")
	}
}

// How long requests go by themselves is told by the Client's clock.
func TestRequestsGoByThemselvesByTheClock(t *testing.T) {
	now := &stoppedClock{at: time.Unix(0, 0)}
	c := newCommits(now)
	q := &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{{Queues: make([]offset.QueueCommit, 1)}}}
	c.goApart()
	if b, _, _ := c.enter(q, 1000); b != nil {
		t.Error("requests are shared before the time is up")
	}
	now.at = now.at.Add(apartTime)
	if b, _, _ := c.enter(q, 1000); b == nil {
		t.Error("requests are not shared once the time is up")
	}
}

// Readers who share get the states that they asked for.
func TestReadersShareARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		for i := range int64(4) {
			if err := commitOne(within(t, time.Second), c, key(int32(i)), 10+i, 0); err != nil {
				t.Fatal(err)
			}
		}
		b, _, _ := c.fetches.enter(&offset.Fetch{Keys: []offset.Key{key(3)}}, 1000)
		var all sync.WaitGroup
		for i := range int32(3) {
			all.Go(func() {
				states, meta, err := c.Fetch(within(t, time.Second), offset.ReadAt{}, key(i), key(50))
				if err != nil || len(states) != 2 || states[0].Position.Offset != 10+int64(i) || states[1].Exists || meta.Cluster != testCluster {
					t.Errorf("reader %d got %+v, %+v, %v", i, states, meta, err)
				}
			})
		}
		synctest.Wait()
		c.fetches.gather(b)
		c.fetches.start(c, b)
		all.Wait()
		if <-b.done; f.count("fetch") != 1 || f.fetched() != 7 {
			t.Errorf("%d requests for %d keys; want 1 for 7", f.count("fetch"), f.fetched())
		}
	})
}
