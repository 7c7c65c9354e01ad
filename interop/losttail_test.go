package interop

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
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

// TestLostTail kills a broker and its consumers, puts back its store as it was
// some messages before, and sends as many new ones: consumers that start then
// get all of them, since the broker's start has lowered their offsets to where
// the queues end. Where it is told to leave them, they are skipped. A start on
// an empty store is refused.
func TestLostTail(t *testing.T) {
	apart(t)
	lost := effort.Of(200, 1_000)
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	for _, lostLog := range effort.Of([]string{"lower"}, []string{"keep", "lower"}) {
		b := s.Broker(with("brokerName", lostLog, "tidemarkLostLog", lostLog))
		x := &resetTrial{TB: t, s: s, b: b, kind: fleet.Push, topic: "t-" + lostLog, group: "g-" + lostLog}
		b.CreateTopic(x.topic, resetQueues)
		b.CreateGroup(x.group)
		skipped := x.loseTail(50, lost)
		t.Logf("offsets beyond the log, %s: %d of %d new messages skipped", lostLog, skipped, lost*resetQueues)
		if (skipped > 0) != (lostLog == "keep") {
			t.Errorf("offsets beyond the log, %s: %d messages were skipped", lostLog, skipped)
		}
		b.Kill()
		if lostLog == "lower" {
			refusedWhenEmpty(t, b)
		}
	}
}

// loseTail has some messages of each queue consumed, and n more that are lost
// with the end of the log, and sends n new ones in their place: how many of
// those did not come.
func (x *resetTrial) loseTail(kept, n int) (skipped int) {
	x.Helper()
	x.send(kept)
	x.b.Stop()
	copied := filepath.Join(x.TempDir(), "copy")
	x.b.CopyStore(copied)
	x.b.Start()
	x.send(n)
	f := fleet.Start(x, fleet.Java5, x.s.Names.Addr)
	x.consumed = f.Consume(fleet.Push, x.group, x.topic, 1)
	x.awaitStored()
	x.b.Kill()
	f.Kill()
	x.b.ReplaceStore(copied)
	x.b.Start()
	first := x.number
	x.send(n)
	f = fleet.Start(x, fleet.Java5, x.s.Names.Addr)
	x.consumed = f.Consume(fleet.Push, x.group, x.topic, 1)
	x.send(1) // comes in any case: all before it has come, or will not
	x.sent -= n
	x.await("consumers go on", func() error { return x.deliveredFrom(0, int64(x.sent-1)) })
	x.awaitStored()
	came := make(map[int]bool)
	for _, m := range x.consumed.All() {
		came[m.Number] = true
	}
	for i := first; i < x.number; i++ {
		if !came[i] {
			skipped++
		}
	}
	return skipped
}

// refusedWhenEmpty starts a broker on an empty store: it belongs to nobody, and
// if it is told to take the name all the same, the offsets belong to another disk.
func refusedWhenEmpty(t *testing.T, b *javaparts.Broker) {
	t.Helper()
	b.Config["tidemarkLostLog"] = "end"
	for _, want := range []struct{ other, sentence string }{
		{"end", "belongs to"},
		{"replace", "The message store is empty, but "},
	} {
		b.Config["tidemarkOtherHolder"] = want.other
		b.ReplaceStore(t.TempDir())
		code, said := b.Refused()
		if code != 253 || !strings.Contains(said, want.sentence) {
			t.Errorf("a start on an empty store, another holder %s, ended with %d: %s", want.other, code, tail(said))
		}
	}
}

