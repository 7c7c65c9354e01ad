package table

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// thing is an item with a gauge that the test sets.
type thing struct {
	id *ident
	g  gauge
}

func (x *thing) place() place   { return place{x.id, 0} }
func (x *thing) summary() gauge { return x.g }

// check fails if the tree does not hold exactly what want does, or a page's
// gauge is not that of what is below it.
func (t *tree[T]) check(tb testing.TB, o order, want []T) {
	tb.Helper()
	var got []T
	for c := t.all(sieve{}); ; c.next() {
		x, ok := c.item()
		if !ok {
			break
		}
		got = append(got, x)
	}
	if !slices.Equal(got, want) {
		tb.Fatalf("tree holds %d items , want %d", len(got), len(want))
	}
	if t.root != nil {
		t.root.check(tb, o, true)
	}
}

func (p *page[T]) check(tb testing.TB, o order, root bool) {
	tb.Helper()
	was := p.gauge
	p.measure()
	if p.gauge != was {
		tb.Fatalf("gauge %+v, want %+v", was, p.gauge)
	}
	if !root && p.size() == 0 || p.size() > maxItems {
		tb.Fatalf("page of %d", p.size())
	}
	if p.inner == nil {
		p.heads.check(tb, o, len(p.items), func(i int) place { return p.items[i].place() })
		return
	}
	p.inner.heads.check(tb, o, len(p.inner.seps), func(i int) place { return p.inner.seps[i] })
	for i, k := range p.inner.kids {
		if i > 0 && o.compare(p.inner.seps[i-1], k.firstItem().place()) > 0 {
			tb.Fatal("a separator is above what it separates")
		}
		if i > 0 && o.compare(p.inner.kids[i-1].last().place(), p.inner.seps[i-1]) >= 0 {
			tb.Fatal("a separator is not above what is before it")
		}
		k.check(tb, o, false)
	}
}

// TestTreeAgainstMap changes a tree at random, in several generations, and looks
// at it and at what older roots hold.
func TestTreeAgainstMap(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 2))
	for _, keys := range []int{40, 3000} {
		var tr tree[*thing]
		ref := map[string]*thing{}
		type old struct {
			tree tree[*thing]
			want []*thing
		}
		var olds []old
		gen := uint64(1)
		sorted := func() []*thing {
			var out []*thing
			for _, k := range slices.Sorted(maps.Keys(ref)) {
				out = append(out, ref[k])
			}
			return out
		}
		grow := true
		for i := range 20_000 {
			if i%2500 == 0 {
				grow = !grow || i == 0
			}
			name := fmt.Sprintf("%05d", r.IntN(keys))
			was, has := ref[name]
			if grow && r.IntN(4) > 0 || !grow && r.IntN(4) == 0 {
				x := &thing{&ident{name, "", ""}, gauge{r.Uint64N(1000), r.Int32N(2)}}
				g := gauge{}
				if has {
					g = was.g
				}
				if fresh := tr.put(byGroup, gen, x, was, g); fresh == has {
					t.Fatalf("put says new: %v; it was there: %v", fresh, has)
				}
				ref[name] = x
			} else {
				g := gauge{}
				if has {
					g = was.g
				}
				if tr.del(byGroup, gen, place{&ident{group: name}, 0}, g) != has {
					t.Fatalf("del(%s); it was there: %v", name, has)
				}
				delete(ref, name)
			}
			if i%500 == 0 {
				want := sorted()
				tr.check(t, byGroup, want)
				olds = append(olds, old{tr, want})
				gen++
				checkNeighbours(t, &tr, want, fmt.Sprintf("%05d", r.IntN(keys)))
			}
		}
		for _, o := range olds {
			o.tree.check(t, byGroup, o.want)
		}
	}
}

func checkNeighbours(t *testing.T, tr *tree[*thing], want []*thing, name string) {
	t.Helper()
	i, found := slices.BinarySearchFunc(want, name, func(x *thing, n string) int { return cmpString(x.id.group, n) })
	if found {
		i++
	}
	below, above := tr.around(byGroup, place{&ident{group: name}, 0})
	if (below != nil) != (i > 0) || below != nil && below != want[i-1] || (above != nil) != (i < len(want)) || above != nil && above != want[i] {
		t.Fatalf("around(%s) = %v, %v", name, below, above)
	}
	c := tr.seek(byGroup, place{&ident{group: name}, 0}, sieve{newer: 900})
	for j := i - 1; j < len(want); j++ {
		if j < 0 || want[j].id.group < name || want[j].g.newest <= 900 {
			continue
		}
		if x, ok := c.item(); !ok || x != want[j] {
			t.Fatalf("seek from %s, newer than 900: %v, want %v", name, x, want[j])
		}
		c.next()
	}
	if x, ok := c.item(); ok {
		t.Fatalf("seek from %s ends with %v", name, x)
	}
}

func cmpString(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
