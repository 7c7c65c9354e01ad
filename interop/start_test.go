package interop

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

const plainClass = "org.apache.rocketmq.broker.BrokerStartup"

// TestOffsetsOutliveTheBroker starts each version with our jar: what was
// acknowledged is there after kill -9 and after a clean stop, and back with the
// broker's own class. A broker that ran alone is merged only when told to.
func TestOffsetsOutliveTheBroker(t *testing.T) {
	for _, v := range []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ4, javaparts.RocketMQ53} {
		if v == javaparts.RocketMQ53 && !effort.Scenarios() {
			continue
		}
		t.Run(string(v), func(t *testing.T) { outlives(t, stand.New(t, v, stand.Tidemark)) })
	}
}

func outlives(t *testing.T, s *stand.Stand) {
	b := s.Broker(nil)
	b.CreateTopic("load", 4)
	b.CreateGroup("g")
	fill(b, 4, 30)
	w := dial(t, b, remoting.JSON)
	for q := range 4 {
		if code := w.commit("g", "load", q, int64(10+q)); code != answerOK {
			t.Fatalf("the commit of queue %d was answered by code %d", q, code)
		}
	}
	wantOffsets(t, "before the kill", b, 10, 11, 12, 13)
	s.Diff(b, "10s").Want(t, 0, "", "")
	state := b.Runtime()
	for name, want := range map[string]string{
		"tidemarkKeys": "4", "tidemarkRole": "MASTER", "tidemarkClusterReachable": "true", "tidemarkMarked": "0",
	} {
		if state[name] != want {
			t.Errorf("brokerStatus has %s=%s, want %s", name, state[name], want)
		}
	}

	b.Kill()
	b.Start()
	wantOffsets(t, "after kill -9", b, 10, 11, 12, 13)
	w = dial(t, b, remoting.Binary)
	w.must(w.QueueOneWay(codeUpdate, commitFields("g", "load", 0, 20), nil))
	w.must(w.Flush())
	if got := w.query("g", "load", 0); got != 20 {
		t.Errorf("a query behind a one-way commit of 20 was answered by %d", got)
	}
	b.Stop()
	if !strings.Contains(b.Log(), "Tidemark: ended; 0 offsets are in the file that the cluster does not have") {
		t.Errorf("the end of the broker did not say that all is in the cluster: %s", tail(b.Log()))
	}
	if text := offsetsFile(t, b); !strings.Contains(text, `"tidemark":`) {
		t.Errorf("the broker's file has no mark: %s", text)
	}

	if effort.Soak() || effort.Scenarios() && s.Version == javaparts.RocketMQ5 {
		backAndForth(t, s, b)
	}
}

// backAndForth takes the jar out, lets the broker run, and puts it in again.
func backAndForth(t *testing.T, s *stand.Stand, b *javaparts.Broker) {
	ours, jars := b.Class, b.Jars
	b.Class, b.Jars = plainClass, nil
	b.Start()
	wantOffsets(t, "without the jar", b, 20, 11, 12, 13)
	alone := dial(t, b, remoting.JSON)
	alone.commit("g", "load", 1, 30)
	alone.commit("g", "load", 2, 5)
	b.Stop()
	b.Class, b.Jars = ours, jars
	wantRefused(t, b, "tidemarkUnmarkedFile=merge")
	b.Config["tidemarkUnmarkedFile"] = "merge"
	b.Config["tidemarkGuard"] = "true"
	b.Start()
	wantOffsets(t, "after the merge", b, 20, 30, 12, 13)

	w := dial(t, b, remoting.JSON)
	w.must(w.QueueOneWay(codeUpdate, commitFields("g", "load", 0, 3), nil))
	w.must(w.Flush())
	wantOffsets(t, "after a guarded commit", b, 20)
	if code := w.commit("g", "load", 0, 4); code != answerOK {
		t.Errorf("lowering an offset by a two-way commit was answered by code %d", code)
	}
	wantOffsets(t, "after one that somebody waited for", b, 4)

	pull := queueFields("g", "load", 1) // beyond the end, so that the broker corrects it
	for name, value := range map[string]string{
		"queueOffset": "100", "commitOffset": "0", "maxMsgNums": "1", "sysFlag": "4", "subscription": "*",
		"subVersion": "0", "suspendTimeoutMillis": "0", "expressionType": "TAG",
	} {
		pull[name] = value
	}
	if f := w.ask(codePull, pull, nil); f.Code != 21 {
		t.Errorf("a pull beyond the end was answered by code %d %q, want 21", f.Code, f.Remark)
	}
	w.must(w.QueueOneWay(codeUpdate, commitFields("g", "load", 1, 29), nil))
	if got := w.query("g", "load", 1); got != 29 {
		t.Errorf("a consumer that was corrected has lowered its offset to %d, want 29", got)
	}
	if state := b.Runtime(); state["tidemarkGuarded"] != "1" {
		t.Errorf("brokerStatus has tidemarkGuarded=%s, want 1", state["tidemarkGuarded"])
	}
	s.Diff(b, "10s").Want(t, 0, "", "")
}

// fill sends n messages to each of the first queues of topic load: an offset
// beyond the end of its queue is lowered at the next start.
func fill(b *javaparts.Broker, queues, n int) {
	for q := range queues {
		for range n {
			b.Send("load", q, []byte("m"))
		}
	}
}

// wantOffsets asks for the offsets of group g on queues 0 and up of topic load.
func wantOffsets(t *testing.T, when string, b *javaparts.Broker, want ...int64) {
	t.Helper()
	w := dial(t, b, remoting.JSON)
	for q, n := range want {
		if got := w.query("g", "load", q); got != n {
			t.Errorf("%s queue %d is at %d, want %d", when, q, got, n)
		}
	}
}

func offsetsFile(t *testing.T, b *javaparts.Broker) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.Store, "config", "consumerOffset.json"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// wantRefused starts a broker that must end by itself, with a sentence in its
// log that has each of these parts.
func wantRefused(t *testing.T, b *javaparts.Broker, parts ...string) {
	t.Helper()
	code, _ := b.Refused()
	var said string
	for line := range strings.Lines(b.Log()) {
		if _, after, ok := strings.Cut(line, "Tidemark: the start ends: "); ok {
			said = after
		}
	}
	if code != 253 || said == "" {
		t.Errorf("the start ended with code %d, want 253 and a sentence: %s", code, tail(b.Log()))
	}
	for _, p := range parts {
		if !strings.Contains(said, p) {
			t.Errorf("the start ended with %q, want %q in it", said, p)
		}
	}
	t.Logf("the start ended: %s", said)
}

// tail is the end of a log.
func tail(log string) string { return log[max(0, len(log)-2000):] }
