package interop

import (
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// inPart runs a scenario with the jar, and in a whole run without it too, for
// figures to compare with.
func inPart(t *testing.T, scenario func(t *testing.T, s *stand.Stand)) {
	for _, w := range effort.Of([]stand.Where{stand.Tidemark}, []stand.Where{stand.Plain, stand.Tidemark}) {
		t.Run(string(w), func(t *testing.T) { scenario(t, stand.New(t, javaparts.RocketMQ5, w)) })
	}
}

// TestMasterKilledBesideItsSlave kills a master and all consumers in the same
// instant. Consumers that start while only the slave is there go on where the
// others were, and so do those that start once the master is back.
func TestMasterKilledBesideItsSlave(t *testing.T) {
	apart(t)
	inPart(t, func(t *testing.T, s *stand.Stand) {
		master := s.Broker(with("brokerRole", "ASYNC_MASTER"))
		slave := s.Broker(with("brokerRole", "SLAVE", "brokerId", "1"))
		master.CreateTopic("load", 4)
		master.CreateGroup("g")
		sender := fleet.Start(t, fleet.Java5, s.Names.Addr)
		sent := sender.Produce("producer", "load", fleet.Load{Rate: 100})
		first := fleet.Start(t, fleet.Java5, s.Names.Addr)
		records := []*fleet.Record{first.Consume(fleet.Push, "g", "load", 1)}
		time.Sleep(effort.Of(12*time.Second, time.Minute)) // the load's duration, not a wait
		sender.Stop("producer")
		awaitLen(t, records[0], sent.Len())
		awaitCommitted(t, s, master)

		master.Kill()
		first.Kill()
		second := fleet.Start(t, fleet.Java5, s.Names.Addr)
		records = append(records, second.Consume(fleet.Push, "g", "load", 1))
		time.Sleep(effort.Of(10*time.Second, time.Minute))
		onSlave := records[1].Len()

		second.Kill()
		master.Start()
		third := fleet.Start(t, fleet.Java5, s.Names.Addr)
		after := third.Consume(fleet.Push, "g", "load", 1)
		more := third.Produce("more", "load", fleet.Load{Rate: 100})
		time.Sleep(effort.Of(10*time.Second, time.Minute))
		third.Stop("more")
		awaitLen(t, after, more.Len())
		tally := fleet.Count(sent, records...)
		again := tally.Again + after.Len() - more.Len()
		t.Logf("%s: %v, of them %d from the slave; then %d new ones, and %d of before", s.Where, tally, onSlave, more.Len(), after.Len()-more.Len())
		if s.Where == stand.Tidemark && (tally.Skipped != 0 || again != 0) {
			t.Errorf("everything was committed before the kill, and yet %d came again: %v\n%s", again, tally, tail(slave.Log()))
		}
	})
}

// awaitLen waits until a record has n lines.
func awaitLen(tb testing.TB, r *fleet.Record, n int) {
	tb.Helper()
	for end := time.Now().Add(javaparts.Patience); r.Len() < n; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			tb.Fatalf("%d of %d messages came in %v", r.Len(), n, javaparts.Patience)
		}
	}
}

// awaitCommitted waits until the broker has heard of all commits: a client's
// timer is 5 s.
func awaitCommitted(tb testing.TB, s *stand.Stand, b *javaparts.Broker) {
	tb.Helper()
	w := dial(tb, b, remoting.JSON)
	for end := time.Now().Add(javaparts.Patience); ; time.Sleep(200 * time.Millisecond) {
		behind := 0
		for q := range 4 {
			f := w.ask(codeMaxOffset, map[string]string{"topic": "load", "queueId": strconv.Itoa(q)}, nil)
			if n := w.offsetIn(f); n > 0 && w.query("g", "load", q) != n {
				behind++
			}
		}
		if behind == 0 {
			break
		}
		if time.Now().After(end) {
			tb.Fatalf("%d queues are behind after %v", behind, javaparts.Patience)
		}
	}
	if s.Where == stand.Tidemark {
		s.Diff(b, "30s").Want(tb, 0, "", "")
	}
}

