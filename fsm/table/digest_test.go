package table

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// dump is all that a snapshot of a root holds.
type dump struct {
	rest *Rest
	runs []*TopicState
}

func dumpOf(tb testing.TB, r *Root) dump {
	tb.Helper()
	d := dump{rest: r.Rest()}
	d.rest.Floors, d.rest.Acts = slices.Clone(d.rest.Floors), slices.Clone(d.rest.Acts)
	err := r.Topics(func(s *TopicState) error {
		c := *s
		c.Queues = slices.Clone(s.Queues)
		d.runs = append(d.runs, &c)
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func (d dump) load(tb testing.TB) *Root {
	tb.Helper()
	b := NewBuilder(d.rest)
	for _, s := range d.runs {
		if err := b.AddTopic(s); err != nil {
			tb.Fatal(err)
		}
	}
	t, err := b.Done()
	if err != nil {
		tb.Fatal(err)
	}
	return t.Root()
}

// rich is a state that has something of everything.
func rich(tb testing.TB) *Root {
	s := newScript(tb)
	s.Table.step = 1
	s.Announce(offset.Member{ID: "n1/x", API: "a:1", MaxLevel: 1})
	s.Announce(offset.Member{ID: "n2/x", API: "b:1", MaxLevel: 1})
	k, l := qkey("g", "t", 0), qkey("g", "u", 3)
	s.commit(k, 10, 0)
	s.commit(l, 10, 0)
	s.commit(qkey("h", "t", 0), 10, 0)
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: "r", Chunks: 1}})
	s.send(a)
	a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: qkey("r", "t", 0), Offset: 5}}}
	s.send(a)
	a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
	s.wantCode("swap", s.send(a).Code, offset.CodeOK)
	s.do(resetAct(4, k))
	s.do(takeAct(true, "b"))
	s.do(removeAct(offset.Scope{Group: "h"}))
	s.do(removeAct(offset.Scope{Topic: "w"}))
	cut := s.newAct(removeAct(offset.Scope{Group: "g"}))
	s.begin()
	s.want("cut", s.Act(cut, 0, nil).Done, false)
	kept := s.newAct(resetAct(4, l))
	kept.Base = 0
	s.do(resetAct(9, l))
	s.send(kept)
	b := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Chunks: 2, Offsets: 3, Hash: [32]byte{5}}})
	s.send(b)
	b.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: l, Offset: 77}}}
	s.send(b)
	s.Publish()
	return s.Root()
}

// underway is the id of an act under way that is not the import.
func underway(r *Rest, imp offset.ActID) offset.ActID {
	i := slices.IndexFunc(r.Acts, func(a ActRecord) bool { return !a.Result.Done && a.ID != imp })
	return r.Acts[i].ID
}

