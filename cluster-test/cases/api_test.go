package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// store makes a RemoteStore that persists only when told to.
func store(t *testing.T, c *client.Client, group string, opts ...client.StoreOption) *client.RemoteStore {
	t.Helper()
	s, err := client.NewRemoteStore(c, group, append([]client.StoreOption{client.WithPersistInterval(0)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

// TestC12: two brokers that both own queue 1 keep an offset each, and no file
// mixes them.
func TestC12(t *testing.T) {
	c := local.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	brokers := map[string]int64{"bk-north": 100, "bk-south": 7}
	mq := func(b string) offset.MessageQueue {
		return offset.MessageQueue{Topic: "moss", Broker: b, QueueID: 1}
	}
	s := store(t, c.Client(), "moss-readers")
	for b, value := range brokers {
		if _, err := s.ReadOffset(ctx, mq(b), client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
			t.Fatalf("first read: %v", err)
		}
		s.UpdateOffset(mq(b), value, true)
	}
	if err := s.PersistAll(ctx, []offset.MessageQueue{mq("bk-north"), mq("bk-south")}); err != nil {
		t.Fatal(err)
	}
	again := store(t, c.Client(), "moss-readers")
	for b, value := range brokers {
		if v, err := again.ReadOffset(ctx, mq(b), client.ReadFromStore); err != nil || v != value {
			t.Errorf("%s reads %d, %v; want %d", b, v, err, value)
		}
		for _, n := range c.Nodes() {
			n.MustRead(t, ask.Default, offset.Key{Group: "moss-readers", MessageQueue: mq(b)}, value)
		}
	}
	for _, n := range c.Nodes() { // the empty broker is a name of its own
		n.MustRead(t, ask.Default, key("moss-readers", "moss", "", 1), -1)
	}
	path := filepath.Join(t.TempDir(), "out")
	c.Tidemark("export", path).Want(t, badInput, "", `"bk-north" and "bk-south"`)
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Error("a refused export left a file")
	}
	for b, value := range brokers {
		c.Tidemark("export", "--broker", b).Want(t, 0, fmt.Sprintf(`"moss@moss-readers":{"1":%d}`, value), "1 offset")
	}
}

// TestC17: what a commit may carry, and what lowers.
func TestC17(t *testing.T) {
	c := local.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	cl := c.Client()
	k := key("g", "t", "b", 0)
	states, meta, err := cl.Fetch(ctx, ask.Default, k)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(value int64) int64 {
		t.Helper()
		v, _, err := cl.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: value, Epoch: states[0].Epoch}})
		if err != nil {
			t.Fatal(err)
		}
		return v[0].State.Position.Offset
	}
	if got := commit(100); got != 100 {
		t.Errorf("a commit of 100 gives %d", got)
	}
	if got := commit(90); got != 100 {
		t.Errorf("a commit of 90 after 100 gives %d; a commit never lowers", got)
	}
	v, _, err := cl.Set(ctx, offset.Set{Key: k, Offset: 90, Cluster: meta.Cluster, Epoch: states[0].Epoch, Exists: true, Replaces: 100})
	if err != nil || v.State.Position.Offset != 90 || v.State.Position.Pending {
		t.Errorf("a deliberate lowering: %+v, %v", v, err)
	}
	if _, _, err := cl.Commit(ctx, meta.Cluster, []offset.Commit{{Key: k, Offset: 101, Epoch: states[0].Epoch}}); !errors.Is(err, offset.ErrFenced) {
		t.Errorf("a commit under the epoch before: %v", err)
	}
	for _, n := range c.Nodes() {
		n.MustRead(t, ask.Default, k, 90)
		audited(t, c, n.Name, `"before"`, "100", "90")
	}
	t.Run("numbers", func(t *testing.T) { c17Numbers(t, c, meta.Cluster) })
}

// audited waits until a node's audit log has a line with these texts.
func audited(t *testing.T, c *local.Cluster, name string, texts ...string) {
	t.Helper()
	path := filepath.Join(c.Run, name, "data", "audit.log")
	ask.Until(t, name+" has noted the act", func() bool {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			all := true
			for _, x := range texts {
				all = all && strings.Contains(line, x)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// c17Numbers sends numbers as curl does.
func c17Numbers(t *testing.T, c *local.Cluster, id offset.ClusterID) {
	node := c.Nodes()[1]
	for _, x := range []struct {
		queue, value string
		status       int
	}{
		{"1", `"-1"`, 400}, {"1", `"-898232391123"`, 400}, {"-1", `"5"`, 400},
		{"1", `"9223372036854775808"`, 400}, {"1", `1.5`, 400}, {"2147483648", `"1"`, 400},
		{"1", `"9223372036854775807"`, 200},
	} {
		body := fmt.Sprintf(`{"clusterId":"%s","commits":[{"group":"g","topic":"numbers","queueIds":[%s],"offsets":[%s],"epochs":["0"]}]}`, id, x.queue, x.value)
		status, answer, err := node.Post(ask.Within(t, ask.Patience), "OffsetService/Commit", body)
		if err != nil || status != x.status {
			t.Errorf("queue %s, offset %s: HTTP %d, %v, %v; want %d", x.queue, x.value, status, answer, err, x.status)
		}
	}
	for _, n := range c.Nodes() {
		status, answer, err := n.Post(ask.Within(t, ask.Patience), "OffsetService/Fetch", `{"keys":[{"group":"g","topic":"numbers","queueId":1}]}`)
		if text := fmt.Sprint(answer); err != nil || status != 200 || !strings.Contains(text, "offset:9223372036854775807") {
			t.Errorf("%s gives curl %d %s, %v", n.Name, status, text, err)
		}
	}
	page := c.Tidemark("get", "g", "numbers", "-o", "json").Want(t, 0, `"9223372036854775807"`, "")
	if strings.Contains(page.Out, `"-`) {
		t.Errorf("something negative is stored: %s", page.Out)
	}
}

// TestAQueueOverALimitHoldsUpNoOther: a topic grows by a queue in a group that may
// not have more. Its other queues are persisted all the same.
func TestAQueueOverALimitHoldsUpNoOther(t *testing.T) {
	c := local.Start(t, 1, local.Env("TIDEMARK_LIMIT_PREFIX", "moss=3"))
	ctx := ask.Within(t, ask.Patience)
	s := store(t, c.Client(), "moss-readers")
	var all []offset.MessageQueue
	for id := range int32(4) {
		all = append(all, offset.MessageQueue{Topic: "moss", Broker: "bk", QueueID: id})
		if _, err := s.ReadOffset(ctx, all[id], client.ReadFromStore); !errors.Is(err, offset.ErrNoOffset) {
			t.Fatal(err)
		}
	}
	for n := range int64(3) {
		for _, q := range all {
			s.UpdateOffset(q, n, true)
		}
		err := s.PersistAll(ctx, all)
		p := (*client.PersistError)(nil)
		if !errors.As(err, &p) || len(p.Queues) != 1 || p.Queues[0].Queue != all[3] || !errors.Is(err, offset.ErrLimit) {
			t.Fatalf("run %d: %v", n, err)
		}
		for id := range int32(3) {
			c.Nodes()[0].MustRead(t, ask.Default, key("moss-readers", "moss", "bk", id), n)
		}
	}
	c.Nodes()[0].MustRead(t, ask.Default, key("moss-readers", "moss", "bk", 3), -1)
}
