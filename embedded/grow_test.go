package embedded_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/embedded"
	"github.com/tidemark-mq/tidemark/offset"
)

// theQueue is what the example consumes.
var theQueue = offset.MessageQueue{Topic: "orders", QueueID: 0}

// growing is the example program, and what becomes of its folder.
type growing struct {
	*local.Cluster
	t       *testing.T
	program string
	dir     string
}

func newGrowing(t *testing.T) *growing {
	g := &growing{Cluster: local.New(t, 3), t: t, program: filepath.Join(t.TempDir(), "example"), dir: t.TempDir()}
	cmd := exec.Command("go", "build", "-o", g.program, "./examples/embedded")
	cmd.Dir = local.Root()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return g
}

// run starts the example over the folder of n1; with a network if so asked.
func (g *growing) run(network bool) *local.Daemon {
	g.t.Helper()
	args := []string{"--data", filepath.Join(g.dir, "n1")}
	if network {
		args = append(args, "--api", g.API("n1"), "--peer", g.Peer("n1"))
	}
	return g.Program(g.program, args...)
}

// daemon starts tidemarkd as a member.
func (g *growing) daemon(name string) *local.Daemon {
	g.t.Helper()
	return g.Daemon("--name", name, "--data", filepath.Join(g.dir, name), "--listen", g.API(name), "--peer-listen", g.Peer(name))
}

// said gives the last number behind a word that a run of the example has said;
// -1 if it has said none.
func said(d *local.Daemon, word string) (last int64) {
	last = -1
	for line := range strings.Lines(d.Log()) {
		if text, ok := strings.CutPrefix(line, word+" "); ok && strings.HasSuffix(line, "\n") {
			if v, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64); err == nil {
				last = v
			}
		}
	}
	return last
}

// goOn waits until a run of the example has had n more acknowledged, from
// where it began, and checks that nothing is missing there.
func (g *growing) goOn(d *local.Daemon, acknowledged, n int64) {
	g.t.Helper()
	ask.Until(g.t, "the example goes on", func() bool {
		if !d.Running() {
			g.t.Fatalf("the example has ended:\n%s", d.Log())
		}
		return said(d, "acknowledged") >= max(acknowledged, 0)+n
	})
	if begins := said(d, "begins at"); begins < acknowledged || begins > acknowledged+1 {
		g.t.Errorf("it began at %d; %d was acknowledged", begins, acknowledged)
	}
}

// add brings a member in and makes it a voter, by the command line.
func (g *growing) add(name string) {
	g.t.Helper()
	id := ""
	node := ask.New(name, g.API(name), nil)
	ask.Until(g.t, name+" has an id", func() bool {
		s, err := node.Status(ask.Within(g.t, time.Second))
		id = s.NodeID
		return err == nil && id != ""
	})
	g.TidemarkAt(ask.Within(g.t, ask.Patience), g.API("n1"), "cluster", "add", id, g.Peer(name), "--execute").Want(g.t, 0, "", "")
	ask.Until(g.t, name+" is promoted", func() bool {
		return g.TidemarkAt(ask.Within(g.t, ask.Patience), g.API("n1"), "cluster", "promote", name, "--execute").Code == 0
	})
}

// at gives where a client of some nodes finds the queue.
func (g *growing) at(names ...string) int64 {
	g.t.Helper()
	var endpoints []string
	for _, n := range names {
		endpoints = append(endpoints, g.API(n))
	}
	cl, err := client.New(endpoints)
	if err != nil {
		g.t.Fatal(err)
	}
	defer cl.Close()
	return read(g.t, newStore(g.t, cl), theQueue)
}

