//go:build linux

package disks

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// harm is a way to damage a file of n bytes at a place.
type harm struct {
	name string
	do   func(f *os.File, size, at int64) error
}

var harms = []harm{
	{"a flipped bit", func(f *os.File, _, at int64) error {
		b := make([]byte, 1)
		if _, err := f.ReadAt(b, at); err != nil {
			return err
		}
		b[0] ^= 1 << (at % 8)
		_, err := f.WriteAt(b, at)
		return err
	}},
	{"a truncated tail", func(f *os.File, _, at int64) error { return f.Truncate(at) }},
	{"a torn tail", func(f *os.File, size, at int64) error {
		_, err := f.WriteAt(make([]byte, min(4096, size-at)), at) // zeros, the size as it was
		return err
	}},
}

// TestDamagedFiles damages the files of a stopped node, one at one place at a
// time: log and vote (log.db), snapshot, identity. It starts with the state of
// the others, or ends with a code and a sentence that says what to do; with the
// files as they were it starts again.
func TestDamagedFiles(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{Seed: seed})
	l.More(20)
	for _, n := range c.Names() {
		c.TidemarkAt(ask.Within(t, ask.Patience), c.API(n), "cluster", "snapshot").Want(t, 0, "", "")
	}
	l.More(20) // so that the log has what no snapshot has
	l.Stop()
	ask.Same(t, c.Nodes())
	name := c.Others(c.Leader())[0]
	d := c.Disks[name]
	c.Sh("stop", name)
	sound := t.TempDir()
	copyFolder(t, d.Below, sound)
	started, refused := 0, 0
	for i := range effort.Of(12, 300) {
		files, err := d.Files()
		if err != nil {
			t.Fatal(err)
		}
		path := chosen(files, r, i)
		st, err := os.Stat(filepath.Join(d.Below, path))
		if err != nil {
			t.Fatal(err)
		}
		h, at := harms[i%len(harms)], used(t, filepath.Join(d.Below, path), r)
		what := fmt.Sprintf("%s of %s at %d of %d", h.name, path, at, st.Size())
		f, err := os.OpenFile(filepath.Join(d.Below, path), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := h.do(f, st.Size(), at); err != nil {
			t.Fatal(what, err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		before := len(c.Log(name))
		c.Try(name)
		if c.startsRight(t, name, before, what) {
			started++
		} else {
			refused++
		}
		copyFolder(t, sound, d.Below)
	}
	t.Logf("started right %d times, refused %d times", started, refused)
	c.Sh("start", name)
	c.Serves()
	l.Check(c.Nodes())
}

// startsRight tells whether a node serves with the state of the others, or has
// ended as it should; nothing else is right.
func (c *Cluster) startsRight(t *testing.T, name string, before int, what string) bool {
	t.Helper()
	serves, code := false, 0
	ask.Until(t, what+": it serves or ends", func() (ended bool) {
		if code, ended = c.code(name); ended {
			return true
		}
		status, _, err := c.Nodes(name)[0].Page(ask.Within(t, time.Second), "/readyz")
		serves = err == nil && status == 200
		return serves
	})
	if serves {
		ask.Same(t, c.Nodes())
		c.Sh("stop", name)
		return true
	}
	log := c.Log(name)[before:]
	if code != 70 && code != 71 && code != 74 && code != 77 || strings.Contains(log, "goroutine ") || !strings.Contains(log, "the member has ended") {
		t.Errorf("%s: ended with %d; it said:\n%s", what, code, log[:min(len(log), 3000)])
	}
	lines := strings.Split(strings.TrimSpace(log), "\n")
	t.Logf("%s: %d, %s", what, code, lines[len(lines)-1])
	return false
}

// chosen draws a file: the log every other time, else a snapshot's or the identity.
func chosen(files []string, r *rand.Rand, i int) string {
	for {
		f := files[r.IntN(len(files))]
		if i%2 == 0 && !strings.HasSuffix(f, "log.db") {
			continue
		}
		if b := filepath.Base(f); b == "LOCK" || strings.HasPrefix(b, "audit") || (i%2 == 1 && b == "log.db") {
			continue
		}
		return f
	}
}

// used draws a place in a file that is no hole or run of zeros.
func used(t *testing.T, path string, r *rand.Rand) int64 {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for {
		if at := r.IntN(len(b)); b[at] != 0 {
			return int64(at)
		}
	}
}

// copyFolder makes to what from is.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	names, err := os.ReadDir(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := os.RemoveAll(filepath.Join(to, n.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command("cp", "-a", "--sparse=always", from+"/.", to).CombinedOutput(); err != nil {
		t.Fatalf("cp: %v: %s", err, out)
	}
}
