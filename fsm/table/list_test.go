package table

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// pages reads a listing page by page, and fails if a page says More and has none.
func pages(t *testing.T, r *Root, l offset.List) (out offset.Page) {
	t.Helper()
	for range 10_000 {
		p := r.List(&l)
		if p.Meta.Index != r.Index() || p.Meta.LastAct != r.LastAct() || p.Meta.Cluster != r.Cluster() {
			t.Fatalf("meta %+v", p.Meta)
		}
		out.Keys, out.Names = append(out.Keys, p.Keys...), append(out.Names, p.Names...)
		if !p.More {
			return out
		}
		switch {
		case len(p.Keys)+len(p.Names) != l.Limit:
			t.Fatalf("a page of %d rows with more behind it; %d were wanted", len(p.Keys)+len(p.Names), l.Limit)
		case l.What == offset.ListKeys:
			l.After = &p.Keys[len(p.Keys)-1].Key
		case l.What == offset.ListGroups:
			l.After = &offset.Key{Group: p.Names[len(p.Names)-1]}
		default:
			l.After = &offset.Key{MessageQueue: offset.MessageQueue{Topic: p.Names[len(p.Names)-1]}}
		}
	}
	t.Fatal("paging does not end")
	return out
}

func selects(l *offset.List, ks *offset.KeyedState) bool {
	k := &ks.Key
	return (l.Group == "" || k.Group == l.Group) && (l.Topic == "" || k.Topic == l.Topic) &&
		(!l.HasBroker || k.Broker == l.Broker) && (!l.Pending || ks.Position.Pending) &&
		(l.NewerThan == 0 || ks.Position.Index > l.NewerThan || ks.Epoch > l.NewerThan)
}

// names lists what ListGroups or ListTopics must give.
func (p *plain) names(l *offset.List) []string {
	var out []string
	bare := *l
	bare.Pending, bare.NewerThan = false, 0
	for _, ks := range p.rows(func(ks offset.KeyedState) bool { return selects(&bare, &ks) }) {
		n := ks.Key.Group
		if l.What == offset.ListTopics {
			n = ks.Key.Topic
		}
		if strings.HasPrefix(n, l.Prefix) && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func (g *gen) list() offset.List {
	l := offset.List{What: offset.ListKind(g.IntN(3)), Limit: 1 + g.IntN(7), HasBroker: g.IntN(3) == 0, Broker: g.broker()}
	if g.IntN(2) == 0 {
		l.Group = g.group()
	}
	if g.IntN(2) == 0 {
		l.Topic = g.topic()
	}
	if g.IntN(4) == 0 {
		l.Prefix = []string{"g", "t", "g1", "t2", "x"}[g.IntN(5)]
	}
	if g.IntN(2) == 0 {
		l.NewerThan = g.index - min(g.index-1, g.Uint64N(40))
	}
	l.Pending = g.IntN(3) == 0
	return l
}

// TestListings compares every kind of listing, read in small pages, with the
// plain model's rows.
func TestListings(t *testing.T) {
	seed := seedOf(t)
	for i := range uint64(15) {
		p := newPlain(testCluster, 7)
		g := newGen(seed+i, p)
		tab := newTestTable(7)
		for range 80 {
			tab = replay(tab, []logEntry{g.entry(func(op, answer) {})})
			for range 6 {
				l := g.list()
				got := pages(t, tab.Root(), l)
				if l.What != offset.ListKeys {
					if want := p.names(&l); !slices.Equal(got.Names, want) {
						t.Fatalf("seed %d, index %d, %+v:\n got %q\nwant %q", seed+i, g.index, l, got.Names, want)
					}
					continue
				}
				want := p.rows(func(ks offset.KeyedState) bool { return selects(&l, &ks) })
				if !slices.Equal(got.Keys, want) {
					t.Fatalf("seed %d, index %d, %+v:\n got %v\nwant %v", seed+i, g.index, l, got.Keys, want)
				}
			}
		}
	}
}

// TestManyQueues keeps more queues in one topic than a node holds, adds and
// removes them in any order, and reads them in pages.
func TestManyQueues(t *testing.T) {
	seed := seedOf(t)
	r := rand.New(rand.NewPCG(seed, 3))
	tab := New(testCluster)
	p := newPlain(testCluster, stepQueues)
	for i := range uint64(400) {
		tab.Begin(i+1, 5)
		p.Begin(i+1, 5)
		k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: r.Int32N(1000)}}
		if r.IntN(3) == 0 {
			k.QueueID = 2_000_000_000 + r.Int32N(100)
		}
		var o op
		if i%4 == 3 {
			o.act = &offset.Act{ID: offset.ActID{1, byte(i), byte(i >> 8)}, Base: i, Cluster: testCluster, Remove: &offset.Remove{Scope: offset.Scope{
				Group: "g", Topic: "t", HasBroker: true, HasQueue: true, QueueID: k.QueueID}}}
		} else {
			tc := offset.TopicCommits{Group: "g", Topic: "t"}
			for range 40 {
				tc.Queues = append(tc.Queues, offset.QueueCommit{QueueID: r.Int32N(1000), Offset: r.Int64N(99), Epoch: p.Floor("g", "t")})
			}
			tc.Queues = append(tc.Queues, offset.QueueCommit{QueueID: k.QueueID, Offset: 1, Epoch: p.Floor("g", "t")})
			o.commits = &offset.Commits{Cluster: testCluster, Topics: []offset.TopicCommits{tc}}
		}
		got, want := applyOp(tab, o, nil), p.apply(o)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("entry %d:\n got %v\nwant %v", i, got, want)
		}
		if i%20 == 0 {
			tab.Publish()
			checkAgainst(t, tab.Root(), p)
			got := pages(t, tab.Root(), offset.List{What: offset.ListKeys, Group: "g", Limit: 130})
			if want := p.rows(func(offset.KeyedState) bool { return true }); !slices.Equal(got.Keys, want) {
				t.Fatalf("entry %d: %d rows, want %d", i, len(got.Keys), len(want))
			}
		}
	}
	tab.Publish()
	if d := reload(t, tab.Root(), stepQueues).Root().Digest(); d != tab.Root().Digest() {
		t.Fatal("the digest is another after a reload")
	}
	if tab.live.part("g", "").nodes.root.size() < 4 {
		t.Fatal("the test is to have several nodes")
	}
}

