package node

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// onBrokersOf is a request that names one queue of a group on each of n brokers.
func onBrokersOf(group string, from, n int) *entry.Request {
	r := &entry.Request{Commits: &offset.Commits{Cluster: limitedCluster}}
	for i := range n {
		r.Commits.Topics = append(r.Commits.Topics, offset.TopicCommits{
			Group: group, Topic: "t", Broker: fmt.Sprintf("b%05d", from+i), Queues: []offset.QueueCommit{{Offset: 1}},
		})
	}
	return r
}

// wants admits a request, and applies it if it is within the limits.
func (l *limited) wants(what string, r *entry.Request, want error) {
	l.Helper()
	err := l.admit(r)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		l.Errorf("%s: %v, want %v", what, err, want)
	}
	if err == nil {
		l.apply(r)
	}
}

// fullOfBrokers has as many brokers in a group as it may have.
func fullOfBrokers(tb testing.TB) *limited {
	l := newLimited(tb, Limits{Queues: 1_000_000, Groups: 1000})
	const half = offset.MaxBrokers / 2
	l.wants("half of the brokers", onBrokersOf("g", 0, half), nil)
	l.wants("the other half", onBrokersOf("g", half, half), nil)
	return l
}

// TestBrokersOfAGroupAreBounded: a replace takes the parts of a group away in one
// entry, one for each broker.
func TestBrokersOfAGroupAreBounded(t *testing.T) {
	const most = offset.MaxBrokers
	l := fullOfBrokers(t)
	l.wants("one broker more", onBrokersOf("g", most, 1), offset.ErrLimit)
	l.wants("two, of which it has one", onBrokersOf("g", most-1, 2), offset.ErrLimit)
	l.wants("all that it has", onBrokersOf("g", 0, 2000), nil)
	l.wants("another group", onBrokersOf("h", most, 1), nil)
	set := &entry.Request{Set: &offset.Set{Cluster: limitedCluster, Key: offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "new"}}}}
	l.wants("a set on one broker more", set, offset.ErrLimit)
	if got := len(l.machine.Root().BrokersOf("g", "")); got != most {
		t.Errorf("the group is on %d brokers, want %d", got, most)
	}
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Remove: &offset.Remove{Scope: offset.Scope{Group: "g", HasBroker: true, Broker: "b00000"}}}))
	other := onBrokersOf("g", most, 1)
	other.Commits.Topics[0].Queues[0].Epoch = l.index // that of the removal
	l.wants("one in the place of another", other, nil)
	l.term = func() uint64 { return 2 } // what another leader counts anew
	l.wants("one more in a new term", onBrokersOf("g", most+1, 1), offset.ErrLimit)
}

// TestABrokerThatIsThereCostsASearch, however many the group has: a list of them for
// each commit would hold up all others.
func TestABrokerThatIsThereCostsASearch(t *testing.T) {
	l := fullOfBrokers(t)
	l.wants("more names than a group may have", onBrokersOf("h", offset.MaxBrokers, 1), nil)
	one := onBrokersOf("g", 7, 1)
	if n := testing.AllocsPerRun(1000, func() { _ = l.admit(one) }); n != 0 {
		t.Errorf("%.0f allocations to admit a commit on a broker of the group", n)
	}
}

// TestBrokersThatAreUnderWayCount: where they may take the room left, who adds one
// is told to come again.
func TestBrokersThatAreUnderWayCount(t *testing.T) {
	l := newLimited(t, Limits{Queues: 1_000_000, Groups: 1000})
	flying := 0
	l.unapplied = func() int { return flying }
	l.wants("other brokers", onBrokersOf("h", offset.MaxBrokers, 2000), nil)
	l.wants("the most but one", onBrokersOf("g", 0, 2000), nil)
	l.wants("the most but one", onBrokersOf("g", 2000, offset.MaxBrokers-2001), nil)
	last := onBrokersOf("g", 2*offset.MaxBrokers, 1)
	if err := l.admit(last); err != nil {
		t.Fatalf("the last: %v", err)
	}
	flying = 1
	if err := l.admit(onBrokersOf("g", 3*offset.MaxBrokers, 1)); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("one more while the last is under way: %v, want %v", err, offset.ErrBusy)
	}
	l.apply(last)
	flying = 0
	if err := l.admit(onBrokersOf("g", 3*offset.MaxBrokers, 1)); !errors.Is(err, offset.ErrLimit) {
		t.Errorf("one more: %v, want %v", err, offset.ErrLimit)
	}
}