// TestDigestCoversEverything changes each thing that a snapshot holds, one at a
// time: the digest is another each time, and the same when nothing is changed.
func TestDigestCoversEverything(t *testing.T) {
	root := rich(t)
	if d := dumpOf(t, root).load(t); d.Digest() != root.Digest() {
		t.Fatal("the digest is another after a reload")
	}
	live := func(d dump) *TopicState { return d.runs[0] }
	staged := func(d dump) *TopicState { return d.runs[len(d.runs)-1] }
	last := func(d dump) *ActRecord { return &d.rest.Acts[len(d.rest.Acts)-1] }
	seen := map[offset.Digest]string{root.Digest(): "unchanged"}
	for name, change := range map[string]func(d dump){
		"cluster":         func(d dump) { d.rest.Cluster[3]++ },
		"index":           func(d dump) { d.rest.Index++ },
		"time":            func(d dump) { d.rest.Time++ },
		"last act":        func(d dump) { d.rest.LastAct-- },
		"evicted":         func(d dump) { d.rest.Evicted++ },
		"level":           func(d dump) { d.rest.Level++ },
		"base of all":     func(d dump) { d.rest.Base.Index++ },
		"floor of all":    func(d dump) { d.rest.FloorOfAll++ },
		"floor, index":    func(d dump) { d.rest.Floors[0].Index++ },
		"floor, name":     func(d dump) { d.rest.Floors[0].Name += "x" },
		"floor, kind":     func(d dump) { d.rest.Floors[0].Topic = !d.rest.Floors[0].Topic },
		"floor, gone":     func(d dump) { d.rest.Floors = d.rest.Floors[1:] },
		"claim, index":    func(d dump) { d.rest.Claims[0].Index++ },
		"claim, holder":   func(d dump) { d.rest.Claims[0].Holder += "x" },
		"claim, kind":     func(d dump) { d.rest.Claims[0].ByBroker = false },
		"act, id":         func(d dump) { d.rest.Acts[0].ID[15]++ },
		"act, content":    func(d dump) { d.rest.Acts[0].Content[15]++ },
		"act, order":      func(d dump) { last(d).Order++ },
		"floor, order":    func(d dump) { d.rest.Floors[0].Order++ },
		"act, first":      func(d dump) { d.rest.Acts[0].First-- },
		"act, code":       func(d dump) { d.rest.Acts[0].Result.Code++ },
		"act, index":      func(d dump) { d.rest.Acts[0].Result.Index++ },
		"act, changed":    func(d dump) { d.rest.Acts[0].Result.Changed++ },
		"act, kept":       func(d dump) { d.rest.Acts[0].Result.Kept++ },
		"act, next":       func(d dump) { last(d).Result.Next++ },
		"act, names":      func(d dump) { last(d).Result.Names = []offset.Key{{Group: "q"}} },
		"act, cursor":     func(d dump) { last(d).Cursor.Topic += "x" },
		"act, begun":      func(d dump) { last(d).Begun = !last(d).Begun },
		"act, seen":       func(d dump) { last(d).Seen = !last(d).Seen },
		"act, item":       func(d dump) { last(d).Item++ },
		"import, id":      func(d dump) { d.rest.Import.ID = underway(d.rest, d.rest.Import.ID) },
		"import, hash":    func(d dump) { d.rest.Import.Hash[31]++ },
		"import, next":    func(d dump) { d.rest.Import.Next++ },
		"import, chunks":  func(d dump) { d.rest.Import.Chunks++ },
		"import, offsets": func(d dump) { d.rest.Import.Offsets++ },
		"import, base":    func(d dump) { d.rest.Import.Base++ },
		"member, api": func(d dump) {
			d.rest.Members = []offset.Member{{ID: "n1/x", API: "a:2", MaxLevel: 1}, d.rest.Members[1]}
		},
		"member, level": func(d dump) {
			d.rest.Members = []offset.Member{{ID: "n1/x", API: "a:1", MaxLevel: 2}, d.rest.Members[1]}
		},
		"member, gone":     func(d dump) { d.rest.Members = d.rest.Members[1:] },
		"queue, offset":    func(d dump) { live(d).Queues[0].Offset++ },
		"queue, index":     func(d dump) { live(d).Queues[0].Index++ },
		"queue, epoch":     func(d dump) { live(d).Queues[0].Epoch++ },
		"queue, time":      func(d dump) { live(d).Queues[0].Time++ },
		"queue, id":        func(d dump) { live(d).Queues[0].QueueID++ },
		"queue, pending":   func(d dump) { live(d).Queues[0].Pending = !live(d).Queues[0].Pending },
		"broker":           func(d dump) { live(d).Broker += "x" },
		"base of a group":  func(d dump) { d.runs[1].Base.Time++ },
		"staged, offset":   func(d dump) { staged(d).Queues[0].Offset++ },
		"staged, pending":  func(d dump) { staged(d).Queues[0].Pending = !staged(d).Queues[0].Pending },
		"staged, not live": func(d dump) { d.rest.StagedQueues--; d.runs = d.runs[:len(d.runs)-1] },
	} {
		d := dumpOf(t, root)
		if d.rest.Import != nil {
			imp := *d.rest.Import
			d.rest.Import = &imp
		}
		if change(d); name == "staged, not live" {
			d.runs = d.runs[:len(d.runs)-1]
		}
		got := d.load(t).Digest()
		if other, ok := seen[got]; ok {
			t.Errorf("%s: the digest is that of %q", name, other)
		}
		seen[got] = name
	}
}

// TestDigestEqualWhenTablesAre: two tables whose logs differ here and there have
// equal digests exactly when they hold the same.
func TestDigestEqualWhenTablesAre(t *testing.T) {
	seed := seedOf(t)
	equal, unequal := 0, 0
	for i := range uint64(300) {
		p := newPlain(testCluster, 5)
		g := newGen(seed+i, p)
		var log []logEntry
		for range 20 {
			log = append(log, g.entry(func(op, answer) {}))
		}
		other := slices.Clone(log)
		at := g.IntN(len(log))
		other[at].ops = slices.Clone(other[at].ops)
		if g.IntN(2) == 0 {
			other[at].ops = append(other[at].ops, other[g.IntN(at+1)].ops[0]) // once more, late
		} else {
			other[at].ops = other[at].ops[1:]
		}
		a, b := replay(newTestTable(5), log).Root(), replay(newTestTable(5), other).Root()
		same := fmt.Sprint(content(t, a)) == fmt.Sprint(content(t, b))
		if same != (a.Digest() == b.Digest()) {
			t.Fatalf("seed %d: same content: %v, same digest: %v", seed+i, same, !same)
		}
		if same {
			equal++
		} else {
			unequal++
		}
	}
	if equal < 20 || unequal < 20 {
		t.Fatalf("%d equal, %d not: the test is to have both", equal, unequal)
	}
}

// content is a dump in a form that prints without pointers.
func content(t *testing.T, r *Root) []any {
	d := dumpOf(t, r)
	imp := offset.ImportStatus{}
	if d.rest.Import != nil {
		imp = *d.rest.Import
	}
	d.rest.Import = nil
	out := []any{*d.rest, imp}
	for _, s := range d.runs {
		out = append(out, *s)
	}
	return out
}

