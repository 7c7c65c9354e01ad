package interop

import (
	"fmt"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/internal/javaparts"
	"github.com/tidemark-mq/tidemark/interop/fleet"
	"github.com/tidemark-mq/tidemark/interop/stand"
)

// squad are the kinds of consumers that one client has on a version of brokers.
type squad struct {
	client fleet.Client
	kinds  []fleet.Kind
}

// squads are all consumers that a version of brokers supports.
var squads = map[javaparts.Version][]squad{
	javaparts.RocketMQ5: {
		{fleet.Java5, []fleet.Kind{fleet.Push, fleet.Orderly, fleet.POP, fleet.Lite, fleet.LiteAssign, fleet.Pull}},
		{fleet.Java49, []fleet.Kind{fleet.Push}},
		{fleet.GRPC, []fleet.Kind{fleet.GRPCPush, fleet.GRPCSimple}},
		{fleet.Go, []fleet.Kind{fleet.GoPush, fleet.GoPull}},
		{fleet.OldGo, []fleet.Kind{fleet.GoPush, fleet.GoPull}},
	},
	javaparts.RocketMQ53: {
		{fleet.Java53, []fleet.Kind{fleet.Push, fleet.Orderly, fleet.POP, fleet.Lite, fleet.LiteAssign, fleet.Pull}},
		{fleet.Java4, []fleet.Kind{fleet.Push}},
		{fleet.GRPC, []fleet.Kind{fleet.GRPCPush, fleet.GRPCSimple}},
		{fleet.Go, []fleet.Kind{fleet.GoPush, fleet.GoPull}},
	},
	javaparts.RocketMQ4: {
		{fleet.Java4, []fleet.Kind{fleet.Push, fleet.Orderly, fleet.Lite, fleet.LiteAssign, fleet.Pull}},
		{fleet.Java49, []fleet.Kind{fleet.Push, fleet.Lite}},
		{fleet.Java5, []fleet.Kind{fleet.Push}},
		{fleet.Go, []fleet.Kind{fleet.GoPush, fleet.GoPull}},
		{fleet.OldGo, []fleet.Kind{fleet.GoPush, fleet.GoPull}},
	},
}

// TestEveryKindOfConsumer runs unmodified consumers of every kind under load:
// none skips a message, and afterwards the broker's table and the cluster are
// equal. One offset changed behind the broker's back is found as exactly one.
func TestEveryKindOfConsumer(t *testing.T) {
	versions := effort.Of([]javaparts.Version{javaparts.RocketMQ5}, []javaparts.Version{javaparts.RocketMQ5, javaparts.RocketMQ53, javaparts.RocketMQ4})
	wheres := effort.Of([]stand.Where{stand.Tidemark}, []stand.Where{stand.Plain, stand.Tidemark})
	for _, v := range versions {
		for _, w := range wheres {
			t.Run(string(v)+" "+string(w), func(t *testing.T) { everyKind(t, stand.New(t, v, w)) })
		}
	}
}

func everyKind(t *testing.T, s *stand.Stand) {
	b := s.Broker(nil)
	b.CreateTopic("load", 4)
	groups := muster(s, b, "load", squads[s.Version])
	sent := groups[0].fleet.Produce("producer", "load", fleet.Load{Rate: 200, Bytes: 100})
	for began := time.Now(); time.Since(began) < effort.Of(0, time.Minute) || sent.Len() < 400; {
		time.Sleep(10 * time.Millisecond)
	}
	groups[0].fleet.Stop("producer")
	for _, g := range groups {
		tally := fleet.Await(javaparts.Patience, sent, g.record)
		t.Logf("%-28s %v", g.name, tally)
		if tally.Skipped != 0 || tally.Sent == 0 {
			t.Errorf("%s: %v", g.name, tally)
		}
	}
	for _, g := range groups {
		g.fleet.Stop(g.name)
	}
	if s.Where == stand.Tidemark {
		equalButForOne(t, s, b, groups)
	}
}

// equalButForOne compares the broker with the cluster; again when it runs by
// itself, over the file that it left; and once more when one offset was changed
// there, which the cluster knows nothing of.
//
// By itself a broker gives messages that were popped and not acknowledged in time
// to a retry topic of its own, at offset 0, which the cluster knows nothing of
// either: then it is compared without the groups that pop.
func equalButForOne(t *testing.T, s *stand.Stand, b *javaparts.Broker, groups []group) {
	t.Helper()
	const equal = " 0 different, 0 only at the broker, 0 only in the cluster"
	t.Log(s.Diff(b, "15s").Want(t, 0, equal, "").Out)
	var named []string
	for _, g := range groups {
		if !g.pops {
			named = append(named, "--group", g.name)
		}
	}
	b.Stop()
	b.ByItself()
	b.Start()
	s.Diff(b, "0s", named...).Want(t, 0, equal, "")
	b.Commit(groups[0].name, "load", 2, 1_000_000)
	s.Diff(b, "0s", named...).Want(t, 6, " 1 different, 0 only at the broker, 0 only in the cluster", "1 offset differs")
}

// group is a consumer group that runs.
type group struct {
	name   string
	fleet  *fleet.Fleet
	record *fleet.Record
	// pops: by POP, straight or through a proxy.
	pops bool
}

// muster starts two consumers of each kind of each squad, each kind in a group of its own.
func muster(s *stand.Stand, b *javaparts.Broker, topic string, squads []squad) (groups []group) {
	s.Helper()
	for i, q := range squads {
		if !effort.Soak() && (q.client == fleet.Java49 || q.client == fleet.OldGo) {
			continue // a process each
		}
		address := s.Names.Addr
		if q.client == fleet.GRPC {
			address = javaparts.StartProxy(s, s.Names).Addr
		}
		f := fleet.Start(s, q.client, address)
		for _, k := range q.kinds {
			name := fmt.Sprintf("%s-%d", k, i)
			b.CreateGroup(name)
			if k == fleet.POP {
				b.PopMode(name, topic)
			}
			pops := k == fleet.POP || q.client == fleet.GRPC
			groups = append(groups, group{name, f, f.Consume(k, name, topic, 2), pops})
		}
	}
	return groups
}
