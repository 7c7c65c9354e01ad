package backup

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

// TestC40BackupFromEachNode (rqlite/rqlite#2050, #1088, #382): while consumers
// commit, each node gives a backup that is whole and holds what was acknowledged
// before; at rest all give the same content, index and digest.
func TestC40BackupFromEachNode(t *testing.T) {
	c := local.Start(t, 3)
	keys := moss(1000)
	raise(c, keys, 500)
	load := consume(t, c.Client, 4)
	load.more(3)
	dir := t.TempDir()
	for _, n := range c.Names() {
		acked := make([]int64, len(load.list))
		for i, x := range load.list {
			acked[i] = x.acked.Load()
		}
		b := take(c, filepath.Join(dir, n+".busy"), c.API(n))
		for i, x := range load.list {
			if s := b.Root.Get(x.key); ask.Value(s) < acked[i] || ask.Value(s) > x.sent.Load() {
				t.Errorf("the backup of %s has %s at %d; %d was acknowledged before", n, x.key, ask.Value(s), acked[i])
			}
		}
		for _, k := range keys {
			if s := b.Root.Get(k); ask.Value(s) != 500 {
				t.Fatalf("the backup of %s has %s at %d", n, k, ask.Value(s))
			}
		}
		load.more(1)
	}
	load.check(c.Nodes())
	first := take(c, filepath.Join(dir, "first"), c.API("n1"))
	for _, n := range c.Names() {
		for _, level := range []string{"linearizable", "local"} {
			b := take(c, filepath.Join(dir, n+"."+level), c.API(n), "--level", level)
			if b.Root.Index() != first.Root.Index() || b.Root.Digest() != first.Root.Digest() || content(b) != content(first) {
				t.Errorf("%s gives (%s) index %d with digest %s, and n1 %d with %s", n, level, b.Root.Index(), b.Root.Digest(), first.Root.Index(), first.Root.Digest())
			}
		}
	}
}

// breaking is a way to a node that breaks off once so many bytes came back.
type breaking struct {
	net.Listener
	all sync.WaitGroup
}

// breakAfter listens; reached is called when n bytes of a connection's answers
// have been passed on, before it is closed.
func breakAfter(tb testing.TB, to string, n int64, reached func()) *breaking {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &breaking{Listener: l}
	b.all.Go(func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			b.all.Go(func() { pass(from, to, n, reached) })
		}
	})
	tb.Cleanup(func() {
		l.Close()
		b.all.Wait()
	})
	return b
}

func pass(from net.Conn, to string, n int64, reached func()) {
	defer from.Close()
	node, err := net.Dial("tcp", to)
	if err != nil {
		return
	}
	var asking sync.WaitGroup
	asking.Go(func() { _, _ = io.Copy(node, from) }) // it ends with either
	if got, _ := io.CopyN(from, node, n); got == n {
		reached()
	}
	node.Close()
	from.Close()
	asking.Wait()
}

// TestC40BackupThatBreaksOff (rqlite/rqlite#2050; hashicorp/consul#7697): the
// leader is killed while it sends a backup, or the connection is closed. The tool
// says so, and nothing is left under the file's name or beside it.
func TestC40BackupThatBreaksOff(t *testing.T) {
	c := local.Start(t, 3)
	raise(c, moss(40_000), 500)
	leader := c.Leader()
	dir := t.TempDir()
	whole := take(c, filepath.Join(dir, "whole"), c.API(leader))
	if whole.Bytes < 300<<10 {
		t.Fatalf("a backup of %d bytes has one piece alone", whole.Bytes)
	}
	breaksOff := func(what string, reached func()) {
		t.Helper()
		// Behind the first piece, of 256 KiB: before that the tool would try again.
		way := breakAfter(t, c.API(leader), whole.Bytes-1000, reached)
		file := filepath.Join(t.TempDir(), "half")
		r := c.TidemarkAt(ask.Within(t, ask.Patience), way.Addr().String(), "cluster", "backup", file, "--level", "local")
		if r.Code != 2 || r.Out != "" || !strings.Contains(r.Err, "no backup was written") {
			t.Errorf("%s: exit code %d, %s%s", what, r.Code, r.Out, r.Err)
		}
		if list, err := os.ReadDir(filepath.Dir(file)); err != nil || len(list) > 0 {
			t.Errorf("%s: left behind: %v, %v", what, list, err)
		}
	}
	breaksOff("the connection is closed", func() {})
	breaksOff("the leader is killed", sync.OnceFunc(func() { c.Sh("kill", leader) }))
	c.Sh("start", leader)
	c.Sh("ready")
	again := take(c, filepath.Join(dir, "again"), c.API(c.Leader()))
	if content(again) != content(whole) {
		t.Error("the backup after that is another")
	}
}
