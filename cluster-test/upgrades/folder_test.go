package upgrades

import (
	"archive/tar"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/local"
)

var update = flag.Bool("update", false, "make the data folder of testdata anew, by the present build")

// kept is the data folder of a node of format level 1, as its build left it: a
// snapshot, and entries behind it.
const kept = "testdata/level1.tar.gz"

// TestOldDataFolder starts both builds over a folder that a build of level 1
// wrote: each has all that was in it, and goes on; the next one at level 2, too.
func TestOldDataFolder(t *testing.T) {
	c := local.New(t, 1)
	next := local.Binaries(t, "nextformat")
	data := filepath.Join(t.TempDir(), "data")
	if *update {
		write(t, c, data)
	}
	for _, b := range []struct{ name, programs string }{{"present", c.Bin}, {"next", next}} {
		c.Bin = b.programs
		unpack(t, data)
		d := start(c, data)
		has(c, "billing")
		if b.name == "next" {
			raise(t, c)
		}
		run(c, "commit", "billing", "orders", "0", "1001", "--broker", "a", "--execute")
		run(c, "cluster", "snapshot")
		d.Stop(t)
		d = start(c, data)
		c.Tidemark("get", "billing", "orders", "0", "--broker", "a").Want(t, 0, "1001", "")
		d.Stop(t)
		if err := os.RemoveAll(data); err != nil {
			t.Fatal(err)
		}
	}
}

func start(c *local.Cluster, data string) *local.Daemon {
	d := c.Daemon("--name", "n1", "--data", data, "--listen", c.API("n1"), "--advertise", c.API("n1"),
		"--peer-listen", c.Peer("n1"), "--peer-advertise", c.Peer("n1"), "--initial-cluster", "n1="+c.Peer("n1"))
	c.Client() // waits for a leader
	return d
}

// has demands what write left, whatever else there is.
func has(c *local.Cluster, group string) {
	c.TB.Helper()
	c.Tidemark("get", group, "orders", "0", "--broker", "a").Want(c.TB, 0, "1000", "")
	c.Tidemark("get", group, "orders", "1", "--broker", "a").Want(c.TB, 0, "5", "")
	c.Tidemark("get", "gone").Want(c.TB, 7, "", "")
	c.Tidemark("get", "copy", "orders", "0", "--broker", "a").Want(c.TB, 0, "900", "")
}

func run(c *local.Cluster, args ...string) {
	c.TB.Helper()
	c.Tidemark(args...).Want(c.TB, 0, "", "")
}

// write makes the folder anew.
func write(t *testing.T, c *local.Cluster, data string) {
	t.Helper()
	d := start(c, data)
	run(c, "commit", "billing", "orders", "0", "900", "--broker", "a", "--execute")
	run(c, "commit", "billing", "orders", "1", "50", "--broker", "a", "--execute")
	run(c, "group", "clone", "billing", "copy", "--execute")
	run(c, "group", "clone", "billing", "gone", "--execute")
	run(c, "cluster", "snapshot")
	run(c, "group", "reset", "billing", "--topic", "orders", "--queue", "1", "--to-offset", "5", "--execute")
	run(c, "group", "remove", "gone", "--execute")
	run(c, "commit", "billing", "orders", "0", "1000", "--broker", "a", "--execute")
	d.Stop(t)
	pack(t, data)
	if err := os.RemoveAll(data); err != nil {
		t.Fatal(err)
	}
}

func pack(t *testing.T, data string) {
	t.Helper()
	f, err := os.Create(kept)
	if err != nil {
		t.Fatal(err)
	}
	zip := gzip.NewWriter(f)
	all := tar.NewWriter(zip)
	for _, step := range []func() error{func() error { return all.AddFS(os.DirFS(data)) }, all.Close, zip.Close, f.Close} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
}

func unpack(t *testing.T, data string) {
	t.Helper()
	f, err := os.Open(kept)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for all := tar.NewReader(zip); ; {
		h, err := all.Next()
		if err == io.EOF {
			return
		}
		if err == nil && h.Typeflag == tar.TypeReg {
			err = put(filepath.Join(data, filepath.FromSlash(h.Name)), all)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func put(path string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	content, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o600)
}
