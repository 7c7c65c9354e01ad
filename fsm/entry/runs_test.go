package entry

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// named is a request of one commit for each of n groups.
func named(n int, prefix string) *Request {
	c := &offset.Commits{}
	for i := range n {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: fmt.Sprint(prefix, i), Topic: "t", Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	return &Request{Commits: c}
}

// TestRunsOfAnEntryAreBounded: what costs the table more than its bytes tell does
// not come together without bound; a request that has more is alone.
func TestRunsOfAnEntryAreBounded(t *testing.T) {
	b := NewBuilder(offset.ClusterID{}, 1)
	add := func(r *Request, busy bool) {
		t.Helper()
		count, size := b.Count(), b.Len()
		switch err := b.Add(r); {
		case busy != errors.Is(err, offset.ErrBusy) || !busy && err != nil:
			t.Fatal(err)
		case busy && (b.Count() != count || b.Len() != size):
			t.Fatal("a refused request has left something")
		}
	}
	add(named(MaxRuns-1, "a"), false)
	add(named(2, "b"), true)
	add(named(1, "b"), false)
	add(named(1, "c"), true)
	set := &Request{Set: &offset.Set{Key: offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}}}
	add(set, true)
	b.Reset()
	add(named(offset.MaxCommits, "a"), false)
	add(named(1, "b"), true)
	b.Reset()
	for _, act := range []offset.Act{
		{Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}},
		{Remove: &offset.Remove{Scope: offset.Scope{Topic: "t", HasBroker: true, Broker: "b"}}},
		{Clone: &offset.Clone{From: "g", To: "h"}},
		{Expire: &offset.Expire{Groups: []offset.Idle{{Group: "g"}}}},
	} {
		wide := &Request{Act: &act}
		b.Reset()
		add(set, false)
		add(wide, true) // it costs what its scope holds, which nobody knows here
		b.Reset()
		add(wide, false)
		add(wide, true)
		add(set, true)
		add(named(1, "a"), true)
		add(&Request{Checkpoint: true}, false)
	}
	one := &Request{Act: &offset.Act{Remove: &offset.Remove{Scope: offset.Scope{Group: "g", Topic: "t", HasBroker: true, HasQueue: true}}}}
	b.Reset()
	add(one, false)
	add(named(MaxRuns-2, "a"), false)
	add(one, false)
	add(one, true)
	b.Reset()
	add(set, false)
	add(named(MaxRuns, "a"), true)
	add(named(MaxRuns-1, "a"), false)
}
