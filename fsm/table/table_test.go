package table

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// TestCommitsInAnyEntries: the same commits of one epoch, split over entries in
// any way and order, end in the same offsets.
func TestCommitsInAnyEntries(t *testing.T) {
	seed := seedOf(t)
	for i := range uint64(50) {
		g := newGen(seed+i, newPlain(testCluster, 5))
		var list []offset.Commit
		for range 60 {
			list = append(list, offset.Commit{Key: g.key(), Offset: g.Int64N(100)})
		}
		var want []offset.Target
		for round := range 4 {
			g.Shuffle(len(list), func(a, b int) { list[a], list[b] = list[b], list[a] })
			tab := New(testCluster)
			for at, rest := uint64(1), list; len(rest) > 0; at++ {
				n := 1 + g.IntN(len(rest))
				topics, _ := offset.GroupCommits(rest[:n])
				tab.Begin(at, 0)
				tab.Commit(&offset.Commits{Cluster: testCluster, Topics: topics}, nil)
				rest = rest[n:]
			}
			tab.Publish()
			var got []offset.Target
			tab.Root().Walk(&offset.List{}, func(ks offset.KeyedState) bool {
				got = append(got, offset.Target{Key: ks.Key, Offset: ks.Position.Offset})
				return true
			})
			if round == 0 {
				want = got
			} else if !slices.Equal(got, want) {
				t.Fatalf("seed %d:\n got %v\nwant %v", seed+i, got, want)
			}
		}
	}
}

// TestOldRequestsChangeNothing sends every request of a history again, late and
// in any order: commits and acts that were applied change nothing. (A Set that
// compares what happens to be there again is another matter: it is not sent.)
func TestOldRequestsChangeNothing(t *testing.T) {
	seed := seedOf(t)
	for i := range uint64(30) {
		p := newPlain(testCluster, 4)
		g := newGen(seed+i, p)
		tab := newTestTable(4)
		var done []op
		for range 60 {
			tab = replay(tab, []logEntry{g.entry(func(o op, a answer) {
				ok := a.res.Code == offset.CodeOK && a.res.Done
				for _, v := range a.verdicts {
					ok = ok && v.Code == offset.CodeOK
				}
				if ok && (o.commits != nil || o.act != nil && p.Remembers(o.act.ID)) {
					done = append(done, o)
				}
			})})
		}
		rows := fmt.Sprint(p.rows(func(offset.KeyedState) bool { return true }), p.Floors, p.FloorAll, p.Claims, p.LastAct)
		g.Shuffle(len(done), func(a, b int) { done[a], done[b] = done[b], done[a] })
		for _, o := range done {
			g.index++
			p.Begin(g.index, 0)
			p.apply(o)
			tab = replay(tab, []logEntry{{index: g.index, ops: []op{o}}})
		}
		checkAgainst(t, tab.Root(), p)
		if now := fmt.Sprint(p.rows(func(offset.KeyedState) bool { return true }), p.Floors, p.FloorAll, p.Claims, p.LastAct); now != rows {
			t.Fatalf("seed %d:\n now %s\n was %s", seed+i, now, rows)
		}
	}
}

// TestChanges: the audit log gets every key that changes counted, and the first
// 100 with what was before and after.
func TestChanges(t *testing.T) {
	s := newScript(t)
	for q := range int32(250) {
		s.commit(qkey("g", "t", q), int64(q), 0)
	}
	var ch Changes
	s.begin()
	a := s.newAct(resetAct(7, qkey("g", "t", 3)))
	s.Act(a, 0, &ch)
	want := Change{
		Key:    qkey("g", "t", 3),
		Before: offset.KeyState{Exists: true, Position: offset.Position{Offset: 3, Index: 4, Time: 4000}},
		After:  offset.KeyState{Exists: true, Epoch: s.at, Position: offset.Position{Offset: 7, Index: s.at, Epoch: s.at, Time: int64(s.at) * 1000, Pending: true}},
	}
	s.want("changes of a reset", ch, Changes{Total: 1, First: []Change{want}})
	ch.Reset()
	s.begin()
	s.Act(a, 0, &ch)
	s.want("changes of a resend", ch.Total, uint64(0))
	s.Act(s.newAct(removeAct(offset.Scope{Group: "g"})), 0, &ch)
	s.want("changes of a removal", ch.Total, uint64(250))
	s.want("described", len(ch.First), offset.MaxNames)
	s.want("the 100th", ch.First[99].Key, qkey("g", "t", 99))
	s.want("what is after it", ch.First[99].After, offset.KeyState{Epoch: s.at, Position: offset.Position{Epoch: s.at}})
	s.want("which is what is read", s.get(qkey("g", "t", 99)), ch.First[99].After)
	s.Act(s.newAct(removeAct(offset.Scope{Group: "g"})), 0, nil)
}

