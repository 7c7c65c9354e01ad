package cases

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/offset"
)

// reader asks for keys that all have an offset, again and again.
type reader struct {
	name  string
	fetch func(ctx context.Context) ([]offset.KeyState, error)
}

// readers are all ways to ask: each node by JSON and by the binary protocol at
// every level, and the Go client and its RemoteStore.
func readers(t *testing.T, c *local.Cluster, keys []offset.Key, index uint64) (list []reader) {
	cl := c.Client()
	levels := []offset.ReadAt{ask.Default, ask.AtLeast(index), ask.Local}
	for _, at := range levels {
		for _, n := range c.Nodes() {
			list = append(list,
				reader{fmt.Sprintf("%s, JSON, %v", n.Name, at.Level), func(ctx context.Context) ([]offset.KeyState, error) {
					s, _, err := n.FetchJSON(ctx, at, keys...)
					return s, err
				}},
				reader{fmt.Sprintf("%s, binary, %v", n.Name, at.Level), func(ctx context.Context) ([]offset.KeyState, error) {
					s, _, err := n.Fetch(ctx, at, keys...)
					return s, err
				}})
		}
		list = append(list, reader{fmt.Sprintf("client, %v", at.Level), func(ctx context.Context) ([]offset.KeyState, error) {
			s, _, err := cl.Fetch(ctx, at, keys...)
			return s, err
		}})
	}
	s := store(t, cl, keys[0].Group)
	return append(list, reader{"RemoteStore", func(ctx context.Context) ([]offset.KeyState, error) {
		v, err := s.ReadOffset(ctx, keys[0].MessageQueue, client.ReadFromStore)
		if errors.Is(err, offset.ErrNoOffset) {
			return []offset.KeyState{{}}, nil
		}
		return []offset.KeyState{{Exists: true, Position: offset.Position{Offset: v}}}, err
	}})
}

// TestC27: while leadership moves and nodes die, no way of asking ever says
// "no offset", or another offset, of a queue that has one; errors are those
// that asking again can help.
func TestC27(t *testing.T) {
	c := local.Start(t, 3)
	groups, queues := effort.Of(6, 50), 8
	var list [][]offset.Key
	var commits []offset.Commit
	for g := range groups {
		var keys []offset.Key
		for q := range queues {
			k := key(fmt.Sprintf("c27-%02d", g), "t", "b", int32(q))
			keys = append(keys, k)
			commits = append(commits, offset.Commit{Key: k, Offset: 4711})
		}
		list = append(list, keys)
	}
	cl := c.Client()
	ctx := ask.Within(t, ask.Patience)
	_, meta, err := cl.Fetch(ctx, ask.Default, list[0]...)
	if err == nil {
		_, meta, err = cl.Commit(ctx, meta.Cluster, commits)
	}
	if err != nil {
		t.Fatal(err)
	}
	storm, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	var answers, failures atomic.Int64
	for _, keys := range list {
		all.Go(func() {
			ways := readers(t, c, keys, meta.Index)
			for i := 0; storm.Err() == nil; i++ {
				ask1(t, storm, ways[i%len(ways)], &answers, &failures)
			}
		})
	}
	stop := sync.OnceFunc(func() { end(); all.Wait() })
	t.Cleanup(stop)
	for range effort.Of(4, 60) {
		leader := c.Leader()
		r := c.Tidemark("cluster", "transfer", "--execute")
		if r.Code != 0 {
			t.Logf("transfer from %s: %s", leader, r.Err)
		}
		time.Sleep(effort.Of(200*time.Millisecond, 2*time.Second)) // the pace of the storm
	}
	for end := time.Now().Add(effort.Of(0, 5*time.Minute)); ; {
		for _, n := range c.Names() {
			c.Sh("kill", n)
			c.Sh("start", n) // it answers, in its way, while it replays
			c.Sh("ready")
		}
		if time.Now().After(end) {
			break
		}
	}
	stop()
	t.Logf("%d answers, %d retriable errors", answers.Load(), failures.Load())
	if answers.Load() < 100 {
		t.Error("there were hardly any answers")
	}
}

// ask1 asks once, and judges the answer.
func ask1(t *testing.T, storm context.Context, r reader, answers, failures *atomic.Int64) {
	ctx, cancel := context.WithTimeout(storm, 2*time.Second)
	defer cancel()
	states, err := r.fetch(ctx)
	if err != nil {
		failures.Add(1)
		if storm.Err() == nil && !offset.Retriable(err) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v, which is not retriable", r.name, err)
		}
		return
	}
	answers.Add(1)
	for _, s := range states {
		if ask.Value(s) != 4711 {
			t.Errorf("%s: offset %d (-1 is none), want 4711", r.name, ask.Value(s))
		}
	}
}

// raise commits through a client until that is acknowledged.
func raise(t *testing.T, cl *client.Client, k offset.Key, value int64) {
	t.Helper()
	ask.Until(t, "a commit is acknowledged", func() bool {
		ctx := ask.Within(t, 3*time.Second)
		s, meta, err := cl.Fetch(ctx, ask.Default, k)
		if err == nil {
			_, _, err = cl.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: value, Epoch: s[0].Epoch}})
		}
		return err == nil
	})
}

