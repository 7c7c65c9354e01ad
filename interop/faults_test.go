package interop

import (
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// faults are faults of real brokers; each gives how often it was seen, in how
// many attempts.
var faults = []struct {
	name    string
	provoke func(x side) (seen, of int)
}{
	{"one-way commits of a connection overtake one another", overtaking},
	{"a read behind a one-way commit is older, single frames", staleReads},
	{"a read behind a one-way commit is older, client 4.9.7", staleReadsOfAClient},
	{"a first commit of a new group is lost (C58)", firstCommits},
	{"a query (308) deletes offsets", correction},
}

// noFaults provokes what brokers do wrong by themselves: with our jar none of
// it is seen.
func noFaults(t *testing.T, plain, ours side) {
	for _, x := range []side{plain, ours} {
		x.broker.CreateTopic("faults", 16)
		for _, f := range faults {
			seen, of := f.provoke(x)
			t.Logf("%-8s  %-55s %6d of %d", x.Where, f.name, seen, of)
			if x.Where == stand.Tidemark && seen != 0 {
				t.Errorf("%s: %d of %d with the jar", f.name, seen, of)
			}
		}
	}
}

// overtaking sends rising commits of a queue without waiting: the last must be
// what stays (3.11).
func overtaking(x side) (seen, of int) {
	const commits = 10_000
	x.broker.CreateGroup("overtaking")
	of = effort.Of(4, 20)
	for i := range of {
		w := dial(x, x.broker, remoting.Binary)
		for n := int64(1); n <= commits; n++ {
			w.must(w.QueueOneWay(codeUpdate, commitFields("overtaking", "faults", i%16, n), nil))
		}
		w.must(w.Flush())
		if settled(w, "overtaking", i%16) != commits {
			seen++
		}
		w.commit("overtaking", "faults", i%16, 0) // lower, so that the next round of the queue begins anew
	}
	return seen, of
}

// settled waits until a queue's offset has not changed for a while: an older
// commit may still be under way when the newest is there.
func settled(w wire, group string, queue int) (got int64) {
	w.Helper()
	for changed := time.Now(); time.Since(changed) < 500*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if n := w.query(group, "faults", queue); n != got {
			got, changed = n, time.Now()
		}
	}
	return got
}

// staleReads sends a one-way commit with a query right behind it, on one
// connection: the query must see it.
func staleReads(x side) (seen, of int) {
	x.broker.CreateGroup("stale")
	w := dial(x, x.broker, remoting.Binary)
	of = effort.Of(1_000, 10_000)
	for n := 1; n <= of; n++ {
		w.must(w.QueueOneWay(codeUpdate, commitFields("stale", "faults", 0, int64(n)), nil))
		if w.query("stale", "faults", 0) != int64(n) {
			seen++
		}
	}
	return seen, of
}

// staleReadsOfAClient is the same by an unmodified client.
func staleReadsOfAClient(x side) (seen, of int) {
	x.broker.CreateGroup("stale-client")
	of = effort.Of(500, 10_000)
	mq := offset.MessageQueue{Topic: "faults", Broker: x.broker.Name, QueueID: 0}
	return fleet.Start(x, fleet.Java4, x.Names.Addr).Reread("stale-client", mq, of), of
}

// firstCommits is C58 (apache/rocketmq#1427, #1732): the first commits of new
// groups for 16 queues, over four connections, none awaited before the last is
// sent. With the jar each is on every node afterwards.
func firstCommits(x side) (seen, of int) {
	var groups []string
	for i := range effort.Of(100, 500) {
		groups = append(groups, "first-"+strconv.Itoa(i))
	}
	var conns []wire
	for range 4 {
		conns = append(conns, dial(x, x.broker, remoting.Binary))
	}
	conns[0].createGroups(groups...)
	for _, g := range groups {
		sendFirst(conns, g)
	}
	for _, g := range groups {
		for q := range 16 {
			if conns[0].query(g, "faults", q) != int64(q+1) {
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
		_, err := w.Queue(codeUpdate, commitFields(group, "faults", q, int64(q+1)), nil)
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
func missing(x side, groups []string) (n int) {
	for _, node := range x.Cluster.Nodes() {
		for _, g := range groups {
			var keys []offset.Key
			for q := range int32(16) {
				mq := offset.MessageQueue{Topic: "faults", Broker: x.broker.Name, QueueID: q}
				keys = append(keys, offset.Key{Group: g, MessageQueue: mq})
			}
			states, _, err := node.Fetch(ask.Within(x, ask.Patience), ask.Default, keys...)
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
func correction(x side) (seen, of int) {
	x.broker.CreateGroup("kept")
	x.broker.CreateGroup("compared")
	w := dial(x, x.broker, remoting.JSON)
	for q := range 16 {
		w.commit("kept", "faults", q, 7)
		w.commit("compared", "faults", q, 9)
	}
	w.ask(codeCorrection, map[string]string{"filterGroups": "kept", "compareGroup": "compared", "topic": "faults"}, nil)
	for q := range 16 {
		if w.query("kept", "faults", q) != 7 {
			seen++
		}
	}
	return seen, 16
}
