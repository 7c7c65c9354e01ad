package interop

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
	"github.com/tidemark-mq/tidemark/interop/stand"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestPublicFaultsThroughABroker are cases whose proof needs a broker that keeps
// its offsets in the cluster; all of them on one stand, since brokers start slowly.
func TestPublicFaultsThroughABroker(t *testing.T) {
	s := stand.New(t, javaparts.RocketMQ5, stand.Tidemark)
	north := s.Broker(map[string]string{"brokerName": "bk-north"})
	south := s.Broker(map[string]string{"brokerName": "bk-south"})
	t.Run("C12", func(t *testing.T) { c12(t, s, north, south) })
	t.Run("C57", func(t *testing.T) { c57(t, s, south) })
	t.Run("C16", func(t *testing.T) { c16(t, s, north) })
}

// inCluster is what the cluster has for a group, by "topic queue", of one broker.
func inCluster(t *testing.T, s *stand.Stand, broker, group string, topics map[string][]int32) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	for topic, queues := range topics {
		for _, q := range queues {
			k := offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: topic, Broker: broker, QueueID: q}}
			for _, n := range s.Cluster.Nodes() {
				ctx := ask.Within(t, ask.Patience)
				states, _, err := n.Fetch(ctx, ask.Default, k)
				for errors.Is(err, offset.ErrNoLeader) && ctx.Err() == nil { // on a busy machine, for a moment
					states, _, err = n.Fetch(ctx, ask.Default, k)
				}
				if err != nil {
					t.Fatal(err)
				}
				if v := ask.Value(states[0]); v >= 0 {
					found[fmt.Sprint(topic, " ", q)] = v
				}
			}
		}
	}
	return found
}

func wantInCluster(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	if !maps.Equal(got, want) {
		t.Errorf("%s: the cluster has %v, want %v", what, got, want)
	}
}

// c12 (apache/rocketmq-client-go#186): two brokers that both have a queue 1
// keep its offsets apart, in both directions and over a restart.
func c12(t *testing.T, s *stand.Stand, brokers ...*javaparts.Broker) {
	for i, b := range brokers {
		b.CreateTopic("moss", 2)
		b.CreateGroup("moss-readers")
		for n := range 200 {
			b.Send("moss", 1, fmt.Append(nil, n)) // so that 100 is no offset beyond the end
		}
		if code := dial(t, b, remoting.JSON).commit("moss-readers", "moss", 1, int64(100-93*i)); code != answerOK {
			t.Errorf("a commit at %s is answered by %d", b.Name, code)
		}
	}
	for i, b := range brokers {
		want := int64(100 - 93*i)
		wantInCluster(t, b.Name, inCluster(t, s, b.Name, "moss-readers", map[string][]int32{"moss": {0, 1}}), map[string]int64{"moss 1": want})
		b.Kill()
		b.Start()
		if got := dial(t, b, remoting.JSON).query("moss-readers", "moss", 1); got != want {
			t.Errorf("%s has %d after a restart, want %d", b.Name, got, want)
		}
	}
}

// c57: a broker takes what it is sent, but -1 does not become an offset; a
// queue that the topic does not have and the largest number are kept exactly.
func c57(t *testing.T, s *stand.Stand, b *javaparts.Broker) {
	b.CreateTopic("refunds", 8)
	b.CreateGroup("search_index")
	w := dial(t, b, remoting.JSON)
	for q, n := range map[int]int64{0: -1, 2: math.MaxInt64, 4: 39004, 99: 5} {
		if code := w.commit("search_index", "refunds", q, n); code != answerOK {
			t.Errorf("a commit of %d to queue %d is answered by %d", n, q, code)
		}
	}
	if got := w.query("search_index", "refunds", 0); got != -1 {
		t.Errorf("-1 is answered as offset %d", got)
	}
	got := inCluster(t, s, b.Name, "search_index", map[string][]int32{"refunds": {0, 1, 2, 4, 99}})
	wantInCluster(t, "C57", got, map[string]int64{"refunds 2": math.MaxInt64, "refunds 4": 39004, "refunds 99": 5})
	s.Diff(b, "10s").Want(t, 0, " 0 different, 0 only at the broker, 0 only in the cluster", "")
	w.commit("search_index", "refunds", 2, 0) // what is beyond the end would be lowered at the next start
	w.commit("search_index", "refunds", 99, 0)
	w.commit("search_index", "refunds", 4, 0)
}

// c16 (apache/rocketmq#1416, #2748, #6016, #5400, #8804, #9172): with a group
// its offsets go, everywhere and for good; those of a group whose name is
// alike stay, and so do those of a group that is deleted without them.
func c16(t *testing.T, s *stand.Stand, b *javaparts.Broker) {
	topics := map[string][]int32{"orders": {0, 1}, "refunds": {0, 1}, "%RETRY%billing": {0}}
	for topic := range topics {
		b.CreateTopic(topic, 2)
	}
	w := dial(t, b, remoting.JSON)
	w.createGroups("billing", "billing-archive", "audit")
	fill := func(group string) {
		for topic, queues := range topics {
			for _, q := range queues {
				w.commit(group, topic, int(q), 0)
			}
		}
	}
	for _, g := range []string{"billing", "billing-archive", "audit"} {
		fill(g)
	}
	all := inCluster(t, s, b.Name, "billing", topics)
	if len(all) != 5 {
		t.Fatalf("before the deletion the cluster has %v", all)
	}
	w.ask(codeReset, map[string]string{"topic": "orders", "group": "billing", "queueId": "0", "offset": "0", "timestamp": "-1", "isForce": "true"}, nil)
	if f := w.ask(codeDeleteGroup, map[string]string{"groupName": "billing", "cleanOffset": "true"}, nil); f.Code != answerOK {
		t.Fatalf("the deletion is answered by %+v", f)
	}
	s.Cluster.Sh("kill", s.Cluster.Leader())
	gone := func(when string) {
		t.Helper()
		wantInCluster(t, when, inCluster(t, s, b.Name, "billing", topics), map[string]int64{})
		for topic, queues := range topics {
			for _, q := range queues {
				if f := w.ask(codeQuery, changed(queueFields("billing", topic, int(q)), "setZeroIfNotFound=false"), nil); f.Code != answerQueryNothing {
					t.Errorf("%s: a query of %s %d is answered by %+v", when, topic, q, f)
				}
			}
		}
	}
	s.Cluster.Sh("up", "3")
	gone("after the deletion, the leader killed")
	w.createGroups("billing")
	gone("when the group is made again")
	wantInCluster(t, "a group whose name is alike", inCluster(t, s, b.Name, "billing-archive", topics), all)
	w.ask(codeDeleteGroup, map[string]string{"groupName": "audit", "cleanOffset": "false"}, nil)
	wantInCluster(t, "deleted without its offsets", inCluster(t, s, b.Name, "audit", topics), all)
}
