//go:build linux

package disks

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/disks/disk"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// resume is within what commits go on at another node after a fault of the
// leader's disk, a hanging one included.
const resume = 15 * time.Second

// TestBrokenDiskOfTheLeader: the leader ends with the cause, closes its ports
// before anything else, another one leads, and it comes back once the disk is
// sound. Nothing that was acknowledged is missing.
func TestBrokenDiskOfTheLeader(t *testing.T) {
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	for _, f := range []struct {
		name string
		b    disk.Behaviour
		code int
		said string
	}{
		{"EIO on write", disk.Behaviour{Write: syscall.EIO}, 74, "I/O error in"},
		{"EIO on fsync", disk.Behaviour{Sync: syscall.EIO}, 74, "I/O error in"},
		{"full at write", disk.Behaviour{Write: syscall.ENOSPC}, 75, "free space there, then start the member again"},
		{"full at fsync", disk.Behaviour{Sync: syscall.ENOSPC}, 75, "free space there, then start the member again"},
		{"hanging", disk.Behaviour{Hang: true}, 76, "no answer from the disk"},
	} {
		t.Run(f.name, func(t *testing.T) {
			leader := c.Leader()
			d := c.Disks[leader]
			l.LongestGap()
			d.Be(f.b)
			c.Deaf(leader) // a hanging disk has not come back yet
			l.More(3)
			gap := l.LongestGap()
			if now := c.Leader(); now == leader || gap > resume {
				t.Errorf("%s leads, after %s; longest gap %v", now, leader, gap)
			}
			met := d.Met()
			d.Be(disk.Behaviour{})
			code := c.Ended(leader)
			if log := c.Log(leader); code != f.code || !strings.Contains(log, f.said) {
				t.Errorf("%s ended with %d, want %d; its log lacks %q:\n%s", leader, code, f.code, f.said, log[max(0, len(log)-2000):])
			}
			t.Logf("%s ended with %d, longest gap %v; it met %+v", leader, code, gap.Round(time.Millisecond), met)
			c.Sh("start", leader)
			c.Serves()
			l.More(2)
		})
	}
	l.Check(c.Nodes())
	ask.Same(t, c.Nodes())
}