// TestGrowsIntoACluster: a program with an embedded node, killed at each step,
// becomes the first of three members, with two tidemarkd; the three bear its
// loss; it comes back; and the two go on when it is removed for good.
func TestGrowsIntoACluster(t *testing.T) {
	g := newGrowing(t)
	first := g.run(false)
	g.goOn(first, -1, 20)
	first.Kill()
	acknowledged := said(first, "acknowledged")

	first = g.run(true)
	g.goOn(first, acknowledged, 5)
	for _, name := range []string{"n2", "n3"} {
		g.daemon(name)
		g.add(name)
	}
	g.goOn(first, said(first, "begins at"), 20)
	first.Kill()
	acknowledged = said(first, "acknowledged")
	if v := g.at("n2", "n3"); v < acknowledged || v > acknowledged+1 {
		t.Errorf("the other two have %d; %d was acknowledged", v, acknowledged)
	}

	alone := g.run(false) // would wait for the others for ever
	if code := alone.Wait(t); code != 1 || !strings.Contains(alone.Log(), "3 members") {
		t.Errorf("without a network it ends with %d:\n%s", code, alone.Log())
	}
	first = g.run(true)
	g.goOn(first, acknowledged, 20)

	g.TidemarkAt(ask.Within(t, ask.Patience), g.API("n2"), "cluster", "remove", "n1", "--execute").Want(t, 0, "", "")
	if code := first.Wait(t); code != 1 || !strings.Contains(first.Log(), "has been removed from the cluster") {
		t.Errorf("removed, it ends with %d:\n%s", code, first.Log())
	}
	acknowledged = said(first, "acknowledged")
	if v := g.at("n2", "n3"); v < acknowledged {
		t.Errorf("after the removal the two have %d; %d was acknowledged", v, acknowledged)
	}
}

// TestTidemarkdTakesTheFolder, and gives it back.
func TestTidemarkdTakesTheFolder(t *testing.T) {
	g := newGrowing(t)
	program := g.run(false)
	g.goOn(program, -1, 20)
	if code := program.Stop(t); code != 0 {
		t.Errorf("the example ends with %d", code)
	}
	acknowledged := said(program, "acknowledged")
	daemon := g.daemon("n1")
	if v := g.at("n1"); v < acknowledged || v > acknowledged+1 {
		t.Errorf("tidemarkd has %d; %d was acknowledged", v, acknowledged)
	}
	if code := daemon.Stop(t); code != 0 {
		t.Errorf("tidemarkd ends with %d", code)
	}
	n := open(t, filepath.Join(g.dir, "n1"))
	if v := read(t, newStore(t, n.Client()), theQueue); v < acknowledged || v > acknowledged+1 {
		t.Errorf("embedded again it has %d; %d was acknowledged", v, acknowledged)
	}
}

// TestAnEmptyFolderJoins a cluster instead of founding a second one.
func TestAnEmptyFolderJoins(t *testing.T) {
	g := newGrowing(t)
	first := open(t, filepath.Join(g.dir, "n1"), embedded.WithListen(g.API("n1"), g.Peer("n1")))
	read(t, newStore(t, first.Client()), queue(0))
	s := newStore(t, first.Client())
	read(t, s, queue(0))
	persist(t, s, queue(0), 7)
	opened := make(chan *embedded.Node, 1)
	go func() { // the channel is read below
		n, err := embedded.Open(within(t, patience), filepath.Join(g.dir, "n2"), embedded.WithName("n2"), embedded.WithJoin(), embedded.WithListen(g.API("n2"), g.Peer("n2")))
		if err != nil {
			t.Error(err)
		}
		opened <- n
	}()
	g.add("n2")
	second := <-opened
	if second == nil {
		return
	}
	defer second.Close()
	if v := read(t, newStore(t, second.Client()), queue(0)); v != 7 {
		t.Errorf("the second member has %d", v)
	}
	if api, peer := second.Addresses(); api != g.API("n2") || peer != g.Peer("n2") {
		t.Errorf("it is at %s and %s", api, peer)
	}
	if _, err := os.Stat(filepath.Join(g.dir, "n2", "member.json")); err != nil {
		t.Error(err)
	}
}
