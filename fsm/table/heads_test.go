package table

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// key is an item of any order.
type key struct{ at place }

func (k *key) place() place   { return k.at }
func (k *key) summary() gauge { return gauge{} }

// check fails if the heads are not those of the keys.
func (h *heads) check(tb testing.TB, o order, n int, key func(int) place) {
	tb.Helper()
	if h == nil {
		return
	}
	if len(h.at) != n {
		tb.Fatalf("%d heads of %d keys", len(h.at), n)
	}
	for i := range n {
		if k := key(i); h.compareLead(o, k) != 0 || h.at[i] != h.head(o, k) {
			tb.Fatalf("head %x of %v in order %d, want %x behind %q", h.at[i], k, o, h.head(o, k), h.prefix)
		}
	}
}

// TestTreeOfNamesThatAreAlike: in each order, with names that begin alike, begin
// one another, end in zeros or are long, the tree finds what a sorted list does,
// changed and searched at random.
func TestTreeOfNamesThatAreAlike(t *testing.T) {
	r := rand.New(rand.NewPCG(seedOf(t), 9))
	name := func() string {
		s := strings.Repeat("common.", r.IntN(3)*r.IntN(2))
		for range r.IntN(6) {
			s += []string{"", "\x00", "a", "b", "ab", "\xff", "longer than four bytes"}[r.IntN(7)]
		}
		return s
	}
	for range 40 {
		o := order(r.IntN(4))
		pool := []string{name(), name(), name()}
		pick := func() string {
			if r.IntN(2) == 0 {
				return pool[r.IntN(len(pool))]
			}
			return name()
		}
		draw := func() place {
			k := place{&ident{group: pick(), topic: pick(), broker: pick()}, 0}
			if o == byRun {
				k.first = r.Int32N(300)
			}
			return k
		}
		var tr tree[*key]
		var want []*key
		find := func(k place) (int, bool) {
			return slices.BinarySearchFunc(want, k, func(x *key, k place) int { return o.compare(x.at, k) })
		}
		gen := uint64(1)
		for i := range 1500 {
			k := draw()
			at, has := find(k)
			switch {
			case r.IntN(3) == 0:
				if tr.del(o, gen, k, gauge{}) != has {
					t.Fatalf("del(%v), it was there: %v", k, has)
				}
				if has {
					want = slices.Delete(want, at, at+1)
				}
			case r.IntN(2) == 0:
				if fresh := tr.put(o, gen, &key{k}, nil, gauge{}); fresh == has {
					t.Fatalf("put(%v) says new: %v", k, fresh)
				}
				if _, ok := tr.get(o, k); !ok {
					t.Fatalf("%v is not found", k)
				}
				x, _ := tr.get(o, k)
				if want = slices.Insert(want, at, x); has {
					want = slices.Delete(want, at+1, at+2)
				}
			default:
				x := tr.add(o, gen, k, func(below, above *key) *key {
					if has || (below != nil) != (at > 0) || below != nil && below != want[at-1] ||
						(above != nil) != (at < len(want)) || above != nil && above != want[at] {
						t.Fatalf("add(%v) between %v and %v, there: %v", k, below, above, has)
					}
					return &key{k}
				})
				if has && x != want[at] {
					t.Fatalf("add(%v) gives %v", k, x)
				}
				if !has {
					want = slices.Insert(want, at, x)
				}
			}
			if i%50 == 0 {
				tr.check(t, o, want)
				gen++
			}
		}
	}
}