// TestEmptyNames: the empty name is a name like any other, also where none is
// let in; else a snapshot would lack what the table holds.
func TestEmptyNames(t *testing.T) {
	s := newScript(t)
	keys := []offset.Key{{}, {MessageQueue: offset.MessageQueue{Topic: "t"}}, {Group: "g"}, qkey("g", "t", 0)}
	for i, k := range keys {
		s.wantCode("a commit", s.commit(k, int64(i)+1, 0).Code, offset.CodeOK)
	}
	s.Publish()
	r := reload(t, s.Root(), stepQueues).Root()
	s.want("the digest after a reload", r.Digest(), s.Root().Digest())
	for i, k := range keys {
		s.want("the offset", r.Get(k).Position.Offset, int64(i)+1)
	}
	s.want("rows", len(r.List(&offset.List{What: offset.ListKeys}).Keys), len(keys))
	s.want("rows of a topic", len(r.List(&offset.List{What: offset.ListKeys, Topic: "t"}).Keys), 2)
}

// TestOn: whether and on how many brokers a group is, held to the list of them, where
// other groups' names stand on both sides of its own.
func TestOn(t *testing.T) {
	s := newScript(t)
	random := rand.New(rand.NewPCG(7, 0))
	sizes := map[string]int{"f": 3, "g": 300, "g ": 40, "ga": 1, "h": 200}
	for group, n := range sizes {
		for range n {
			s.commit(offset.Key{Group: group, MessageQueue: offset.MessageQueue{Topic: "t", Broker: fmt.Sprint("b", random.IntN(900))}}, 1, 0)
		}
	}
	s.Publish()
	r := s.Root()
	sizes["none"] = 0
	for group := range sizes {
		list := r.BrokersOf(group, "")
		s.want("brokers of "+group, r.OnCount(group), len(list))
		for i := range 900 {
			broker := fmt.Sprint("b", i)
			s.want(group+" on "+broker, r.On(group, broker), slices.Contains(list, broker))
		}
	}
	s.want("staged", r.StagedOnCount("g"), 0)
	s.want("staged", r.StagedOn("g", "b1"), false)
}
