//go:build linux

package disks

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// The marks of a node's log, and its line of metrics, that tell of low space.
const (
	saysLow    = "less free space than this member may need"
	saysEnough = "enough free space again"
	lowMetric  = "\ntidemark_disk_low "
)

// TestLowSpaceIsTold (C35): before a disk is full its node says so, once, in its log,
// in a metric, in the status of the cluster and as a finding; and once that it is
// over. Nobody ends.
func TestLowSpaceIsTold(t *testing.T) {
	c := Start(t, 3, local.Env("TIDEMARK_SNAPSHOT_LOG_BYTES", "16MiB"))
	l := load.Start(t, c.Client, load.Shape{})
	low := c.Others(c.Leader())[0]
	for round := 1; round <= 2; round++ {
		if err := c.Disks[low].Fill(8 << 20); err != nil {
			t.Fatal(err)
		}
		c.space(low, "1")
		l.More(3)
		if s := c.Healthy(); strings.Count(s.Out, "note: ") != 1 || !strings.Contains(s.Out, "note: member "+low+"/") {
			t.Errorf("the status does not tell of %s alone:\n%s", low, s.Out)
		}
		if s := c.Tidemark("check", "health"); s.Code != 5 || !strings.Contains(s.Out, "FINDING: "+low+"/") || !strings.Contains(s.Out, "until its next snapshot is written") {
			t.Errorf("the health, %d, does not tell of %s:\n%s", s.Code, low, s.Out)
		}
		if err := c.Disks[low].Free(); err != nil {
			t.Fatal(err)
		}
		c.space(low, "0")
		ask.Until(t, low+" writes that there is space", func() bool { return strings.Count(c.Log(low), saysEnough) >= round })
		if log := c.Log(low); strings.Count(log, saysLow) != round || strings.Count(log, saysEnough) != round {
			t.Errorf("in round %d the log says %d times that space is low, and %d times that it is not", round, strings.Count(log, saysLow), strings.Count(log, saysEnough))
		}
	}
	for _, n := range c.Others(low) {
		if strings.Contains(c.Log(n), saysLow) {
			t.Errorf("%s, whose disk has space, says that it has none", n)
		}
	}
	l.Check(c.Nodes())
}

// space waits until a node's metric of low space has this value.
func (c *Cluster) space(name, value string) {
	c.TB.Helper()
	ask.Until(c.TB, name+" tells its space as "+value, func() bool {
		_, page, err := c.Nodes(name)[0].Page(ask.Within(c.TB, ask.Patience), "/metrics")
		return err == nil && strings.Contains(page, lowMetric+value+"\n")
	})
}

// TestSnapshotsOnAFullDisk (C35): a snapshot that does not fit is given up, and
// nothing of it stays to keep the disk full, as often as it is tried. Once there is room one is taken.
func TestSnapshotsOnAFullDisk(t *testing.T) {
	c := Start(t, 3)
	cl := c.Client()
	full := c.Others(c.Leader())[0]
	fillTable(t, cl, 50_000)
	snapshot := func(timeout string) local.Result {
		return c.TidemarkAt(ask.Within(t, ask.Patience), c.API(full), "cluster", "snapshot", "--timeout", timeout)
	}
	if err := c.Disks[full].Fill(256 << 10); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		ask.Until(t, "a snapshot is refused for want of room", func() bool { // its time may be up amid a try
			s := snapshot("2s")
			if s.Code == 0 {
				t.Fatalf("a snapshot was taken on a full disk: %s", s.Out)
			}
			return strings.Contains(s.Err, "no space left on device")
		})
		ask.Until(t, "nothing is left of it", func() bool { return len(unfinished(t, c, full)) == 0 })
	}
	if err := c.Disks[full].Free(); err != nil {
		t.Fatal(err)
	}
	if s := snapshot("20s"); s.Code != 0 {
		t.Errorf("with room again, a snapshot ended with %d: %s", s.Code, s.Err)
	}
}

// fillTable commits n queues.
func fillTable(t *testing.T, cl *client.Client, n int) {
	t.Helper()
	ctx := ask.Within(t, ask.Patience)
	st, err := cl.Status(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	const batch = 10_000
	for topic := range n / batch {
		commits := make([]offset.Commit, batch)
		for q := range commits {
			k := offset.MessageQueue{Topic: fmt.Sprint("t", topic), QueueID: int32(q)}
			commits[q] = offset.Commit{Key: offset.Key{Group: "g", MessageQueue: k}, Offset: int64(q) << 20}
		}
		if _, _, err := cl.Commit(ctx, st.Meta.Cluster, commits); err != nil {
			t.Fatal(err)
		}
	}
}

// unfinished are the files below a node's data folder that are no whole ones.
func unfinished(t *testing.T, c *Cluster, name string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(c.Disks[name].Below, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}
