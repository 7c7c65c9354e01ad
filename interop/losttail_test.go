package interop

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// with lays settings over those of a patient broker.
func with(settings ...string) map[string]string {
	all := make(map[string]string)
	for k, v := range patient {
		all[k] = v
	}
	for i := 0; i < len(settings); i += 2 {
		all[settings[i]] = settings[i+1]
	}
	return all
}

// TestLostTail kills a broker, puts back its store as it was some messages
// before, and sends as many new ones: a live consumer gets all of them, since
// the start has lowered its offsets to where the queues end. Where the start is
// told to leave them, it skips them. A start on an empty store is refused.
func TestLostTail(t *testing.T) {
	lost := effort.Of(200, 1_000)
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	var list []*resetTrial
	for _, lostLog := range []string{"lower", "keep"} {
		b := s.Broker(with("brokerName", lostLog, "tidemarkLostLog", lostLog))
		x := &resetTrial{TB: t, s: s, b: b, kind: fleet.Push, topic: "t-" + lostLog, group: "g-" + lostLog}
		b.CreateTopic(x.topic, resetQueues)
		b.CreateGroup(x.group)
		x.consumed = f.Consume(fleet.Push, x.group, x.topic, 1)
		x.send(50)
		list = append(list, x)
	}
	for _, x := range list {
		x.awaitStored()
		x.b.Stop()
	}
	skipped := make(map[string]int)
	for _, x := range list {
		skipped[x.b.Name] = x.loseTail(lost)
		t.Logf("offsets beyond the log: %s: %d of %d new messages skipped", x.b.Name, skipped[x.b.Name], lost*resetQueues)
	}
	if skipped["lower"] != 0 {
		t.Errorf("%d messages were skipped", skipped["lower"])
	}
	if skipped["keep"] == 0 {
		t.Error("nothing would have been skipped without the check")
	}
	x := list[0]
	x.b.Kill()
	x.b.Config["tidemarkLostLog"] = "end"
	x.emptyStore()
	code, said := x.b.Refused()
	if code != 253 || !strings.Contains(said, "The message store is empty, but ") {
		t.Errorf("a start on an empty store ended with %d: %s", code, tail(said))
	}
}

// loseTail has n messages of each queue come and be consumed, loses them with
// the end of the log, and sends n new ones in their place: how many of those
// did not come.
func (x *resetTrial) loseTail(n int) (skipped int) {
	x.Helper()
	copied := filepath.Join(x.TempDir(), "copy")
	x.b.CopyStore(copied)
	x.b.Start()
	at := x.sent
	x.send(n)
	x.awaitStored()
	x.b.Kill()
	x.b.ReplaceStore(copied)
	x.b.Start()
	seen := x.consumed.Len()
	x.sent = at
	x.send(n)
	first := x.number - n*resetQueues
	missing := func() int {
		came := make(map[int]bool)
		for _, m := range x.consumed.All()[seen:] {
			came[m.Number] = true
		}
		gone := 0
		for i := first; i < x.number; i++ {
			if !came[i] {
				gone++
			}
		}
		return gone
	}
	// Whoever skips goes on at the end: one more message shows that it is there.
	deadline := time.Now().Add(effort.Of(45*time.Second, 2*time.Minute))
	for time.Now().Before(deadline) && missing() > 0 {
		time.Sleep(200 * time.Millisecond)
	}
	return missing()
}

// emptyStore puts an empty folder in the store's place.
func (x *resetTrial) emptyStore() {
	x.Helper()
	x.b.ReplaceStore(x.TempDir())
}

// TestPoppedMessagesRestOnTheLog pops messages, acknowledges none, and loses
// the end of the log, which POP's checkpoints are in: nothing of it had been
// flushed, so the offset behind the messages had not been sent, and all are
// delivered again. Where the flush is believed that did not last, none is.
func TestPoppedMessagesRestOnTheLog(t *testing.T) {
	const popped = 200
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	never := []string{"flushIntervalCommitLog", "3600000", "flushCommitLogThoroughInterval", "3600000", "tidemarkLostLog", "lower"}
	for _, flush := range []string{"false", "true"} {
		b := s.Broker(with(append(never, "brokerName", "flush-"+flush, "tidemarkFlush", flush)...))
		b.CreateTopic("t", 1)
		b.CreateGroup("g")
		for i := range popped {
			b.Send("t", 0, fmt.Appendf(nil, "%d pop", i))
		}
		b.Stop()
		copied := filepath.Join(t.TempDir(), "copy")
		b.CopyStore(copied)
		b.Start()
		if n := popAll(t, b, popped); n != popped {
			t.Fatalf("%d of %d messages were popped", n, popped)
		}
		awaitPopped(t, s, b, popped, flush == "true")
		b.Kill()
		b.ReplaceStore(copied)
		b.Start()
		again := popAll(t, b, popped)
		t.Logf("log flushed by us %s: %d of %d delivered again", flush, again, popped)
		if want := map[string]int{"false": popped, "true": 0}[flush]; again != want {
			t.Errorf("log flushed by us %s: %d were delivered again, not %d", flush, again, want)
		}
		b.Kill()
	}
}

// popAll pops until n messages came, or none for some seconds; none is
// acknowledged, nor visible again before the test is over.
func popAll(tb testing.TB, b *javaparts.Broker, n int) (got int) {
	tb.Helper()
	w := dial(tb, b, remoting.JSON)
	idle := time.Now().Add(10 * time.Second)
	for got < n && time.Now().Before(idle) {
		f := w.ask(codePop, map[string]string{
			"consumerGroup": "g", "topic": "t", "queueId": "0", "maxMsgNums": "32", "invisibleTime": "3600000",
			"pollTime": "1000", "bornTime": strconv.FormatInt(time.Now().UnixMilli(), 10), "initMode": "0", "expType": "TAG", "exp": "*",
		}, nil)
		if f.Code != answerOK {
			continue
		}
		for _, part := range strings.Split(f.Ext["msgOffsetInfo"], ";") {
			got += strings.Count(part, ",") + 1 // "0 queue offset,offset,..."
			idle = time.Now().Add(10 * time.Second)
		}
	}
	return got
}

// awaitPopped waits until the broker has the offset behind all that was popped,
// and the cluster too if it should.
func awaitPopped(tb testing.TB, s *stand.Stand, b *javaparts.Broker, n int64, stored bool) {
	tb.Helper()
	w := dial(tb, b, remoting.JSON)
	key := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: b.Name}}
	var broker, cluster int64
	for end := time.Now().Add(javaparts.Patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		states, _, err := s.Cluster.Client().Fetch(tb.Context(), offset.ReadAt{}, key)
		if err != nil {
			tb.Fatal(err)
		}
		broker, cluster = w.query("g", "t", 0), states[0].Position.Offset
		if broker == n && (cluster == n || !stored) {
			break
		}
	}
	if broker != n || (cluster == n) != stored {
		tb.Fatalf("after popping %d messages the broker is at %d, the cluster at %d; is it meant to have it: %v", n, broker, cluster, stored)
	}
}