// TestControllerGroupSwitches kills the master of a controller's group under
// load: its slave is elected, claims the name, and no message is skipped. Nor is
// a topic wound back whose messages the slave has, and not its configuration.
func TestControllerGroupSwitches(t *testing.T) {
	apart(t)
	inPart(t, func(t *testing.T, s *stand.Stand) {
		c := javaparts.StartController(t, "")
		var group []*javaparts.Broker
		for range 2 {
			config := c.JoinController()
			for k, v := range patient {
				config[k] = v
			}
			group = append(group, s.Broker(config))
		}
		old := javaparts.Master(t, s.Names, group)
		for _, b := range group {
			b.CreateTopic("load", 4)
			b.CreateGroup("g")
		}
		f := fleet.Start(t, fleet.Java5, s.Names.Addr)
		sent := f.Produce("producer", "load", fleet.Load{Rate: 100})
		consumed := f.Consume(fleet.Push, "g", "load", 2)
		time.Sleep(effort.Of(10*time.Second, time.Minute)) // the load's duration, not a wait
		if s.Where == stand.Tidemark {
			consumeRecent(t, old)
		}
		old.Kill()
		killed := time.Now()
		now := javaparts.Master(t, s.Names, group)
		t.Logf("%s: another master after %v", s.Where, time.Since(killed))
		time.Sleep(effort.Of(10*time.Second, time.Minute))
		f.Stop("producer")
		tally := fleet.Await(time.Minute, sent, consumed)
		t.Logf("%s: %v", s.Where, tally)
		if s.Where == stand.Tidemark {
			if tally.Skipped != 0 {
				t.Errorf("%v\n%s", tally, tail(now.Log()))
			}
			s.Diff(now, "30s").Want(t, 0, "", "")
			wantInCluster(t, "a recent topic", inCluster(t, s, now.Name, "g", map[string][]int32{"recent": {0}}), map[string]int64{"recent 0": recentMessages})
			if role := now.Runtime()["tidemarkRole"]; role != "MASTER" {
				t.Errorf("the elected master says that it is %q", role)
			}
			old.Start()
			awaitRole(t, old, "SLAVE")
		}
	})
}

// recentMessages is how many messages consumeRecent sends.
const recentMessages = 20

// consumeRecent makes a topic at a master, sends messages to it, and commits
// their end. Once that is acknowledged, the messages are in the log of each slave
// in sync, which copies the topic's configuration up to 13 s later.
func consumeRecent(t *testing.T, master *javaparts.Broker) {
	t.Helper()
	master.CreateTopic("recent", 1)
	for n := range recentMessages {
		master.Send("recent", 0, fmt.Append(nil, n))
	}
	w := dial(t, master, remoting.JSON)
	ask.Until(t, "the end of a recent topic is acknowledged", func() bool {
		return w.commit("g", "recent", 0, recentMessages) == answerOK
	})
}

// awaitRole waits until a broker says what it is.
func awaitRole(tb testing.TB, b *javaparts.Broker, role string) {
	tb.Helper()
	var got string
	for end := time.Now().Add(javaparts.Patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if got = b.Runtime()["tidemarkRole"]; got == role {
			return
		}
	}
	tb.Errorf("the broker is %q, not %q", got, role)
}

// TestTwoMastersOfOneName has a master go on beside a newer one with the same
// log up to a point: the old one's commits reach nobody, and consumers of the
// new one skip nothing.
func TestTwoMastersOfOneName(t *testing.T) {
	apart(t)
	const same, apart = 50, 60 // messages of each queue
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	older := s.Broker(patient)
	a := &resetTrial{TB: t, s: s, b: older, kind: fleet.Push, topic: "t", group: "g"}
	older.CreateTopic("t", resetQueues)
	older.CreateGroup("g")
	f := fleet.Start(t, fleet.Java5, s.Names.Addr)
	a.consumed = f.Consume(fleet.Push, "g", "t", 1)
	a.send(same)
	a.awaitStored()
	older.Stop()
	copied := filepath.Join(t.TempDir(), "copy")
	older.CopyStore(copied)
	older.Start()

	// The newer one has clients of its own: they ask another name server.
	names := javaparts.StartNameServer(t, javaparts.RocketMQ5)
	config := with("storePathRootDir", copied)
	for k, v := range s.Settings() {
		config[k] = v
	}
	newer := javaparts.StartBroker(t, javaparts.RocketMQ5, names, config, stand.WithJar(t))
	before := a.consumed.Len()
	a.send(2 * apart)
	a.await("consumers of the old master go on", func() error { return a.deliveredFrom(before, same) })

	b := &resetTrial{TB: t, s: s, b: newer, kind: fleet.Push, topic: "t", group: "g", sent: same}
	f2 := fleet.Start(t, fleet.Java5, names.Addr)
	b.send(apart)
	b.consumed = f2.Consume(fleet.Push, "g", "t", 1)
	b.await("consumers of the new master skip nothing", func() error { return b.deliveredFrom(0, same) })
	b.awaitStored()
	if lost := older.Runtime()["tidemarkLost"]; lost == "0" || lost == "" {
		t.Errorf("the old master has lost %q keys to the new one", lost)
	}
	older.Kill() // or its own commits would be fenced until the end
	b.awaitStored()
}
