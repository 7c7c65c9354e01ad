package table

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// ofOneTopic has n groups on one topic, each on two brokers.
func ofOneTopic(tb testing.TB, n int) *Table {
	t := New(testCluster)
	for at := 0; at < n; {
		c := offset.Commits{Cluster: testCluster}
		for range min(1000, n-at) {
			for _, b := range []string{"a", "b"} {
				c.Topics = append(c.Topics, offset.TopicCommits{Group: fmt.Sprintf("g%07d", at), Topic: "t", Broker: b, Queues: []offset.QueueCommit{{Offset: 1}}})
			}
			at++
		}
		t.Begin(t.index+1, 1)
		t.Commit(&c, nil)
		t.Publish()
	}
	return t
}

// TestAListingOfATopicIsGivenUp, although it has not come to a row yet.
func TestAListingOfATopicIsGivenUp(t *testing.T) {
	root := ofOneTopic(t, 5000).Root()
	for name, l := range map[string]*offset.List{
		"of a topic":             {What: offset.ListKeys, Topic: "t", Pending: true},
		"of a topic, one broker": {What: offset.ListKeys, Topic: "t", HasBroker: true, Broker: "none"},
		"of all":                 {What: offset.ListKeys},
	} {
		asked := 0
		_, whole := root.ListUntil(l, func() bool { asked++; return asked == 2 })
		if whole || asked != 2 {
			t.Errorf("%s: whole %v, asked %d times, want it given up the second time", name, whole, asked)
		}
		page, whole := root.ListUntil(l, func() bool { return false })
		want := 0
		if name == "of all" {
			want = 10_000
		}
		if !whole || len(page.Keys) != want || page.More {
			t.Errorf("%s: whole %v, %d rows, more %v; want %d", name, whole, len(page.Keys), page.More, want)
		}
	}
}

// TestGroupsOfATopicAreLeftOut: what has nothing that is looked for is not gone into.
func TestGroupsOfATopicAreLeftOut(t *testing.T) {
	const groups = 2000
	table := ofOneTopic(t, groups)
	k := qkey("g0001500", "t", 0)
	k.Broker = "b"
	table.Begin(table.index+1, 1)
	table.Act(&offset.Act{ID: offset.ActID{1}, Cluster: testCluster, Base: table.index, Reset: &offset.Reset{Targets: []offset.Target{{Key: k}}}}, 0, nil)
	table.Publish()
	root := table.Root()
	for _, l := range []*offset.List{
		{What: offset.ListKeys, Topic: "t", Pending: true},
		{What: offset.ListKeys, Topic: "t", NewerThan: root.Index() - 1},
	} {
		page := offset.Page{}
		allocations := testing.AllocsPerRun(3, func() { page = root.List(l) })
		if len(page.Keys) != 1 || page.Keys[0].Key != k {
			t.Errorf("%+v: %d rows, %+v", l, len(page.Keys), page.Keys)
		}
		if allocations > groups/10 { // a group that is gone into takes some
			t.Errorf("%+v: %.0f allocations for one row", l, allocations)
		}
	}
}

// BenchmarkPendingOfATopic lists what is pending of a topic of 100,000 groups: nothing.
func BenchmarkPendingOfATopic(b *testing.B) {
	root := ofOneTopic(b, 100_000).Root()
	l := &offset.List{What: offset.ListKeys, Topic: "t", Pending: true}
	for b.Loop() {
		if page := root.List(l); len(page.Keys) != 0 {
			b.Fatal(len(page.Keys))
		}
	}
}
