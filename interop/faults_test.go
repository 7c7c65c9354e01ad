package interop

import (
	"fmt"
	"strconv"
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

// trial is a broker on which a fault of RocketMQ's is provoked.
type trial struct {
	testing.TB
	*stand.Stand
	broker *javaparts.Broker
}

// faults are faults of real brokers; each gives how often it was seen, in how
// many attempts.
var faults = []struct {
	name    string
	provoke func(x trial) (seen, of int)
}{
	{"one-way commits of a connection overtake one another", overtaking},
	{"a read behind a one-way commit is older, single frames", staleReads},
	{"a read behind a one-way commit is older, client 4.9.7", staleReadsOfAClient},
	{"a first commit of a new group is lost (C58)", firstCommits},
	{"a query (308) deletes offsets", correction},
}

// TestFaultsOfBrokers provokes what brokers do wrong by themselves: with our
// jar none of it is seen.
func TestFaultsOfBrokers(t *testing.T) {
	versions := effort.Of([]javaparts.Version{javaparts.RocketMQ5}, []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ53, javaparts.RocketMQ4})
	for _, v := range versions {
		stand.Both(t, v, func(t *testing.T, s *stand.Stand) {
			b := s.Broker(nil)
			b.CreateTopic("orders", 16)
			for _, f := range faults {
				seen, of := f.provoke(trial{t, s, b})
				t.Logf("%-58s %6d of %d", f.name, seen, of)
				if s.Where == stand.Tidemark && seen != 0 {
					t.Errorf("%s: %d of %d with the jar", f.name, seen, of)
				}
			}
		})
	}
}

// overtaking sends rising commits of a queue without waiting: the last must be
// what stays (3.11).
func overtaking(x trial) (seen, of int) {
	const commits = 10_000
	x.broker.CreateGroup("overtaking")
	of = effort.Of(4, 20)
	for i := range of {
		w := dial(x.TB, x.broker, remoting.Binary)
		for n := int64(1); n <= commits; n++ {
			w.must(w.QueueOneWay(codeUpdate, commitFields("overtaking", "orders", i%16, n), nil))
		}
		w.must(w.Flush())
		if settled(w, "overtaking", i%16) != commits {
			seen++
		}
		w.commit("overtaking", "orders", i%16, 0) // lower, so that the next round of the queue begins anew
	}
	return seen, of
}

// settled waits until a queue's offset has not changed for a while: an older
// commit may still be under way when the newest is there.
func settled(w wire, group string, queue int) (got int64) {
	w.Helper()
	for changed := time.Now(); time.Since(changed) < 500*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if n := w.query(group, "orders", queue); n != got {
			got, changed = n, time.Now()
		}
	}
	return got
}

// staleReads sends a one-way commit with a query right behind it, on one
// connection: the query must see it.
func staleReads(x trial) (seen, of int) {
	x.broker.CreateGroup("stale")
	w := dial(x.TB, x.broker, remoting.Binary)
	of = effort.Of(1_000, 10_000)
	for n := 1; n <= of; n++ {
		w.must(w.QueueOneWay(codeUpdate, commitFields("stale", "orders", 0, int64(n)), nil))
		if w.query("stale", "orders", 0) != int64(n) {
			seen++
		}
	}
	return seen, of
}

// staleReadsOfAClient is the same by an unmodified client.
func staleReadsOfAClient(x trial) (seen, of int) {
	x.broker.CreateGroup("stale-client")
	of = effort.Of(500, 10_000)
	mq := offset.MessageQueue{Topic: "orders", Broker: x.broker.Name, QueueID: 0}
	return fleet.Start(x.TB, fleet.Java4, x.Names.Addr).Reread("stale-client", mq, of), of
}

// firstCommits is C58 (apache/rocketmq#1427, #1732): the first commits of new
// groups for 16 queues, over four connections, none awaited before the last is
// sent. With the jar each is on every node afterwards.
func firstCommits(x trial) (seen, of int) {
	var groups []string
	for i := range effort.Of(100, 500) {
		groups = append(groups, "first-"+strconv.Itoa(i))
	}
	var conns []wire
	for range 4 {
		conns = append(conns, dial(x.TB, x.broker, remoting.Binary))
	}
	conns[0].createGroups(groups...)
	for _, g := range groups {
		sendFirst(conns, g)
	}
	for _, g := range groups {
		for q := range 16 {
			if conns[0].query(g, "orders", q) != int64(q+1) {
				seen++
			}
		}
	}
	if x.Where == stand.Tidemark {
		seen += missing(x, groups)
	}
	return seen, 16 * len(groups)
}

