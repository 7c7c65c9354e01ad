package processes

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/offset"
)

// witness is a consumer that runs on while the cluster is lost and rescued.
type witness struct {
	t      *testing.T
	store  *client.RemoteStore
	queue  offset.MessageQueue
	fenced atomic.Int64
}

func (h *hosts) witness(at int64) *witness {
	h.t.Helper()
	w := &witness{t: h.t, queue: offset.MessageQueue{Topic: "t", Broker: "b"}}
	var err error
	w.store, err = client.NewRemoteStore(h.dial(), "witness", client.WithPersistInterval(0), client.WithOnFenced(func(client.Fence) { w.fenced.Add(1) }))
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = w.store.Close(ctx) // what it has left nobody counts on
	})
	if _, err := w.read(); !errors.Is(err, offset.ErrNoOffset) {
		h.t.Fatal(err)
	}
	w.store.UpdateOffset(w.queue, at, true)
	if err := w.persist(); err != nil {
		h.t.Fatal(err)
	}
	return w
}

func (w *witness) read() (int64, error) {
	return w.store.ReadOffset(ask.Within(w.t, ask.Patience), w.queue, client.ReadFromStore)
}

func (w *witness) persist() error {
	return w.store.PersistAll(ask.Within(w.t, ask.Patience), []offset.MessageQueue{w.queue})
}

// TestThePageOnRescue: two of three machines are lost with their disks; who
// follows docs/operations.md line by line has three nodes of a new cluster in the
// end, with all that the third one had. A consumer that ran on is fenced, and told.
func TestThePageOnRescue(t *testing.T) {
	h := newHosts(t)
	h.found()
	l := load.Start(t, h.dial, load.Shape{Consumers: 4, Pace: 5 * time.Millisecond})
	l.More(3)
	w := h.witness(500)
	l.Stop()
	ask.Same(t, h.nodes()) // so that the third machine has what was acknowledged
	status, err := h.nodes()[2].Status(ask.Within(t, ask.Patience))
	if err != nil {
		t.Fatal(err)
	}
	h.lose("n1")
	h.lose("n2")
	w.store.UpdateOffset(w.queue, 900, true)
	h.running["n3"].Kill() // it may have crashed as well

	for _, line := range pageLines(t, "\n## When the majority is lost\n", "\n## ") {
		out := h.follow("n3", line)
		switch executed := strings.Contains(line, "--execute"); {
		case !strings.Contains(line, "cluster rescue"):
		case !strings.Contains(out, "TERM") || !strings.Contains(out, status.Meta.Cluster.String()):
			t.Errorf("%s does not say what is left:\n%s", line, out)
		case executed != exists(h.tidemark("n3")):
			t.Errorf("after %q the new folder is there: %v", line, !executed)
		}
	}
	if err := w.persist(); !errors.Is(err, offset.ErrFenced) {
		t.Errorf("the consumer that ran on persists 900: %v", err)
	}
	ask.Until(t, "it is told", func() bool { return w.fenced.Load() == 1 })
	w.store.RemoveOffset(w.queue)
	if v, err := w.read(); err != nil || v != 500 {
		t.Errorf("it begins anew at %d, %v", v, err)
	}
	w.store.UpdateOffset(w.queue, 501, true)
	if err := w.persist(); err != nil {
		t.Errorf("and goes on: %v", err)
	}
	l.Check(h.nodes())
	again := load.Start(t, h.dial, load.Shape{Consumers: 2, Pace: 5 * time.Millisecond})
	again.More(2)
	h.running["n3"].Kill() // three bear the loss of one
	again.More(3)
	h.start("n3")
	again.Check(h.nodes())
	now, err := h.nodes()[0].Status(ask.Within(t, ask.Patience))
	if err != nil || now.Meta.Cluster == status.Meta.Cluster || now.Meta.Index <= status.Meta.Index || len(now.Members) != 3 {
		t.Errorf("the cluster was %s at index %d, and is %s at %d, %v", status.Meta.Cluster, status.Meta.Index, now.Meta.Cluster, now.Meta.Index, err)
	}
	if !exists(filepath.Join(h.folder("n3"), "new.backup")) {
		t.Error("there is no backup of the new cluster")
	}
}

// TestThePageOnALostDisk: who follows docs/operations.md line by line has the
// node back, as a new member, while consumers commit.
func TestThePageOnALostDisk(t *testing.T) {
	h := newHosts(t)
	h.found()
	l := load.Start(t, h.dial, load.Shape{Consumers: 4, Pace: 5 * time.Millisecond})
	l.More(3)
	h.lose("n2")
	l.More(3)
	if err := os.MkdirAll(h.folder("n2"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range pageLines(t, "\n**A node that has lost its disk**", "\n**A quarantined node**") {
		h.follow("n2", line)
		l.More(1)
	}
	h.running["n1"].Kill()
	l.More(3) // the new member votes, and has all
	h.start("n1")
	l.Check(h.nodes())
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
