//go:build linux

package disks

import (
	"strings"
	"syscall"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// TestReadErrorAtTheStart: a node that can't read its files ends with a sentence
// and the code of an I/O error, and starts once they can be read.
func TestReadErrorAtTheStart(t *testing.T) {
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(3)
	name := c.Others(c.Leader())[0]
	c.Sh("stop", name)
	d, before := c.Disks[name], len(c.Log(name))
	d.Be(disk.Behaviour{Read: syscall.EIO})
	c.Try(name)
	code, log := c.Ended(name), c.Log(name)[before:]
	if code != 74 || strings.Contains(log, "goroutine ") {
		t.Errorf("%s ended with %d, want 74; it said:\n%s", name, code, log[:min(len(log), 2000)])
	}
	// The small files are read first: fail for the log alone, too.
	before = len(c.Log(name))
	d.Be(disk.Behaviour{Read: syscall.EIO, ReadOf: "log.db"})
	c.Try(name)
	code, log = c.Ended(name), c.Log(name)[before:]
	if code != 74 || strings.Contains(log, "goroutine ") {
		t.Errorf("%s, whose log can't be read, ended with %d, want 74; it said:\n%s", name, code, log[:min(len(log), 2000)])
	}
	d.Be(disk.Behaviour{})
	c.Sh("start", name)
	c.Serves()
	l.More(2)
	l.Check(c.Nodes())
}
