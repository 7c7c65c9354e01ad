//go:build linux

package disks

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/internal/planted"
)

// TestLostDataFolder: a node with an empty folder is no member and ends with the
// commands that bring it in as a new one; they do.
func TestLostDataFolder(t *testing.T) {
	c := Start(t, 3)
	l := load.Start(t, c.Client, load.Shape{})
	l.More(5)
	name := c.Others(c.Leader())[0]
	c.Sh("kill", name)
	c.wipe(name)
	c.Try(name)
	c.Ended(name)
	c.replace(name)
	l.More(2)
	l.Check(c.Nodes())
}

// wipe empties the data folder of a node that does not run.
func (c *Cluster) wipe(name string) {
	c.TB.Helper()
	if err := c.Disks[name].Wipe(); err != nil {
		c.TB.Fatal(err)
	}
}

// replace follows docs/operations.md for a node that has lost its disk: remove,
// add by the id that the log names while something starts it again and again,
// promote.
func (c *Cluster) replace(name string) {
	c.TB.Helper()
	c.Tidemark("cluster", "remove", name, "--execute").Want(c.TB, 0, "", "")
	found := regexp.MustCompile(`tidemark cluster add (`+name+`/\w+) (\S+:\d+)`).FindAllStringSubmatch(c.Log(name), -1)
	if len(found) == 0 {
		c.TB.Fatalf("the log of %s has no command to add it:\n%s", name, c.Log(name))
	}
	newest := found[len(found)-1]
	ctx, stop := context.WithCancel(context.Background())
	manager := make(chan struct{})
	go func() { // a service manager; awaited below
		defer close(manager)
		for ctx.Err() == nil {
			c.Try(name)
			for ctx.Err() == nil {
				if _, ended := c.code(name); ended {
					break
				}
				time.Sleep(50 * time.Millisecond) // between two looks
			}
		}
	}()
	defer func() { stop(); <-manager }() // not before it serves: it may have ended as it was added
	c.Tidemark("cluster", "add", newest[1], newest[2], "--execute").Want(c.TB, 0, "", "")
	c.Serves()
	ask.Until(c.TB, name+" is promoted", func() bool {
		return c.Tidemark("cluster", "promote", name, "--execute").Code == 0
	})
}

// TestQuarantineOnProcesses: a follower that applies entries otherwise than the
// others is found at the next checkpoint. It takes no further part, says why, keeps
// its files, stays a member, does not come back by a restart, and does as a new
// member.
func TestQuarantineOnProcesses(t *testing.T) {
	if !effort.Scenarios() {
		t.Skip("takes minutes, until a checkpoint comes: SCENARIOS=1")
	}
	c := Start(t, 3, local.Planted(planted.ApplyByClock), Only("none"))
	c.Mistaken("n3")
	c.Sh("restart", "n3")
	l := load.Start(t, c.Client, load.Shape{Consumers: 12, Queues: 1, Pace: time.Microsecond})
	below := c.Disks["n3"].Below
	for end := time.Now().Add(3 * time.Minute); !exists(filepath.Join(below, "quarantine.json")); {
		if time.Now().After(end) {
			t.Fatal("n3 is not under quarantine within 3 minutes")
		}
		l.More(1) // a checkpoint comes with every 20,000 entries
	}
	saysWhy := func() {
		t.Helper()
		ask.Until(t, "/readyz of n3 says why", func() bool {
			status, text, err := c.Nodes("n3")[0].Page(ask.Within(t, time.Second), "/readyz")
			return err == nil && status != 200 && strings.Contains(text, "differs from the majority's")
		})
	}
	saysWhy()
	if !exists(filepath.Join(below, "raft", "log.db")) {
		t.Error("the log of n3 is gone")
	}
	status, err := c.Nodes(c.Leader())[0].Status(ask.Within(t, ask.Patience))
	if err != nil || len(status.Members) != 3 {
		t.Errorf("members %v, %v", status.Members, err)
	}
	l.More(2)
	c.Sh("restart", "n3")
	saysWhy()
	c.Sh("stop", "n3")
	c.wipe("n3")
	c.Mistaken("none")
	c.Try("n3")
	c.Ended("n3")
	c.replace("n3")
	l.More(2)
	l.Check(c.Nodes())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
