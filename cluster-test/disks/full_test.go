//go:build linux

package disks

import (
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/load"
)

// TestFullDiskOfTheLeader (C35): the file system has no byte left. The leader ends with 75, at
// the next start too, and comes back once there is space.
func TestFullDiskOfTheLeader(t *testing.T) {
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	leader := c.Leader()
	d := c.Disks[leader]
	if err := d.Fill(0); err != nil {
		t.Fatal(err)
	}
	l.LongestGap()
	if code := c.Ended(leader); code != 75 || d.Met().Full == 0 {
		t.Errorf("%s ended with %d; it met %+v", leader, code, d.Met())
	}
	l.More(3)
	if gap := l.LongestGap(); gap > resume {
		t.Errorf("nothing was acknowledged for %v", gap)
	}
	before := len(c.Log(leader))
	c.Try(leader)
	if code, log := c.Ended(leader), c.Log(leader)[before:]; code != 75 || !strings.Contains(log, "free space there, then start the member again") {
		t.Errorf("started on the full disk it ended with %d; it said:\n%s", code, log)
	}
	if err := d.Free(); err != nil {
		t.Fatal(err)
	}
	c.Sh("start", leader)
	c.Serves()
	l.More(2)
	l.Check(c.Nodes())
}