// TestFloorsHaveABound: the scope that is forgotten raises the floor of all.
func TestFloorsHaveABound(t *testing.T) {
	s := newScript(t)
	s.do(removeAct(offset.Scope{Group: "g0"}))
	first := s.at
	s.do(removeAct(offset.Scope{Topic: "t0"}))
	second := s.at
	for i := range offset.MaxFloors - 2 {
		s.do(removeAct(offset.Scope{Group: fmt.Sprint("x", i)}))
	}
	s.want("the floor of a group", s.get(qkey("g0", "a", 0)).Epoch, first)
	s.want("of a topic", s.get(qkey("y", "t0", 0)).Epoch, second)
	s.want("of neither", s.get(qkey("y", "a", 0)).Epoch, uint64(0))
	s.do(removeAct(offset.Scope{Group: "g0"})) // it is the newest now
	s.want("the floor of all", s.get(qkey("y", "a", 0)).Epoch, uint64(0))
	s.do(removeAct(offset.Scope{Group: "another"}))
	s.want("the floor of all", s.get(qkey("y", "a", 0)).Epoch, second)
	s.want("floors", len(s.Root().Rest().Floors), offset.MaxFloors)
	s.want("of the group that moved again", s.get(qkey("g0", "a", 0)).Epoch, s.at-1)
}

// TestFloorOfARemoval says which scope's floor each removal moves.
func TestFloorOfARemoval(t *testing.T) {
	for _, c := range []struct {
		scope        offset.Scope
		group, topic bool
	}{
		{offset.Scope{Group: "g"}, true, false},
		{offset.Scope{Group: "g", HasBroker: true, Broker: "b"}, true, false},
		{offset.Scope{Group: "g", Topic: "t"}, true, false},
		{offset.Scope{Group: "g", Topic: "t", HasBroker: true, Broker: "b", HasQueue: true}, true, false},
		{offset.Scope{Topic: "t"}, false, true},
		{offset.Scope{Topic: "t", HasBroker: true, Broker: "b"}, false, true},
	} {
		s := newScript(t)
		s.commit(qkey("g", "t", 0), 1, 0)
		s.do(removeAct(c.scope))
		s.wantNone(qkey("g", "t", 0))
		s.want(fmt.Sprintf("%+v, another topic of the group", c.scope), s.get(qkey("g", "z", 0)).Epoch == s.at, c.group)
		s.want(fmt.Sprintf("%+v, another group of the topic", c.scope), s.get(qkey("z", "t", 0)).Epoch == s.at, c.topic)
	}
}

func TestMembersAndLevel(t *testing.T) {
	tab := New(testCluster)
	for i := range offset.MaxMembers + 1 {
		tab.Announce(offset.Member{ID: fmt.Sprintf("n%02d", 40-i), API: "a"})
	}
	tab.Announce(offset.Member{ID: "n30", API: "b", MaxLevel: 3})
	tab.Publish()
	old := tab.Root()
	if n := len(old.Members()); n != offset.MaxMembers || old.Members()[0].ID != "n09" {
		t.Fatalf("%d members, the first %v", n, old.Members()[0])
	}
	if m := old.Members()[21]; m != (offset.Member{ID: "n30", API: "b", MaxLevel: 3}) {
		t.Fatalf("announced again: %+v", m)
	}
	tab.RemoveMember("n30")
	tab.RemoveMember("nobody")
	tab.RaiseLevel(2)
	tab.RaiseLevel(1)
	tab.Publish()
	if len(old.Members()) != offset.MaxMembers || len(tab.Root().Members()) != offset.MaxMembers-1 {
		t.Fatal("a root that was published has changed, or the member is still there")
	}
	if old.Level() != 1 || tab.Root().Level() != 2 {
		t.Fatalf("levels %d, %d", old.Level(), tab.Root().Level())
	}
}

// TestTimeNeverGoesBack: a leader whose clock is behind counts as the one before.
func TestTimeNeverGoesBack(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.Begin(1, 5000)
	s.commitHere(k, 1, 0)
	s.Begin(2, 3000)
	s.commitHere(k, 2, 0)
	s.at = 2
	st := s.wantOffset(k, 2)
	s.want("time", st.Position.Time, int64(5000))
	s.want("index", st.Position.Index, uint64(2))
}

// TestAnswersNameAHundred: an act that leaves more keys alone counts all and
// names the first of them, also when it is cut in between.
func TestAnswersNameAHundred(t *testing.T) {
	s := newScript(t)
	s.Table.step = 40
	var keys []offset.Key
	for i := range int32(offset.MaxNames + 50) {
		keys = append(keys, qkey("g", "t", i))
	}
	late := []*offset.Act{}
	for _, a := range []offset.Act{resetAct(1, keys...), removeAct(offset.Scope{Group: "g"})} {
		late = append(late, s.newAct(a))
	}
	s.do(resetAct(5, keys...))
	for _, a := range late {
		res := s.send(a)
		s.wantCode("all are newer", res.Code, offset.CodeSuperseded)
		s.want("left alone", res.Kept, uint64(len(keys)))
		s.want("named", res.Names, keys[:offset.MaxNames])
		s.want("a resend", s.send(a), res)
	}
	s.wantOffset(keys[149], 5)
}
