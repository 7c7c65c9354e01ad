package backup

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestC41 (etcd-io/etcd#6361, #9096): a restore goes back, and everybody sees
// that: all nodes, the one that was down meanwhile too, and the consumer that
// holds more in memory, which is fenced, is told, and does not bring it back.
func TestC41(t *testing.T) {
	c := local.Start(t, 3)
	k := offset.Key{Group: "moss", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b"}}
	var told, idle atomic.Int64
	store := open(t, c, k.Group, &told, client.WithPersistInterval(0))
	persist := func(value int64) error {
		store.UpdateOffset(k.MessageQueue, value, true)
		return store.PersistAll(ask.Within(t, ask.Patience), []offset.MessageQueue{k.MessageQueue})
	}
	if _, err := store.ReadOffset(ask.Within(t, ask.Patience), k.MessageQueue, client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
		t.Fatal(err)
	}
	if err := persist(500); err != nil {
		t.Fatal(err)
	}
	raise(c, moss(3), 7) // in all backups, and not moved
	file := filepath.Join(t.TempDir(), "all.backup")
	saved := take(c, file, c.API("n2"))
	if err := persist(900); err != nil {
		t.Fatal(err)
	}
	resting := open(t, c, k.Group, &idle)
	if v, err := resting.ReadOffset(ask.Within(t, ask.Patience), k.MessageQueue, client.ReadFromStore); err != nil || v != 900 {
		t.Fatal(v, err)
	}
	before, err := c.Nodes(c.Leader())[0].Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	late := c.Others(c.Leader())[0]
	c.Sh("stop", late)

	c.Tidemark("cluster", "restore", file, "--execute").Want(t, 0, "1 lowered, 0 raised, 0 new, 3 the same", "")
	for _, n := range c.Nodes(c.Others(late)...) {
		n.MustRead(t, ask.Default, k, 500)
	}
	c.Sh("start", late)
	c.Sh("ready")
	c.Nodes(late)[0].MustRead(t, ask.Default, k, 500)
	c.Nodes(late)[0].MustRead(t, ask.Local, k, 500)

	if err := persist(901); !errors.Is(err, offset.ErrFenced) {
		t.Errorf("the consumer persists, one message further: %v", err)
	}
	ask.Until(t, "the consumer is told", func() bool { return told.Load() == 1 })
	ask.Until(t, "one that commits nothing is told", func() bool { return idle.Load() == 1 })
	for _, n := range c.Nodes() {
		n.MustRead(t, ask.Default, k, 500)
	}
	index := ask.Same(t, c.Nodes())
	after, err := c.Nodes(c.Leader())[0].Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	if index <= before.Meta.Index || after.Meta.Cluster != before.Meta.Cluster || len(after.Members) != 3 {
		t.Errorf("index %d of %s with %d members; before the restore %d of %s with 3", index, after.Meta.Cluster, len(after.Members), before.Meta.Index, before.Meta.Cluster)
	}
	for _, n := range c.Names() {
		audited(t, filepath.Join(c.Run, n, "data", "audit.log"), saved.ID.String())
	}
}

// open makes a store whose fences are counted, closed with the test.
func open(t *testing.T, c *local.Cluster, group string, told *atomic.Int64, opts ...client.StoreOption) *client.RemoteStore {
	t.Helper()
	s, err := client.NewRemoteStore(c.Client(), group, append(opts, client.WithOnFenced(func(client.Fence) { told.Add(1) }))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = s.Close(ctx) // nobody counts on what it has left
	})
	return s
}

// audited demands the one line that says what a restore put in place: who, when,
// of which backup, how many offsets came, were there, and moved back. A node writes
// it in its own time.
func audited(t *testing.T, path, id string) {
	t.Helper()
	var list []auditLine
	ask.Until(t, path+" says that backup "+id+" was put in place", func() bool {
		list = putInPlace(t, path, id)
		return len(list) > 0
	})
	if l := list[0]; len(list) > 1 || l.Principal == "" || l.From == "" || l.Time == "" || l.Result != "ok" || l.Total != 4 || l.Replaced != 4 || l.Lowered != 1 {
		t.Errorf("%s says %+v", path, list)
	}
}

type auditLine struct {
	What, Detail, Principal, From, Time, Result string
	Total, Replaced, Lowered                    uint64
}

// putInPlace are the lines of an audit log that say that a backup was put in place.
func putInPlace(t *testing.T, path, id string) (list []auditLine) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var l auditLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%s: %v: %s", path, err, line)
		}
		if l.What == "import" && strings.Contains(l.Detail, id) && l.Replaced > 0 {
			list = append(list, l)
		}
	}
	return list
}
