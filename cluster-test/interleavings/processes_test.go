package interleavings

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/fixture"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// TestAWipedNodeThatComesBack ends with the two commands that bring it in, and
// these, as they stand there, do.
func TestAWipedNodeThatComesBack(t *testing.T) {
	c := local.Start(t, 3)
	c.Tidemark("commit", "g", "t", "0", "7", "--broker", "b", "--execute").Want(t, 0, "-> 7", "")
	name := c.Others(c.Leader())[0]
	c.Sh("kill", name)
	if err := os.RemoveAll(filepath.Join(c.Run, name, "data")); err != nil {
		t.Fatal(err)
	}
	c.Try(name)
	commands := regexp.MustCompile(`tidemark (cluster (?:remove|add) [^\s"\\]+(?: [0-9.:]+)? --execute)`)
	var found [][]string
	ask.Until(t, "it says the way back", func() bool {
		found = commands.FindAllStringSubmatch(c.Log(name), -1)
		return len(found) >= 2
	})
	c.Tidemark("commit", "g", "t", "0", "8", "--broker", "b", "--execute").Want(t, 0, "7 -> 8", "")
	c.Tidemark(strings.Fields(found[0][1])...).Want(t, 0, "done", "")
	c.Sh("stop", name) // it may have said its last words and not ended yet
	// It waits to be added by the second command, which needs it to run.
	start := c.Daemon(append([]string{"--name", name, "--data", filepath.Join(c.Run, name, "data")}, addresses(c, name)...)...)
	ask.Until(t, "it is added", func() bool {
		r := c.Tidemark(strings.Fields(found[1][1])...)
		return r.Code == 0
	})
	n := c.Nodes(name)[0]
	ask.Until(t, "it is ready", func() bool {
		s, err := n.Status(ask.Within(t, time.Second))
		return err == nil && s.NotReady == ""
	})
	n.MustRead(t, ask.Local, incluster.Key("g", 0), 8)
	id, err := n.Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	ask.Until(t, "it is promoted", func() bool {
		return c.Tidemark("cluster", "promote", id.NodeID, "--execute").Code == 0
	})
	c.Sh("kill", c.Others(name)[0])
	ask.Until(t, "commits go on with it", func() bool {
		return c.Tidemark("commit", "g", "t", "0", "9", "--broker", "b", "--execute").Code == 0
	})
	n.MustRead(t, ask.Default, incluster.Key("g", 0), 9)
	if code := start.Stop(t); code != 0 {
		t.Errorf("it ends with %d", code)
	}
}

func addresses(c *local.Cluster, name string) []string {
	return []string{
		"--listen", c.API(name), "--advertise", c.API(name),
		"--peer-listen", c.Peer(name), "--peer-advertise", c.Peer(name),
	}
}

// TestAnImportWhoseCallerDiesHalfWay: the cluster says how far it came, lets
// no other import in between, and the same command goes on from there.
func TestAnImportWhoseCallerDiesHalfWay(t *testing.T) {
	for _, mode := range []string{"--merge", "--replace"} {
		t.Run(mode[2:], func(t *testing.T) { callerDies(t, mode) })
	}
}

func callerDies(t *testing.T, mode string) {
	c := local.Start(t, 3)
	path := filepath.Join(t.TempDir(), "consumerOffset.json")
	f, err := os.Create(path)
	if err == nil {
		err = fixture.Large(f, 25_000)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	life, kill := context.WithCancel(context.Background())
	defer kill()
	done := make(chan local.Result, 1)
	go func() { // awaited below
		done <- c.TidemarkAt(life, strings.Join(c.Endpoints(), ","), "import", path, mode, "--execute")
	}()
	n := c.Nodes(c.Leader())[0]
	ask.Until(t, "the import is half way", func() bool {
		s, err := n.Status(ask.Within(t, time.Second))
		return err == nil && s.Import != nil && s.Import.Next >= s.Import.Chunks/3
	})
	kill()
	if r := <-done; r.Code == 0 {
		t.Fatalf("the caller was done before it died: %+v", r)
	}
	c.Healthy().Want(t, 0, "under way: chunk", "")
	if mode == "--replace" { // staged beside: nothing of it is to be seen
		n.MustRead(t, ask.Default, large(0), -1)
	} else {
		n.MustRead(t, ask.Default, large(0), 0)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, []byte(`{"offsetTable":{"t@g":{0:1}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c.Tidemark("import", other, "--execute").Want(t, 4, "", "--abort")
	c.Tidemark("import", path, mode, "--execute").Want(t, 0, mode[2:]+" done", "going on with the import")

	out := filepath.Join(t.TempDir(), "out.json")
	c.Tidemark("export", out).Want(t, 0, "100000 offsets", "")
	want, err := offsetfile.ReadPath(path, offsetfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := offsetfile.ReadPath(out, offsetfile.Options{})
	if err != nil || got.Hash() != want.Hash() {
		t.Errorf("the cluster holds other offsets than the file: %v", err)
	}
	ask.Same(t, c.Nodes())
}

// large is the first key of the large file.
func large(queue int32) offset.Key {
	return offset.Key{Group: "g0", MessageQueue: offset.MessageQueue{Topic: "t0", QueueID: queue}}
}
