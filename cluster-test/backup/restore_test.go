package backup

import (
	"context"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/fsm/backup"
	"github.com/tidemark-mq/tidemark/offset"
)

// wholeness looks at keys again and again, on all nodes, and demands that they
// are all at one of two values in each look, and never back at the first once
// they were seen at the second.
type wholeness struct {
	tb       testing.TB
	keys     []offset.Key
	from, to int64
	stop     context.CancelFunc
	done     sync.WaitGroup
	// looks counts those that were answered, restored those that saw to.
	looks, restored atomic.Int64
}

func watch(tb testing.TB, nodes []*ask.Node, keys []offset.Key, from, to int64) *wholeness {
	ctx, cancel := context.WithCancel(context.Background())
	w := &wholeness{tb: tb, keys: keys[:min(len(keys), 2000)], from: from, to: to, stop: cancel}
	tb.Cleanup(w.end)
	w.done.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			w.look(ctx, nodes[i%len(nodes)])
		}
	})
	return w
}

// end stops looking; it may be called again.
func (w *wholeness) end() {
	w.stop()
	w.done.Wait()
}

func (w *wholeness) look(ctx context.Context, n *ask.Node) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	states, _, err := n.Fetch(ctx, ask.Default, w.keys...)
	if err != nil {
		return // the node is down, or knows no leader
	}
	first := ask.Value(states[0])
	for i, s := range states {
		if v := ask.Value(s); v != first || v != w.from && v != w.to || v == w.from && w.restored.Load() > 0 {
			w.tb.Errorf("%s reads %s as %d and %s as %d, after %d looks at what was restored", n.Name, w.keys[0], first, w.keys[i], v, w.restored.Load())
			return
		}
	}
	if first == w.to {
		w.restored.Add(1)
	}
	w.looks.Add(1)
}

// underway waits until a restore has put more than that many chunks beside the
// table; false: the tool has ended before.
func underway(tb testing.TB, nodes []*ask.Node, chunks uint32, ended <-chan local.Result) bool {
	for {
		for _, n := range nodes {
			s, err := n.Status(ask.Within(tb, time.Second))
			if err == nil && s.Import != nil && s.Import.Next > chunks {
				return true
			}
		}
		if len(ended) > 0 {
			return false
		}
	}
}

// restore starts the tool; the end of ctx kills it.
func restore(ctx context.Context, c *local.Cluster, endpoints, file string) <-chan local.Result {
	ended := make(chan local.Result, 1)
	go func() { // every caller receives
		ended <- c.TidemarkAt(ctx, endpoints, "cluster", "restore", file, "--execute", "--allow-removal")
	}()
	return ended
}

// TestRestoreUnderLoad: the tool is killed half way, and nothing is to be seen of
// the restore; run again, it goes on. The leader is killed half way, and it is
// done all the same, or when it is run again: on each node all of it or nothing
// of it, at each look. Consumers that commit meanwhile are fenced, told, and begin
// at what the backup has; digests are equal in the end.
func TestRestoreUnderLoad(t *testing.T) {
	c := local.Start(t, 3)
	keys := moss(20_000)
	raise(c, keys, 500)
	load := consume(t, c.Client, 4)
	load.more(3)
	file := filepath.Join(t.TempDir(), "all.backup")
	saved := take(c, file, c.API("n3"))
	load.more(3)

	chunks, done := killTheTool(t, c, file, keys)
	all(t, c.Nodes(c.Leader())[0], ask.Default, keys, 900)
	for _, x := range load.list {
		if x.fences.Load() > done {
			t.Errorf("%s is fenced by a restore that was not done", x.key)
		}
	}
	load.more(1)
	restores := done + 1
	for ; !killTheLeader(t, c, file, keys, chunks); restores++ {
		if restores == done+10 {
			t.Fatal("the leader was never killed half way")
		}
		raise(c, keys, 900)
		chunks = 0
	}
	load.more(2)
	began(t, load, saved, restores)
	load.check(c.Nodes())
}