// sendFirst commits queue q of a group to q+1, for 16 queues, and awaits all at the end.
func sendFirst(conns []wire, group string) {
	for q := range 16 {
		w := conns[q%len(conns)]
		_, err := w.Queue(codeUpdate, commitFields(group, "orders", q, int64(q+1)), nil)
		w.must(err)
	}
	for _, w := range conns {
		w.must(w.Flush())
	}
	for q := range 16 {
		w := conns[q%len(conns)]
		f, err := w.Receive()
		w.must(err)
		if f.Code != answerOK {
			w.Fatalf("a commit was answered by %+v", f)
		}
	}
}

// missing counts the commits that a node does not have.
func missing(x trial, groups []string) (n int) {
	for _, node := range x.Cluster.Nodes() {
		for _, g := range groups {
			var keys []offset.Key
			for q := range int32(16) {
				mq := offset.MessageQueue{Topic: "orders", Broker: x.broker.Name, QueueID: q}
				keys = append(keys, offset.Key{Group: g, MessageQueue: mq})
			}
			states, _, err := node.Fetch(ask.Within(x.TB, ask.Patience), ask.Default, keys...)
			if err != nil {
				x.Fatal(err)
			}
			for q, st := range states {
				if ask.Value(st) != int64(q+1) {
					n++
				}
			}
		}
	}
	return n
}

// correction asks for the offsets of other groups (apache/rocketmq#10987): the
// group that is to be left out of the answer must keep its own.
func correction(x trial) (seen, of int) {
	x.broker.CreateGroup("kept")
	x.broker.CreateGroup("compared")
	w := dial(x.TB, x.broker, remoting.JSON)
	for q := range 16 {
		w.commit("kept", "orders", q, 7)
		w.commit("compared", "orders", q, 9)
	}
	w.ask(codeCorrection, map[string]string{"filterGroups": "kept", "compareGroup": "compared", "topic": "orders"}, nil)
	for q := range 16 {
		if w.query("kept", "orders", q) != 7 {
			seen++
		}
	}
	return seen, 16
}

// TestASlaveHasWhatItsMasterAcknowledged: a slave of 5.5.0 stops taking over
// offsets once any consumer has pulled, for good. With the jar it answers what
// its master has acknowledged, and goes on to.
func TestASlaveHasWhatItsMasterAcknowledged(t *testing.T) {
	wheres := effort.Of([]stand.Where{stand.Tidemark}, []stand.Where{stand.Plain, stand.Tidemark})
	for _, where := range wheres {
		t.Run(string(where), func(t *testing.T) {
			s := stand.New(t, javaparts.RocketMQ5, where)
			master := s.Broker(map[string]string{"brokerRole": "ASYNC_MASTER"})
			master.CreateTopic("orders", 4)
			master.CreateGroup("billing")
			master.Send("orders", 0, []byte("a message"))
			slave := s.Broker(map[string]string{"brokerRole": "SLAVE", "brokerId": "1"})
			m, sl := dial(t, master, remoting.JSON), dial(t, slave, remoting.JSON)
			m.ask(codePull, pullFields("billing", "orders", 0, 0), nil)
			// A plain slave asks once a minute: long enough for it to do so twice.
			patience := effort.Of(30*time.Second, map[stand.Where]time.Duration{stand.Plain: 130 * time.Second, stand.Tidemark: 30 * time.Second}[where])
			behind := 0
			for n := range int64(4) {
				m.commit("billing", "orders", int(n), 100+n)
			}
			end := time.Now().Add(patience)
			for n := range int64(4) {
				for sl.query("billing", "orders", int(n)) != 100+n && time.Now().Before(end) {
					time.Sleep(50 * time.Millisecond)
				}
				if sl.query("billing", "orders", int(n)) != 100+n {
					behind++
				}
			}
			t.Logf("%s: the slave is behind on %d of 4 queues after at most %v", where, behind, patience)
			if where == stand.Tidemark && behind != 0 {
				t.Error("the slave does not have what its master acknowledged")
			}
		})
	}
}

// pullFields ask for up to 32 messages of a queue, without waiting for new ones.
func pullFields(group, topic string, queue int, from int64) map[string]string {
	ext := queueFields(group, topic, queue)
	for k, v := range map[string]string{
		"queueOffset": strconv.FormatInt(from, 10), "maxMsgNums": "32", "sysFlag": "4", "commitOffset": "0",
		"suspendTimeoutMillis": "0", "subscription": "*", "subVersion": fmt.Sprint(time.Now().UnixMilli()), "expressionType": "TAG",
	} {
		ext[k] = v
	}
	return ext
}