// below asks a node by default reads for a while; none may be below least.
// Local reads may be, but are one of those committed, and tell index and age.
func below(t *testing.T, n *ask.Node, k offset.Key, least, before int64, d time.Duration) {
	t.Helper()
	refused := 0
	for end := time.Now().Add(d); time.Now().Before(end); {
		s, _, err := n.Fetch(ask.Within(t, 300*time.Millisecond), ask.Default, k)
		switch {
		case err != nil:
			refused++
		case ask.Value(s[0]) < least:
			t.Errorf("%s reads %d after %d was acknowledged", n.Name, ask.Value(s[0]), least)
			return
		}
		s, meta, err := n.Fetch(ask.Within(t, 300*time.Millisecond), ask.Local, k)
		if err == nil && (ask.Value(s[0]) != least && ask.Value(s[0]) != before || meta.Index == 0) {
			t.Errorf("%s has %d at index %d, which was never committed", n.Name, ask.Value(s[0]), meta.Index)
			return
		}
		time.Sleep(10 * time.Millisecond) // as the report does
	}
	t.Logf("%s refused %d default reads", n.Name, refused)
}

// TestC28CutOff: a leader that the others do not hear, though clients do.
func TestC28CutOff(t *testing.T) {
	c := served.Start(t, 3)
	cl := c.Client()
	app := c.Outside[0]
	k := key("g", "t", "b", 0)
	for i := range effort.Of(3, 100) {
		before, after := int64(i)*1000+100, int64(i)*1000+200
		raise(t, cl, k, before)
		old := c.Leader()
		rest := c.Followers(old)
		old.MustRead(k, ask.Default, before)
		for _, m := range rest {
			c.Net.Cut(old.Name, m.Name)
			c.Net.Cut(m.Name, old.Name)
		}
		c.Net.Cut(app, old.Name) // this client must reach the other side
		raise(t, cl, k, after)
		c.Net.Heal(app, old.Name)
		below(t, c.Nodes(old)[0], k, after, before, effort.Of(400*time.Millisecond, 5*time.Second))
		c.Net.HealAll()
		ask.Until(t, "the old leader knows", func() bool {
			s, _, err := c.Nodes(old)[0].Fetch(ask.Within(t, time.Second), ask.Default, k)
			return err == nil && ask.Value(s[0]) == after
		})
	}
}

// TestC28Paused: a leader that stands still, and goes on when there is another.
func TestC28Paused(t *testing.T) {
	c := local.Start(t, 3)
	cl := c.Client()
	k := key("g", "t", "b", 0)
	for i := range effort.Of(2, 100) {
		before, after := int64(i)*1000+100, int64(i)*1000+200
		raise(t, cl, k, before)
		old := c.Leader()
		c.Sh("pause", old)
		raise(t, cl, k, after)
		if effort.Soak() {
			time.Sleep(5 * time.Second) // as long as the report has it
		}
		var all sync.WaitGroup
		resumed := make(chan struct{})
		for _, n := range append(c.Nodes(), c.Nodes(old, old, old)...) { // most at the old one
			all.Go(func() {
				<-resumed
				below(t, n, k, after, before, effort.Of(400*time.Millisecond, 5*time.Second))
			})
		}
		close(resumed) // the first reads meet the old leader before it goes on
		c.Sh("resume", old)
		all.Wait()
		if t.Failed() {
			return
		}
	}
}

// TestC58: the first commits of new groups, all sent at once over four
// connections, are all there, also when the leader dies half way.
func TestC58(t *testing.T) {
	for _, x := range []struct {
		name string
		kill bool
	}{{"undisturbed", false}, {"leader killed half way", true}} {
		t.Run(x.name, func(t *testing.T) { c58(t, x.kill) })
	}
}

func c58(t *testing.T, kill bool) {
	c := local.Start(t, 3)
	var clients []*client.Client
	for range 4 {
		clients = append(clients, c.Client())
	}
	ctx := ask.Within(t, effort.Of(time.Minute, 10*time.Minute))
	_, meta, err := clients[0].Fetch(ctx, ask.Default, key("g", "t", "b", 0))
	if err != nil {
		t.Fatal(err)
	}
	groups := effort.Of(60, 500)
	var index atomic.Uint64
	var keys []offset.Key
	for g := range groups {
		if kill && g == groups/2 {
			c.Sh("kill", c.Leader())
		}
		var all sync.WaitGroup
		for q := range 16 {
			k := key(fmt.Sprintf("c58-%03d", g), "t", "b", int32(q))
			keys = append(keys, k)
			all.Go(func() {
				_, m, err := clients[q%4].Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: int64(g*16 + q + 1)}})
				if err != nil {
					t.Errorf("%s: %v", k, err)
				}
				for at := index.Load(); m.Index > at && !index.CompareAndSwap(at, m.Index); at = index.Load() {
				}
			})
		}
		all.Wait()
	}
	if kill {
		c.Sh("up", "3")
	}
	for _, n := range c.Nodes() {
		for _, at := range []offset.ReadAt{ask.AtLeast(index.Load()), ask.Default, ask.Local} {
			states, _, err := n.Fetch(ctx, at, keys...)
			if err != nil {
				t.Fatalf("%s, %v: %v", n.Name, at.Level, err)
			}
			for i, s := range states {
				if ask.Value(s) != int64(i+1) {
					t.Errorf("%s, %v: %s is %d, want %d", n.Name, at.Level, keys[i], ask.Value(s), i+1)
				}
			}
		}
	}
	ask.Same(t, c.Nodes())
}