// killTheTool runs a restore, kills it half way, and returns how many chunks are
// done. It may have come to its end by then; all begins again in that case, and
// done counts those.
func killTheTool(t *testing.T, c *local.Cluster, file string, keys []offset.Key) (chunks uint32, done int64) {
	t.Helper()
	for range 10 {
		raise(c, keys, 900)
		ctx, kill := context.WithCancel(context.Background())
		ended := restore(ctx, c, strings.Join(c.Endpoints(), ","), file)
		met := underway(t, c.Nodes(), 0, ended)
		kill()
		r := <-ended
		s, err := c.Nodes(c.Leader())[0].Status(ask.Within(t, ask.Patience))
		if err != nil {
			t.Fatal(err)
		}
		if met && r.Code < 0 && s.Import != nil {
			t.Logf("the tool is killed with %d of %d chunks done", s.Import.Next, s.Import.Chunks)
			return s.Import.Next, done
		}
		if r.Code == 0 || r.Code < 0 && s.Import == nil {
			done++
		}
	}
	t.Fatal("the tool was never killed half way")
	return 0, 0
}

// killTheLeader runs a restore, of which so many chunks are done, kills the
// leader half way, and runs the tool again where it could not end. It reports
// false if the restore was done before the leader was killed.
func killTheLeader(t *testing.T, c *local.Cluster, file string, keys []offset.Key, chunks uint32) (met bool) {
	t.Helper()
	leader, endpoints := c.Leader(), strings.Join(c.Endpoints(), ",")
	look := watch(t, c.Nodes(), keys, 900, 500)
	ask.Until(t, "it is looked at before the restore", func() bool { return look.looks.Load() > 0 })
	ended := restore(context.Background(), c, endpoints, file)
	met = underway(t, c.Nodes(), chunks, ended)
	c.Sh("kill", leader)
	r := <-ended
	t.Logf("the tool, whose leader was killed, ends with %d: %s", r.Code, r.Err)
	if r.Code != 0 {
		r = <-restore(context.Background(), c, endpoints, file)
	}
	if r.Code != 0 || !strings.Contains(r.Out, "restored at index") {
		t.Fatalf("run again it ends with %d: %s%s", r.Code, r.Out, r.Err)
	}
	c.Sh("start", leader)
	c.Sh("ready")
	ask.Until(t, "what was restored is seen", func() bool { return look.restored.Load() > 0 })
	look.end()
	for _, n := range c.Nodes() {
		all(t, n, ask.Default, keys, 500)
	}
	t.Logf("%d looks, %d of them after the restore", look.looks.Load(), look.restored.Load())
	return met
}

// began demands that each consumer was fenced, no more often than was restored,
// was told, and began anew at what the backup has of it.
func began(t *testing.T, load *consumers, saved *backup.Backup, restores int64) {
	t.Helper()
	for _, x := range load.list {
		want := ask.Value(saved.Root.Get(x.key))
		ask.Until(t, x.key.Group+" is told", func() bool { return x.told.Load() >= x.fences.Load() })
		if n := x.fences.Load(); n < 1 || n > restores || x.told.Load() != n || x.began.Load() != want {
			t.Errorf("%s was fenced %d times, told %d times, and began at %d; the backup has %d", x.key, x.fences.Load(), x.told.Load(), x.began.Load(), want)
		}
	}
}

// TestC40RestoreThroughEachNode (rqlite/rqlite#382): a follower passes it on; a
// node without a leader says that, with the code of that, and nothing changes.
func TestC40RestoreThroughEachNode(t *testing.T) {
	c := local.Start(t, 3)
	keys := moss(1000)
	raise(c, keys, 500)
	file := filepath.Join(t.TempDir(), "all.backup")
	take(c, file, c.API("n1"))
	for _, n := range c.Names() {
		raise(c, keys, 900)
		c.TidemarkAt(ask.Within(t, ask.Patience), c.API(n), "cluster", "restore", file, "--execute").Want(t, 0, "restored at index", "")
		for _, other := range c.Nodes() {
			all(t, other, ask.Default, keys, 500)
		}
	}
	raise(c, keys, 900)
	ask.Same(t, c.Nodes()) // so that n3 has what was raised
	for _, n := range []string{"n1", "n2"} {
		c.Sh("kill", n)
	}
	r := c.TidemarkAt(ask.Within(t, ask.Patience), c.API("n3"), "--timeout", "3s", "cluster", "restore", file, "--execute")
	if r.Code != 8 || strings.Contains(r.Out, "restored") {
		t.Errorf("without a leader: exit code %d, %s%s", r.Code, r.Out, r.Err)
	}
	all(t, c.Nodes("n3")[0], ask.Local, keys, 900)
	for _, n := range []string{"n1", "n2"} {
		c.Sh("start", n)
	}
	c.Sh("ready")
	for _, n := range c.Nodes() {
		all(t, n, ask.Default, keys, 900)
	}
	ask.Same(t, c.Nodes())
}
