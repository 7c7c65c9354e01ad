package cases

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/fixture"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// large writes the file of C50, with fewer keys where time is short.
func large(t *testing.T) (path string, offsets uint64) {
	t.Helper()
	entries := effort.Of(10_000, fixture.LargeEntries)
	path = filepath.Join(t.TempDir(), "consumerOffset.json")
	f, err := os.Create(path)
	if err == nil {
		err = fixture.Large(f, entries)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, uint64(entries) * 4
}

// TestC50 (rqlite/rqlite#1016, #1551): a large file comes in while others commit,
// and the leader dies half way. Status and health answer all the time; what is
// missing then is told, and the same command ends in the same state as one clean
// run. No entry of it is larger than a request may be.
func TestC50(t *testing.T) {
	path, offsets := large(t)
	c := local.Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{Consumers: 2})
	l.More(3)
	watch, end := context.WithCancel(context.Background())
	var all sync.WaitGroup
	half := make(chan string, 1)
	all.Go(func() { half <- c50Watch(watch, t, c) })
	t.Cleanup(func() { end(); all.Wait() })

	done := make(chan local.Result, 1)
	all.Go(func() { done <- c.TidemarkAt(watch, strings.Join(c.Endpoints(), ","), "import", path, "--execute") })
	leader := <-half
	if leader == "" {
		t.Fatal("the import was over before it was seen half way")
	}
	c.Sh("kill", leader)
	first := <-done
	end()
	all.Wait()
	t.Logf("after the kill: exit code %d, %s", first.Code, strings.TrimSpace(first.Out+first.Err))
	if first.Code != 0 && !strings.Contains(first.Err, "run the same command again") {
		t.Errorf("the import that stopped does not say how it goes on: %s", first.Err)
	}
	c.Sh("start", leader)
	c.Sh("ready")
	if first.Code != 0 {
		c.Tidemark("cluster", "status").Want(t, 0, "under way: chunk", "")
	}
	c.Tidemark("import", path, "--execute").Want(t, 0, "merge done", "")
	again := c.Tidemark("import", path, "--execute").Want(t, 0, "0 changed", "")
	t.Log(strings.TrimSpace(again.Out))
	l.More(3)
	t.Logf("longest gap for the other commits: %v", l.LongestGap().Round(time.Millisecond))
	l.Check(c.Nodes())
	for _, n := range c.Nodes() {
		if largest, err := n.Metric(ask.Within(t, ask.Patience), "tidemark_proposed_largest_bytes"); err != nil || largest > offset.MaxRequest {
			t.Errorf("%s has proposed an entry of %v bytes; %v", n.Name, largest, err)
		}
	}
	sameAsFile(t, c, path, offsets)
}

// c50Watch asks a node for its status until the import is half way, and gives
// the name of the leader then.
func c50Watch(ctx context.Context, t *testing.T, c *local.Cluster) string {
	leader := c.Leader()
	n := c.Nodes(leader)[0]
	for ctx.Err() == nil {
		s, err := n.Status(ask.Within(t, time.Second))
		if err != nil {
			t.Errorf("status while an import is under way: %v", err)
			return ""
		}
		if i := s.Import; i != nil && i.Next >= i.Chunks/2 {
			if i.Chunks < 2 || i.Offsets == 0 {
				t.Errorf("the import is %+v", i)
			}
			if status, text, err := n.Page(ask.Within(t, time.Second), "/readyz"); err != nil || status != 200 {
				t.Errorf("/readyz while an import is under way: %d %q, %v", status, text, err)
			}
			return leader
		}
	}
	return ""
}

// sameAsFile demands that the cluster holds of the file's groups just what the
// file says.
func sameAsFile(t *testing.T, c *local.Cluster, path string, offsets uint64) {
	t.Helper()
	want, err := offsetfile.ReadPath(path, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.json")
	args := []string{"export", out, "--broker", ""} // the consumers beside it have a broker
	c.Tidemark(args...).Want(t, 0, "", "")
	got, err := offsetfile.ReadPath(out, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if uint64(got.Offsets()) != offsets || got.Hash() != want.Hash() {
		t.Errorf("the cluster holds %d offsets with the hash %x, the file %d with %x", got.Offsets(), got.Hash(), want.Offsets(), want.Hash())
	}
}
