package node_test

import (
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
)

// TestAMemberKeepsItsLogStore: a member whose log is in segments keeps offsets
// over restarts, and does not start with the other log store.
func TestAMemberKeepsItsLogStore(t *testing.T) {
	c := incluster.New(t, 1)
	m := c.Members[0]
	m.Config.LogStore = store.LogWAL
	m.Start()
	c.WaitReady(m)
	k := incluster.Key("g", 1)
	m.MustCommit(k, 7)
	if err := m.Stop(); err != nil {
		t.Fatalf("its end: %v", err)
	}
	m.Config.LogStore = store.LogBoltDB
	m.Start()
	if err := m.Wait(); node.ExitCode(err) != node.ExitConfig || !strings.Contains(err.Error(), "--log-store=wal") {
		t.Errorf("with the other log store it ends with %v", err)
	}
	m.Config.LogStore = store.LogWAL
	m.Start()
	c.WaitReady(m)
	m.MustRead(k, linearizable, 7)
}
