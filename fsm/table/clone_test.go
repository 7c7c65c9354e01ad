package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestCloneAdds is held to a look at each key, with nodes that are cut where the
// other group's are not.
func TestCloneAdds(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	s := newScript(t)
	for range 6000 {
		k := offset.Key{Group: "from", MessageQueue: offset.MessageQueue{
			Topic: fmt.Sprint("t", random.IntN(3)), Broker: fmt.Sprint("b", random.IntN(3)), QueueID: int32(random.IntN(1000)),
		}}
		if random.IntN(3) == 0 {
			k.Group = "to"
		}
		s.commit(k, 1, 0)
	}
	s.Publish()
	root := s.Root()
	for _, c := range []offset.Clone{
		{}, {Topic: "t1"}, {Topic: "none"}, {HasBroker: true, Broker: "b2"}, {HasBroker: true, Broker: "none"},
		{Topic: "t0", HasBroker: true, Broker: "b0"}, {Topic: "t2", HasBroker: true, Broker: "b1"},
	} {
		for _, to := range []string{"to", "new", "from"} {
			c.From, c.To = "from", to
			want := uint64(0)
			root.Walk(&offset.List{What: offset.ListKeys, Group: "from", Topic: c.Topic, HasBroker: c.HasBroker, Broker: c.Broker}, func(x offset.KeyedState) bool {
				x.Key.Group = to
				if !root.Get(x.Key).Exists {
					want++
				}
				return true
			})
			if got := root.CloneAdds(&c, 1<<40); got != want {
				t.Errorf("seed %d, %+v: %d keys, want %d", seed, c, got, want)
			}
			if want > 300 {
				if got := root.CloneAdds(&c, want-300); got <= want-300 {
					t.Errorf("seed %d, %+v: %d keys where there are more than %d", seed, c, got, want-300)
				}
			}
		}
	}
}

// TestCloneAddsEndsItsLook: what it does not look up counts as new, of the scope of the
// clone alone.
func TestCloneAddsEndsItsLook(t *testing.T) {
	s := newScript(t)
	for _, group := range []string{"from", "to"} {
		for i := range int32(100) { // ten queues a topic, which are one node
			k := qkey(group, fmt.Sprint("t", i/10), i%10)
			s.commit(k, 1, 0)
			k.Broker = "another"
			s.commit(k, 1, 0)
		}
	}
	s.Publish()
	c := &offset.Clone{From: "from", To: "to", HasBroker: true, Broker: "b"}
	for looks, want := range map[int]uint64{0: 100, 1: 90, 10: 90, 11: 80, 91: 0, 100: 0} {
		s.want(fmt.Sprint("keys after ", looks, " looks"), s.Root().cloneAdds(c, 1<<40, looks), want)
	}
	s.want("keys of one topic", s.Root().cloneAdds(&offset.Clone{From: "from", To: "to", Topic: "t3"}, 1<<40, 0), uint64(20))
	s.want("keys of a new group", s.Root().cloneAdds(&offset.Clone{From: "from", To: "new"}, 1<<40, 0), uint64(200))
}

// BenchmarkCloneAdds looks at a million keys that the other group has.
func BenchmarkCloneAdds(b *testing.B) {
	t := New(testCluster)
	for i := range 100 {
		c := offset.Commits{Cluster: testCluster}
		for _, g := range []string{"from", "to"} {
			x := offset.TopicCommits{Group: g, Topic: fmt.Sprint("t", i)}
			for q := range 10_000 {
				x.Queues = append(x.Queues, offset.QueueCommit{QueueID: int32(q), Offset: 1})
			}
			c.Topics = append(c.Topics, x)
		}
		t.Begin(uint64(i+1), 1)
		t.Commit(&c, nil)
		t.Publish()
	}
	for b.Loop() {
		if n := t.Root().CloneAdds(&offset.Clone{From: "from", To: "to"}, 1<<40); n != 0 {
			b.Fatal(n)
		}
	}
}
