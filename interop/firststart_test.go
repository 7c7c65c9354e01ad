package interop

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// The file of a broker that has run for long.
const (
	oldGroups = 200
	oldQueues = 128
)

func oldGroup(g int) string    { return fmt.Sprintf("consumers-of-orders-%03d", g) }
func oldOffset(g, q int) int64 { return int64(1_000_000 + 1_000*g + q) }

// lastQueue is the key of a group's last queue.
func lastQueue(g int) offset.Key {
	return offset.Key{Group: oldGroup(g), MessageQueue: offset.MessageQueue{Topic: "orders", Broker: "broker-a", QueueID: oldQueues - 1}}
}

// oldFile is the text of its consumerOffset.json.
func oldFile() string {
	var b strings.Builder
	for g := range oldGroups {
		fmt.Fprintf(&b, `,"orders@%s":{0:%d`, oldGroup(g), oldOffset(g, 0))
		for q := 1; q < oldQueues; q++ {
			fmt.Fprintf(&b, ",%d:%d", q, oldOffset(g, q))
		}
		b.WriteString("}")
	}
	return `{"offsetTable":{` + b.String()[1:] + "}}"
}

// TestFirstStart starts a broker with a file of 200 groups for the first time:
// all of it is there before the first answer, also if a start was cut down half
// way. With the broker's own class it has the same offsets; forward again after
// it ran alone it is refused, then merged as told, and nothing is wound back.
func TestFirstStart(t *testing.T) {
	apart(t)
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	b := s.NewBroker(map[string]string{"tidemarkLostLog": "keep"}) // the file has no log beside it
	writeOffsets(t, b, oldFile())

	b.Launch()
	n := s.Cluster.Nodes()[0]
	ask.Until(t, "something of the file is in the cluster", func() bool { return inClusterNow(t, n, lastQueue(0)) || !b.Running() })
	b.Kill()
	t.Logf("at the kill, %d of %d groups were there", groupsThere(t, n), oldGroups)

	first := make(chan string, 1)
	go func() { first <- firstAnswer(t.Context(), b) }() // read below
	b.Start()
	if got, want := <-first, fmt.Sprintf("code 0, offset %d", oldOffset(oldGroups-1, oldQueues-1)); got != want {
		t.Errorf("the first answer was %s, want %s", got, want)
	}
	if there := groupsThere(t, n); there != oldGroups {
		t.Errorf("after the start, %d of %d groups are there", there, oldGroups)
	}
	wantOld(t, "after the first start", b, nil)
	s.Diff(b, "10s").Want(t, 0, "", "")
	b.Stop()

	ours, jars := b.Class, b.Jars
	b.Class, b.Jars = plainClass, nil
	b.Start()
	wantOld(t, "without the jar", b, nil)
	b.CreateTopic("orders", oldQueues)
	b.CreateGroup(oldGroup(0))
	w := dial(t, b, remoting.JSON)
	w.commit(oldGroup(0), "orders", 0, oldOffset(0, 0)+5)
	w.commit(oldGroup(0), "orders", 1, 3)
	b.Stop()
	b.Class, b.Jars = ours, jars
	wantRefused(t, b, "tidemarkUnmarkedFile=merge")
	b.Config["tidemarkUnmarkedFile"] = "merge"
	b.Start()
	wantOld(t, "after the merge", b, map[int]int64{0: oldOffset(0, 0) + 5})
	s.Diff(b, "10s").Want(t, 0, "", "")
}

// firstAnswer asks for the last offset of the file from before the port is open,
// and gives the first answer.
func firstAnswer(ctx context.Context, b *javaparts.Broker) string {
	for end := time.Now().Add(javaparts.Patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		c, err := remoting.Dial(ctx, b.Addr)
		if err != nil {
			continue
		}
		f, err := c.Call(codeQuery, queueFields(oldGroup(oldGroups-1), "orders", oldQueues-1), nil)
		c.Close()
		if err == nil {
			return fmt.Sprintf("code %d, offset %s", f.Code, f.Ext["offset"])
		}
	}
	return "none"
}

// groupsThere is how many groups of the file are whole in the cluster, by their last queue.
func groupsThere(t *testing.T, n *ask.Node) (there int) {
	t.Helper()
	for g := range oldGroups {
		if inClusterNow(t, n, lastQueue(g)) {
			there++
		}
	}
	return there
}

func inClusterNow(t *testing.T, n *ask.Node, k offset.Key) bool {
	t.Helper()
	states, _, err := n.Fetch(ask.Within(t, ask.Patience), ask.Default, k)
	if err != nil {
		t.Fatal(err)
	}
	return states[0].Exists
}

// wantOld asks the broker for all offsets of the file; those of the first group
// may have been changed.
func wantOld(t *testing.T, when string, b *javaparts.Broker, changed map[int]int64) {
	t.Helper()
	w := dial(t, b, remoting.Binary)
	wrong := 0
	for g := range oldGroups {
		want := make(map[int]int64, oldQueues) // by the opaque of the question
		for q := range oldQueues {
			opaque, err := w.Queue(codeQuery, queueFields(oldGroup(g), "orders", q), nil)
			w.must(err)
			want[opaque] = oldOffset(g, q)
			if n, ok := changed[q]; ok && g == 0 {
				want[opaque] = n
			}
		}
		w.must(w.Flush())
		for range oldQueues {
			f, err := w.Receive()
			w.must(err)
			if w.offsetIn(f) != want[f.Opaque] {
				wrong++
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s %d of %d offsets are not what they were", when, wrong, oldGroups*oldQueues)
	}
}