// TestDamagedSnapshots are refused.
func TestDamagedSnapshots(t *testing.T) {
	root := rich(t)
	for name, change := range map[string]func(d *dump){
		"an empty run":      func(d *dump) { d.runs[0].Queues = nil },
		"twice":             func(d *dump) { d.runs = slices.Insert(d.runs, 1, d.runs[0]) },
		"out of order":      func(d *dump) { d.runs[0], d.runs[1] = d.runs[1], d.runs[0] },
		"a queue twice":     func(d *dump) { d.runs[0].Queues = append(d.runs[0].Queues, d.runs[0].Queues[0]) },
		"live after staged": func(d *dump) { slices.Reverse(d.runs) },
		"no import":         func(d *dump) { d.rest.Import = nil },
		"a run less":        func(d *dump) { d.runs = d.runs[1:] },
		"an act twice":      func(d *dump) { d.rest.Acts = append(d.rest.Acts, d.rest.Acts[0]) },
		"too many acts": func(d *dump) {
			for i := range offset.MaxActs {
				d.rest.Acts = append(d.rest.Acts, ActRecord{ID: offset.ActID{9, byte(i), byte(i >> 8)}, First: 1 << 40, Result: offset.ActResult{Done: true}})
			}
		},
		"too many acts under way": func(d *dump) {
			for i := range maxUnderway + 1 {
				d.rest.Acts = append(d.rest.Acts, ActRecord{ID: offset.ActID{9, byte(i)}, First: 1 << 40})
			}
		},
		"acts out of order": func(d *dump) { slices.Reverse(d.rest.Acts) },
		"an import without its act": func(d *dump) {
			imp := *d.rest.Import
			imp.ID[0]++
			d.rest.Import = &imp
		},
		"an import whose act is done": func(d *dump) {
			for i := range d.rest.Acts {
				d.rest.Acts[i].Result.Done = true
			}
		},
		"floors out of order": func(d *dump) { d.rest.Floors = append([]Floor{{Name: "z", Index: 1 << 40}}, d.rest.Floors...) },
		"a floor twice": func(d *dump) {
			d.rest.Floors = append(d.rest.Floors, Floor{Name: d.rest.Floors[0].Name, Topic: d.rest.Floors[0].Topic, Index: 1 << 40})
		},
		"members out of order": func(d *dump) { d.rest.Members = append(d.rest.Members, d.rest.Members[0]) },
		"two bases": func(d *dump) {
			d.runs = slices.Insert(d.runs, len(d.runs)-1, &TopicState{Group: "r", Topic: "z", Broker: "b", Queues: []QueueState{{Offset: 1}}})
		},
	} {
		d := dumpOf(t, root)
		change(&d)
		b := NewBuilder(d.rest)
		var err error
		for _, s := range d.runs {
			if err = b.AddTopic(s); err != nil {
				break
			}
		}
		if err == nil {
			_, err = b.Done()
		}
		if offset.CodeOf(err) != offset.CodeDamaged {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDigestTellsTheOrderOfEquals: floors that moved in one entry, and acts that
// began in one, are forgotten in their order. So states that differ in it alone
// differ in their digests.
func TestDigestTellsTheOrderOfEquals(t *testing.T) {
	digest := func(first, second string) offset.Digest {
		s := newScript(t)
		a, b := s.newAct(removeAct(offset.Scope{Group: first})), s.newAct(removeAct(offset.Scope{Group: second}))
		if first > second { // the acts are the same, only their order is not
			a.ID, b.ID = b.ID, a.ID
		}
		s.begin()
		s.Act(a, 0, nil)
		s.Act(b, 0, nil)
		d := s.Digest()
		s.Publish()
		dumped := dumpOf(t, s.Root())
		s.want("the digest of what is restored", dumped.load(t).Digest(), d)
		s.want("orders", []uint32{dumped.rest.Floors[0].Order, dumped.rest.Floors[1].Order, dumped.rest.Acts[0].Order, dumped.rest.Acts[1].Order}, []uint32{0, 1, 0, 1})
		return d
	}
	if digest("a", "b") == digest("b", "a") {
		t.Fatal("both orders have one digest")
	}
}

// TestLongRunsWithABase: a run of a snapshot may have more queues than a node.
func TestLongRunsWithABase(t *testing.T) {
	run := &TopicState{Group: "g", Topic: "t", Broker: "b", Base: Stamp{7, 7}}
	for i := range int32(3*maxQueues + 1) {
		run.Queues = append(run.Queues, QueueState{QueueID: i, Offset: int64(i)})
	}
	b := NewBuilder(&Rest{Cluster: testCluster, Index: 9, Level: 1, Queues: uint64(len(run.Queues))})
	if err := b.AddTopic(run); err != nil {
		t.Fatal(err)
	}
	tab, err := b.Done()
	if err != nil {
		t.Fatal(err)
	}
	checkWhole(t, tab.Root())
	if got := tab.Root().Get(qkey("g", "t", 3*maxQueues)); got.Position != (offset.Position{Offset: 3 * maxQueues, Index: 7, Epoch: 7, Time: 7}) {
		t.Fatalf("%+v", got)
	}
}
