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
	leader, first := c50Kill(t, c, path)
	for tries := 1; leader == ""; tries++ {
		if tries == 20 {
			t.Fatal("the import was over before it was seen half way, each time")
		}
		l.Stop() // what it has is emptied as well
		emptied(t, c)
		l = load.Start(t, c.Client, load.Shape{Consumers: 2})
		l.More(3)
		leader, first = c50Kill(t, c, path)
	}
	t.Logf("after the kill: exit code %d, %s", first.Code, strings.TrimSpace(first.Out+first.Err))
	if first.Code != 0 && !strings.Contains(first.Err, "run the same command again") {
		t.Errorf("the import that stopped does not say how it goes on: %s", first.Err)
	}
	c.Sh("start", leader)
	c.Sh("ready")
	if first.Code != 0 {
		c.Healthy().Want(t, 0, "under way: chunk", "")
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

// c50Kill runs the import, kills the leader when half of the file is there, and
// gives its name and what the import said; no name if that was over by then.
func c50Kill(t *testing.T, c *local.Cluster, path string) (leader string, r local.Result) {
	t.Helper()
	leader = c.Leader()
	n := c.Nodes(leader)[0]
	ctx, end := context.WithCancel(t.Context())
	done := make(chan local.Result, 1)
	var all sync.WaitGroup
	defer all.Wait()
	defer end()
	all.Go(func() { done <- c.TidemarkAt(ctx, strings.Join(c.Endpoints(), ","), "import", path, "--execute") })
	for len(done) == 0 {
		s, err := n.Status(ask.Within(t, ask.Patience))
		if err != nil {
			t.Fatalf("status while an import is under way: %v", err)
		}
		if i := s.Import; i != nil && i.Next >= i.Chunks/2 {
			if i.Chunks < 2 || i.Offsets == 0 {
				t.Errorf("the import is %+v", i)
			}
			serves(t, n)
			c.Sh("kill", leader)
			return leader, <-done
		}
	}
	return "", (<-done).Want(t, 0, "merge done", "")
}

// serves demands 200 of /readyz, or of a later look where a node is between two leaders.
func serves(t *testing.T, n *ask.Node) {
	t.Helper()
	ask.Until(t, n.Name+" serves", func() bool {
		status, text, err := n.Page(ask.Within(t, ask.Patience), "/readyz")
		if err != nil || status != 200 && !strings.Contains(text, "knows no leader") {
			t.Fatalf("/readyz while an import is under way: %d %q, %v", status, text, err)
		}
		return status == 200
	})
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
