package table

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/rule"
	"github.com/tidemark-mq/tidemark/offset"
)

// checkAgainst compares all that a reader can see.
func checkAgainst(t *testing.T, r *Root, p *plain) {
	t.Helper()
	checkWhole(t, r)
	if r.Index() != p.Index || r.Time() != p.Time || r.LastAct() != p.LastAct || r.Queues() != uint64(len(p.Keys)) {
		t.Fatalf("index %d time %d last act %d queues %d; want %d %d %d %d",
			r.Index(), r.Time(), r.LastAct(), r.Queues(), p.Index, p.Time, p.LastAct, len(p.Keys))
	}
	same := func(f Floor, want rule.Floor) bool { return rule.Floor(f) == want }
	if r.evicted != p.Evicted || r.floorAll != p.FloorAll || !slices.EqualFunc(r.floors.live(), p.Floors, same) {
		t.Fatalf("floors %d %v, evicted %d; want %d %v, %d", r.floorAll, r.floors.live(), r.evicted, p.FloorAll, p.Floors, p.Evicted)
	}
	want := p.rows(func(offset.KeyedState) bool { return true })
	var got []offset.KeyedState
	r.Walk(&offset.List{}, func(ks offset.KeyedState) bool { got = append(got, ks); return true })
	if !slices.Equal(got, want) {
		t.Fatalf("rows\n%v\nwant\n%v", got, want)
	}
	groups := map[string]uint64{}
	for _, ks := range want {
		groups[ks.Key.Group]++
		if st := r.Get(ks.Key); st != ks.KeyState {
			t.Fatalf("Get(%s) = %+v, want %+v", ks.Key, st, ks.KeyState)
		}
	}
	if r.Groups() != uint64(len(groups)) || r.Staged() != uint64(len(p.Staged)) {
		t.Fatalf("%d groups and %d staged, want %d and %d", r.Groups(), r.Staged(), len(groups), len(p.Staged))
	}
	for g, n := range groups {
		if r.QueuesOf(g) != n || r.QueuesOf(g+"-") != 0 {
			t.Fatalf("%d queues of %s, want %d", r.QueuesOf(g), g, n)
		}
	}
	if (r.Import() == nil) != (p.Import == nil) || p.Import != nil && *r.Import() != *p.Import {
		t.Fatalf("import %+v, want %+v", r.Import(), p.Import)
	}
}

// rows lists what is selected, in key order.
func (p *plain) rows(want func(offset.KeyedState) bool) (out []offset.KeyedState) {
	for k := range p.Keys {
		if ks := (offset.KeyedState{Key: k, KeyState: p.Get(k)}); want(ks) {
			out = append(out, ks)
		}
	}
	slices.SortFunc(out, func(a, b offset.KeyedState) int { return a.Key.Compare(b.Key) })
	return out
}

// reload passes a root through what a snapshot holds.
func reload(tb testing.TB, r *Root, step int) *Table {
	tb.Helper()
	b := NewBuilder(r.Rest())
	if err := r.Topics(b.AddTopic); err != nil {
		tb.Fatal(err)
	}
	t, err := b.Done()
	if err != nil {
		tb.Fatal(err)
	}
	t.step = step
	return t
}

// TestHistories runs random histories on the table and on the plain model: every
// answer and everything that can be read is the same; a replay, and a restart
// from a snapshot at any point, end in the same state. Expiries need a step that
// is above what they count of a group; small windows forget acts and floors.
func TestHistories(t *testing.T) {
	bounds := []Bounds{
		{offset.MaxActs, offset.MaxFloors, 5},
		{2 * maxUnderway, 2, expireGroup + 2},
		{2 * maxUnderway, 1, 40},
	}
	for i := range 60 {
		t.Run(fmt.Sprint(i), func(t *testing.T) { history(t, seedOf(t), bounds[i%len(bounds)], 120) })
	}
}

func history(t *testing.T, seed uint64, bounds Bounds, entries int) {
	p := newPlain(testCluster, bounds.Step)
	p.Bounds = rule.Bounds(bounds)
	g := newGen(seed, p)
	tab := NewBounded(testCluster, bounds)
	var log []logEntry
	restarted := map[int]*Table{}
	for i := range entries {
		var ops []op
		var want []answer
		e := g.entry(func(o op, a answer) { ops, want = append(ops, o), append(want, a) })
		log = append(log, e)
		tab.Begin(e.index, e.ms)
		for j, o := range ops {
			ch := &Changes{}
			if got := applyOp(tab, o, ch); !reflect.DeepEqual(got, want[j]) {
				t.Fatalf("entry %d, %s:\n got %+v\nwant %+v", e.index, describe(o), got, want[j])
			}
		}
		if g.IntN(3) > 0 {
			tab.Publish()
			checkAgainst(t, tab.Root(), p)
		}
		for at, r := range restarted {
			replay(r, []logEntry{e})
			if d, w := r.Digest(), tab.Digest(); d != w {
				t.Fatalf("restarted at %d, at entry %d: digest %s, want %s", at, i, d, w)
			}
		}
		if g.IntN(20) == 0 {
			tab.Publish()
			r := reload(t, tab.Root(), bounds.Step)
			r.acts.limit, r.floors.limit = bounds.Acts, bounds.Floors
			restarted[i] = r
			if d, w := restarted[i].Digest(), tab.Digest(); d != w {
				t.Fatalf("reloaded at %d: digest %s, want %s", i, d, w)
			}
		}
	}
	tab.Publish()
	again := replay(NewBounded(testCluster, bounds), log)
	if d, w := again.Root().Digest(), tab.Root().Digest(); d != w {
		t.Fatalf("replayed: digest %s, want %s", d, w)
	}
	checkAgainst(t, again.Root(), p)
}

func describe(o op) string {
	switch {
	case o.commits != nil:
		return fmt.Sprintf("commits %+v", *o.commits)
	case o.set != nil:
		return fmt.Sprintf("set %+v", *o.set)
	}
	a := o.act
	return fmt.Sprintf("act %s base %d claim %d step %d: %+v %+v %+v %+v %+v %+v", a.ID, a.Base, a.Claim, o.step, a.Reset, a.Remove, a.Clone, a.Expire, a.Take, a.Import)
}
