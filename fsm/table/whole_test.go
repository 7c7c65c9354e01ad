package table

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// checkWhole fails if what a root keeps for quick answers (gauges, sums, counts,
// pairs) is not what its positions add up to.
func checkWhole(tb testing.TB, r *Root) {
	tb.Helper()
	r.live.checkWhole(tb)
	r.staged.checkWhole(tb)
}

func (v *view) checkWhole(tb testing.TB) {
	tb.Helper()
	var total sum
	queues := uint64(0)
	if v.parts.root != nil {
		v.parts.root.check(tb, byBroker, true)
	}
	for c := v.parts.all(sieve{}); ; c.next() {
		p, ok := c.item()
		if !ok {
			break
		}
		p.checkWhole(tb, v)
		total, queues = add(total, p.sum), queues+uint64(p.queues)
	}
	if total != v.sum || queues != v.queues {
		tb.Fatalf("%d queues with sum %v, want %d with %v", v.queues, v.sum, queues, total)
	}
	if places, pairs := counted(&v.groups), counted(&v.topics); places != v.places || pairs != v.pairs {
		tb.Fatalf("%d places and %d pairs are counted, want %d and %d", v.places, v.pairs, places, pairs)
	}
}

// counted is how many items a tree holds.
func counted(t *tree[*ident]) (n int) {
	for c := t.all(sieve{}); ; c.next() {
		if _, ok := c.item(); !ok {
			return n
		}
		n++
	}
}

func (p *part) checkWhole(tb testing.TB, v *view) {
	tb.Helper()
	p.nodes.root.check(tb, byRun, true)
	if p.shown() != p.summary() {
		tb.Fatalf("%+v is shown of group %q, want %+v", p.shown(), p.id.group, p.summary())
	}
	total, queues := hashBase(p.id, p.base), 0
	for c := p.nodes.all(sieve{}); ; c.next() {
		n, ok := c.item()
		if !ok {
			break
		}
		was := n.gauge
		if n.measure(); n.gauge != was {
			tb.Fatalf("gauge %+v of a node, want %+v", was, n.gauge)
		}
		for i := range n.queues {
			total = add(total, n.queues[i].hash(n.id.hash()))
		}
		queues += len(n.queues)
		_, paired := v.topics.get(byTopic, place{n.id, 0})
		if _, grouped := v.groups.get(byGroup, place{p.id, 0}); !grouped || !paired && v.base == (Stamp{}) {
			tb.Fatalf("%q on topic %q is not in the trees of names", n.id.group, n.id.topic)
		}
	}
	if total != p.sum || queues != int(p.queues) {
		tb.Fatalf("%d queues of group %q with sum %v, want %d with %v", p.queues, p.id.group, p.sum, queues, total)
	}
}

// TestNodesSplitInTheMiddleOfABatch: a node that a batch has marked or raised
// already, and cuts in two, is counted once where its page is cut as well; else
// a search for what is pending or new passes over it.
func TestNodesSplitInTheMiddleOfABatch(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 5))
	for range 20 {
		tab := New(testCluster)
		p := newPlain(testCluster, stepQueues)
		for i := range uint64(60) {
			tab.Begin(i+1, 5)
			p.Begin(i+1, 5)
			for j := range 4 {
				a := &offset.Act{ID: offset.ActID{1, byte(i), byte(j)}, Base: i, Cluster: testCluster, Reset: &offset.Reset{}}
				from := r.Int32N(6000)
				for n := range int32(40) {
					k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: from + n*(1+r.Int32N(3))}}
					if len(a.Reset.Targets) == 0 || a.Reset.Targets[len(a.Reset.Targets)-1].Key.Compare(k) < 0 {
						a.Reset.Targets = append(a.Reset.Targets, offset.Target{Key: k, Offset: int64(i)})
					}
				}
				o := op{act: a}
				if got, want := fmt.Sprint(applyOp(tab, o, nil)), fmt.Sprint(p.apply(o)); got != want {
					t.Fatalf("got %s\nwant %s", got, want)
				}
			}
			if r.IntN(8) == 0 {
				tab.Publish()
				checkWhole(t, tab.Root())
			}
		}
		tab.Publish()
		checkWhole(t, tab.Root())
		checkAgainst(t, tab.Root(), p)
		want := p.rows(func(ks offset.KeyedState) bool { return ks.Position.Pending })
		if got := pages(t, tab.Root(), offset.List{What: offset.ListKeys, Pending: true, Limit: 1000}).Keys; len(got) != len(want) {
			t.Fatalf("%d pending positions are listed, want %d", len(got), len(want))
		}
	}
}