// TestALaggingSlaveLowersNothing starts a slave beside its live master, from
// which it cannot get the messages that it lacks: the offsets beyond its log's
// end stay as they are.
func TestALaggingSlaveLowersNothing(t *testing.T) {
	apart(t)
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	master := s.Broker(with("brokerRole", "ASYNC_MASTER"))
	slave := s.Broker(with("brokerRole", "SLAVE", "brokerId", "1"))
	x := &resetTrial{TB: t, s: s, b: master, kind: fleet.Push, topic: "t", group: "g"}
	for _, b := range []*javaparts.Broker{master, slave} {
		b.CreateTopic(x.topic, resetQueues)
		b.CreateGroup(x.group)
	}
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	x.consumed = f.Consume(fleet.Push, x.group, x.topic, 1)
	x.send(50)
	x.awaitStored()
	slave.Stop()
	x.send(effort.Of(200, 1_000))
	x.awaitStored()
	before, err := x.stored(0)
	if err != nil {
		t.Fatal(err)
	}

	slave.Config["haMasterAddress"] = "127.0.0.1:1" // nobody
	slave.Start()
	w := dial(t, slave, remoting.JSON)
	if end := w.offsetIn(w.ask(codeMaxOffset, map[string]string{"topic": x.topic, "queueId": "0"}, nil)); end >= int64(x.sent) {
		t.Fatalf("the slave has all %d messages: it does not lag", end)
	}
	if got := w.query(x.group, x.topic, 0); got != int64(x.sent) {
		t.Errorf("the slave answers %d, want %d", got, x.sent)
	}
	if after, err := x.stored(0); err != nil || after != before {
		t.Errorf("beside a slave that lags %+v became %+v, %v", before, after, err)
	}
	s.Diff(master, "30s").Want(t, 0, "", "")
}

// TestPoppedMessagesRestOnTheLog pops messages, acknowledges none, and loses
// the end of the log, which POP's checkpoints are in: nothing of it had been
// flushed, so the offset behind the messages had not been sent, and all are
// delivered again. Where the flush is believed that did not last, none is.
func TestPoppedMessagesRestOnTheLog(t *testing.T) {
	apart(t)
	const popped = 200
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	never := []string{"flushIntervalCommitLog", "3600000", "flushCommitLogThoroughInterval", "3600000", "tidemarkLostLog", "lower"}
	for _, flush := range effort.Of([]string{"false"}, []string{"false", "true"}) {
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

// popAll pops until n different messages came, or none for some seconds; none is
// acknowledged, nor visible again before the test is over.
func popAll(tb testing.TB, b *javaparts.Broker, n int) int {
	tb.Helper()
	w := dial(tb, b, remoting.JSON)
	came := make(map[string]bool)
	idle := time.Now().Add(10 * time.Second)
	for len(came) < n && time.Now().Before(idle) {
		f := w.ask(codePop, map[string]string{
			"consumerGroup": "g", "topic": "t", "queueId": "0", "maxMsgNums": "32", "invisibleTime": "3600000",
			"pollTime": "1000", "bornTime": strconv.FormatInt(time.Now().UnixMilli(), 10), "initMode": "0", "expType": "TAG", "exp": "*",
		}, nil)
		if f.Code != answerOK {
			continue
		}
		for part := range strings.SplitSeq(f.Ext["msgOffsetInfo"], ";") { // "0 queue offset,offset,..."
			words := strings.Fields(part)
			for _, o := range strings.Split(words[len(words)-1], ",") {
				came[o] = true
			}
		}
		idle = time.Now().Add(10 * time.Second)
	}
	return len(came)
}

// awaitPopped waits until the broker has the offset behind all that was popped,
// and the cluster too if it should. If it should not, the cluster is watched for
// longer than a broker that makes the mistake takes to send it.
func awaitPopped(tb testing.TB, s *stand.Stand, b *javaparts.Broker, n int64, stored bool) {
	tb.Helper()
	w := dial(tb, b, remoting.JSON)
	ask.Until(tb, "the broker is behind what was popped", func() bool { return w.query("g", "t", 0) == n })
	if stored {
		ask.Until(tb, "the cluster has it", func() bool { return stands(tb, s, b.Name) == n })
		return
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if at := stands(tb, s, b.Name); at == n {
			tb.Fatalf("the cluster has offset %d of group g, and what it rests on is not on the disk", at)
		}
	}
}

// stands is where the cluster has the queue that is popped.
func stands(tb testing.TB, s *stand.Stand, broker string) int64 {
	tb.Helper()
	key := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: broker}}
	states, _, err := s.Cluster.Client().Fetch(tb.Context(), offset.ReadAt{}, key)
	if err != nil {
		tb.Fatal(err)
	}
	return states[0].Position.Offset
}
