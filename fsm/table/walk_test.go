package table

import (
	"fmt"
	"slices"
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

// onManyBrokers has one group on one topic of n brokers.
func onManyBrokers(n int) *Table {
	t := New(testCluster)
	c := offset.Commits{Cluster: testCluster}
	for i := range n {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: "g", Topic: "t", Broker: fmt.Sprintf("b%04d", i), Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	t.Begin(1, 1)
	t.Commit(&c, nil)
	t.Publish()
	return t
}

// scattered has n groups, each on a broker of its own.
func scattered(n int) *Table {
	t := New(testCluster)
	c := offset.Commits{Cluster: testCluster}
	for i := range n {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: fmt.Sprintf("g%04d", n-i), Topic: "t", Broker: fmt.Sprintf("b%04d", i), Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	t.Begin(1, 1)
	t.Commit(&c, nil)
	t.Publish()
	return t
}

// TestAPageOfAllKeysLooksAtItsGroupsOnly, however many brokers there are.
func TestAPageOfAllKeysLooksAtItsGroupsOnly(t *testing.T) {
	const groups = 2000
	root := scattered(groups).Root()
	l := &offset.List{What: offset.ListKeys, After: &offset.Key{Group: "g1000", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b1000"}}, Limit: 10}
	page := offset.Page{}
	allocations := testing.AllocsPerRun(3, func() { page = root.List(l) })
	if len(page.Keys) != 10 || page.Keys[0].Key.Group != "g1001" || page.Keys[9].Key.Group != "g1010" || !page.More {
		t.Errorf("more %v, rows %+v", page.More, page.Keys)
	}
	if allocations > groups/10 { // a broker that is looked at takes some
		t.Errorf("%.0f allocations for ten rows", allocations)
	}
}

// TestPendingOnManyBrokers: rows come in key order, whatever brokers they are on.
func TestPendingOnManyBrokers(t *testing.T) {
	table := scattered(500)
	reset, want := &offset.Reset{}, []string(nil)
	for i := 7; i < 500; i += 7 { // the group gN is on the broker b(500-N)
		k := qkey(fmt.Sprintf("g%04d", i), "t", 0)
		k.Broker = fmt.Sprintf("b%04d", 500-i)
		reset.Targets, want = append(reset.Targets, offset.Target{Key: k}), append(want, k.Group)
	}
	table.Begin(2, 1)
	table.Act(&offset.Act{ID: offset.ActID{1}, Cluster: testCluster, Base: 1, Reset: reset}, 0, nil)
	table.Publish()
	for _, l := range []offset.List{{What: offset.ListKeys, Limit: 4, Pending: true}, {What: offset.ListKeys, Limit: 4, NewerThan: 1}} {
		var got []string
		for _, ks := range pages(t, table.Root(), l).Keys {
			got = append(got, ks.Key.Group)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: groups %q, want %q", l, got, want)
		}
	}
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

// TestAListingOfNamesIsGivenUp, as one of keys is.
func TestAListingOfNamesIsGivenUp(t *testing.T) {
	groups, brokers := ofOneTopic(t, 5000).Root(), onManyBrokers(5000).Root()
	for name, c := range map[string]struct {
		root *Root
		list offset.List
		want int // names
	}{
		"all groups":                {groups, offset.List{What: offset.ListGroups}, 5000},
		"groups of a topic":         {groups, offset.List{What: offset.ListGroups, Topic: "t", HasBroker: true, Broker: "none"}, 0},
		"groups on a broker":        {groups, offset.List{What: offset.ListGroups, HasBroker: true, Broker: "b"}, 5000},
		"topics on a broker":        {groups, offset.List{What: offset.ListTopics, HasBroker: true, Broker: "none"}, 0},
		"topics of a group":         {brokers, offset.List{What: offset.ListTopics, Group: "g"}, 1},
		"pending keys of all":       {scattered(5000).Root(), offset.List{What: offset.ListKeys, Pending: true}, 0},
		"pending keys of one group": {brokers, offset.List{What: offset.ListKeys, Group: "g", Pending: true}, 0},
	} {
		asked := 0
		if _, whole := c.root.ListUntil(&c.list, func() bool { asked++; return asked == 2 }); whole || asked != 2 {
			t.Errorf("%s: whole %v, asked %d times, want it given up the second time", name, whole, asked)
		}
		if page, whole := c.root.ListUntil(&c.list, func() bool { return false }); !whole || len(page.Names) != c.want || page.More {
			t.Errorf("%s: whole %v, %d names, more %v; want %d", name, whole, len(page.Names), page.More, c.want)
		}
	}
}

// TestOneNameIsFoundAtOnce, without a step over those below it.
func TestOneNameIsFoundAtOnce(t *testing.T) {
	groups, topics := ofOneTopic(t, 5000).Root(), New(testCluster)
	c := offset.Commits{Cluster: testCluster}
	for i := range 5000 {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: "g", Topic: fmt.Sprintf("t%04d", i), Broker: "b", Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	topics.Begin(1, 1)
	topics.Commit(&c, nil)
	topics.Publish()
	never := func() bool { t.Error("the listing took a thousand steps"); return true }
	for name, c := range map[string]struct {
		root *Root
		list offset.List
	}{
		"a group":               {groups, offset.List{What: offset.ListGroups, Group: "g0004999"}},
		"a group of a prefix":   {groups, offset.List{What: offset.ListGroups, Group: "g0004999", Prefix: "g"}},
		"a group of a topic":    {groups, offset.List{What: offset.ListGroups, Group: "g0004999", Topic: "t"}},
		"a group on a broker":   {groups, offset.List{What: offset.ListGroups, Group: "g0004999", HasBroker: true, Broker: "b"}},
		"a topic":               {topics.Root(), offset.List{What: offset.ListTopics, Topic: "t4999"}},
		"a topic of a group":    {topics.Root(), offset.List{What: offset.ListTopics, Group: "g", Topic: "t4999"}},
		"a topic beyond others": {topics.Root(), offset.List{What: offset.ListTopics, Topic: "t4999", After: &offset.Key{MessageQueue: offset.MessageQueue{Topic: "t1000"}}}},
	} {
		if page, whole := c.root.ListUntil(&c.list, never); !whole || len(page.Names) != 1 || page.More {
			t.Errorf("%s: whole %v, names %q, more %v; want the one name", name, whole, page.Names, page.More)
		}
	}
	for name, l := range map[string]offset.List{
		"not of the prefix": {What: offset.ListGroups, Group: "g0004999", Prefix: "h"},
		"already shown":     {What: offset.ListGroups, Group: "g0004999", After: &offset.Key{Group: "g0004999"}},
		"none":              {What: offset.ListGroups, Group: "g00049990"},
	} {
		if page, whole := groups.ListUntil(&l, never); !whole || len(page.Names) > 0 || page.More {
			t.Errorf("%s: whole %v, names %q, more %v; want none", name, whole, page.Names, page.More)
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