// TestBrokersUnderWayCountForTheirGroup alone: what others add keeps nobody waiting.
func TestBrokersUnderWayCountForTheirGroup(t *testing.T) {
	const most = offset.MaxBrokers
	l := newLimited(t, Limits{Queues: 1_000_000, Groups: 100_000})
	flying := 0
	l.unapplied = func() int { return flying }
	l.wants("some brokers", onBrokersOf("x", 0, 2400), nil)
	l.wants("other brokers", onBrokersOf("y", 2400, 2400), nil)
	var under []*entry.Request
	for i := range 3 {
		many := &entry.Request{Commits: &offset.Commits{Cluster: limitedCluster}}
		for j := range 2000 {
			many.Commits.Topics = append(many.Commits.Topics, onBrokersOf(fmt.Sprint("g", i, "-", j), 1, 1).Commits.Topics...)
		}
		under = append(under, many, onBrokersOf(fmt.Sprint("h", i), 0, 2000))
	}
	for i, r := range under {
		if err := l.admit(r); err != nil {
			t.Fatalf("request %d, of groups of its own: %v", i, err)
		}
		flying++
	}
	if err := l.admit(onBrokersOf("h0", 2000, most-2000+1)); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("a group that has 2,000 under way, and %d more: %v", most-2000+1, err)
	}
	for _, r := range under {
		l.apply(r)
		flying--
	}
	l.wants("as many as there is room for, once those have landed", onBrokersOf("h0", 2000, most-2000), nil)
	if n := len(l.brokers.under); n > 1 {
		t.Errorf("%d groups count as under way that have landed", n)
	}
}

// TestBrokersThatAreUnderWayUnseen: of what was admitted before there were as many
// names as a group may have brokers only the names were looked at.
func TestBrokersThatAreUnderWayUnseen(t *testing.T) {
	const most = offset.MaxBrokers
	l := newLimited(t, Limits{Queues: 1_000_000, Groups: 1000})
	flying := 0
	l.unapplied = func() int { return flying }
	l.wants("some brokers", onBrokersOf("g", 0, 2400), nil)
	rest := onBrokersOf("g", 2400, most-2400)
	if err := l.admit(rest); err != nil {
		t.Fatal(err)
	}
	flying = 1
	one := onBrokersOf("g", most, 1)
	if err := l.admit(one); !errors.Is(err, offset.ErrBusy) {
		t.Errorf("one more while the rest is under way: %v", err)
	}
	if err := l.admit(onBrokersOf("g", 0, 1)); err != nil {
		t.Errorf("a broker that is there: %v", err)
	}
	l.apply(rest) // and flying is the request after it
	l.wants("one more", one, offset.ErrLimit)
	l.wants("one for another group", onBrokersOf("h", most, 1), nil)
}

// TestAClonesBrokersAreBounded, and count only where the other group lacks them.
func TestAClonesBrokersAreBounded(t *testing.T) {
	l := fullOfBrokers(t)
	clone := func(id byte, c offset.Clone) *entry.Request {
		return l.act(offset.Act{ID: offset.ActID{id}, Clone: &c})
	}
	l.wants("another group on another broker", onBrokersOf("h", offset.MaxBrokers, 1), nil)
	l.wants("all over it", clone(1, offset.Clone{From: "g", To: "h"}), offset.ErrLimit)
	l.wants("one broker's", clone(2, offset.Clone{From: "g", To: "h", HasBroker: true, Broker: "b00001"}), nil)
	l.wants("a topic that is not there", clone(3, offset.Clone{From: "g", To: "h", Topic: "u"}), nil)
	l.wants("all to a new group", clone(4, offset.Clone{From: "g", To: "i"}), nil)
}

// TestAnImportsBrokersAreBounded: what a replace stages counts by itself.
func TestAnImportsBrokersAreBounded(t *testing.T) {
	const most = offset.MaxBrokers
	l := fullOfBrokers(t)
	chunk := func(id byte, at, from, n int) *entry.Request {
		i := &offset.Import{Step: offset.ImportChunk, Chunk: uint32(at)}
		for _, t := range onBrokersOf("g", from, n).Commits.Topics {
			i.Targets = append(i.Targets, offset.Target{Key: offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker}}})
		}
		return l.act(offset.Act{ID: offset.ActID{id}, Import: i})
	}
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 9}}))
	l.wants("a merge of one more", chunk(1, 0, most, 1), offset.ErrLimit)
	l.wants("a merge of what is there", chunk(1, 0, 0, 10), nil)
	l.apply(l.act(offset.Act{ID: offset.ActID{1}, Import: &offset.Import{Step: offset.ImportAbort}}))
	l.apply(l.act(offset.Act{ID: offset.ActID{2}, Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: 9}}))
	l.wants("a replace by others", chunk(2, 0, most, most), nil)
	l.wants("one more of it", chunk(2, 1, 0, 1), offset.ErrLimit)
	l.wants("the same again", chunk(2, 1, most, 10), nil)
}
