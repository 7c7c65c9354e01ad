package table

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestChangesOfAReplace: the audit log learns what a replace brought in, how many
// keys there were, and which are gone.
func TestChangesOfAReplace(t *testing.T) {
	for _, group := range []string{"", "g"} {
		s := newScript(t)
		stays, goes, other := qkey("g", "t", 0), qkey("g", "t", 1), qkey("other", "t", 0)
		for _, k := range []offset.Key{stays, goes, other} {
			s.commit(k, 10, 0)
		}
		a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: group, Chunks: 1}})
		s.send(a)
		a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: stays, Offset: 7}}}
		s.send(a)
		a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
		s.begin()
		ch := &Changes{}
		s.wantCode("the swap", s.Act(a, 0, ch).Code, offset.CodeOK)
		gone, before := []offset.Key{goes, other}, uint64(3)
		if group != "" {
			gone, before = gone[:1], 2
		}
		s.want("brought in", ch.Total, uint64(1))
		s.want("there before", ch.Replaced, before)
		s.want("described", len(ch.First), 1+len(gone))
		for i, k := range append([]offset.Key{stays}, gone...) {
			c := ch.First[i]
			s.want("a key", c.Key, k)
			s.want("before", c.Before.Position.Offset, int64(10))
			s.want("after", c.After, s.get(k))
		}
	}
}

// TestReplacesLeaveNoPairsBehind: what one replace leaves in the tree of topics is
// swept by the time the next has staged as much.
func TestReplacesLeaveNoPairsBehind(t *testing.T) {
	const topics, chunk = 6000, 3000
	s := newScript(t)
	for round := range 4 {
		a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: topics / chunk}})
		s.send(a)
		for c := range topics / chunk {
			a.Import = &offset.Import{Step: offset.ImportChunk, Chunk: uint32(c)}
			for i := range chunk {
				a.Import.Targets = append(a.Import.Targets, offset.Target{Key: qkey("g", fmt.Sprintf("t%d-%d", round, c*chunk+i), 0)})
			}
			s.send(a)
			s.Publish()
		}
		a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
		s.wantCode("the swap", s.send(a).Code, offset.CodeOK)
		s.Publish()
	}
	pairs := 0
	for c := s.Root().live.topics.all(sieve{}); ; c.next() {
		if _, ok := c.item(); !ok {
			break
		}
		pairs++
	}
	if pairs > 2*topics {
		t.Fatalf("%d pairs of %d topics", pairs, topics)
	}
}

// TestASwapBuriesFromTheEnd: taken away from the beginning, each of the parts of a
// group would move all those behind it.
func TestASwapBuriesFromTheEnd(t *testing.T) {
	s := newScript(t)
	for _, b := range []string{"b", "a", "c"} {
		s.commit(offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: b}}, 1, 0)
	}
	s.begin()
	s.replaceGroup(newSpace(s.gen), "g")
	var order []string
	for i := range s.stale {
		n, ok := s.stale[i].item()
		s.want("there was a key", ok, true)
		order = append(order, n.id.broker)
	}
	s.want("the order of brokers", fmt.Sprint(order), "[c b a]")
	s.want("parts that are left", s.live.live["g"] == nil, true)
	s.Publish()
	s.want("queues", s.Root().Queues(), uint64(0))
}
