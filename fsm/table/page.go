package table

import "slices"

// maxItems is how many items a page holds, and how many pages an inner one.
// 32 pointers are four cache lines: what a change copies on each level.
const maxItems = 32

// gauge is what a page knows of all below it, so that a search for what is new
// or pending leaves out what cannot hold it.
type gauge struct {
	// newest is the highest index of a position; 0 for one that has that of its base.
	newest uint64
	// marks counts pending positions.
	marks int32
}

// item is what a tree holds.
type item interface {
	comparable
	place() place
	summary() gauge
}

// page is a node of a tree. A page whose gen is the writer's present one is
// reachable from no root and may be changed; any other is copied first.
type page[T item] struct {
	gen uint64
	gauge
	// items are those of a leaf, ascending.
	items []T
	// heads are those of items; nil for few, and for an inner page.
	heads *heads
	// inner is nil for a leaf.
	inner *inner[T]
}

// inner holds the pages below: kids[i+1] holds nothing below seps[i], and
// kids[i] nothing at or above it. seps is shared by copies, and replaced when it
// changes; heads are those of seps.
type inner[T item] struct {
	seps  []place
	heads *heads
	kids  []*page[T]
}

// tree is a persistent ordered set: copying the value is taking a snapshot, as
// long as the writer moves on to another generation.
type tree[T item] struct{ root *page[T] }

func (p *page[T]) own(gen uint64) *page[T] {
	if p.gen == gen {
		return p
	}
	c := &page[T]{gen: gen, gauge: p.gauge, heads: p.heads}
	if p.inner == nil {
		c.items = slices.Clone(p.items)
	} else {
		c.inner = &inner[T]{p.inner.seps, p.inner.heads, slices.Clone(p.inner.kids)}
	}
	return c
}

// search returns the index of the first item at or above k, and whether it is at k.
func (p *page[T]) search(o order, k place) (int, bool) {
	lo, hi := p.heads.bounds(o, k, len(p.items))
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		switch c := o.compare(p.items[m].place(), k); {
		case c == 0:
			return m, true
		case c < 0:
			lo = m + 1
		default:
			hi = m
		}
	}
	return lo, false
}

// route returns the index of the page below that k belongs to.
func (in *inner[T]) route(o order, k place) int {
	lo, hi := in.heads.bounds(o, k, len(in.seps))
	for lo < hi {
		if m := int(uint(lo+hi) >> 1); o.compare(in.seps[m], k) > 0 {
			hi = m
		} else {
			lo = m + 1
		}
	}
	return lo
}

// get returns the item at k.
func (t *tree[T]) get(o order, k place) (x T, ok bool) {
	p := t.root
	if p == nil {
		return x, false
	}
	for p.inner != nil {
		p = p.inner.kids[p.inner.route(o, k)]
	}
	i, ok := p.search(o, k)
	if ok {
		x = p.items[i]
	}
	return x, ok
}

// count counts the items from one place on and below another, page by page.
func (t *tree[T]) count(o order, from, to place) int {
	if t.root == nil {
		return 0
	}
	return t.root.count(o, from, to)
}

func (p *page[T]) count(o order, from, to place) (n int) {
	if p.inner == nil {
		i, _ := p.search(o, from)
		j, _ := p.search(o, to)
		return j - i
	}
	for _, kid := range p.inner.kids[p.inner.route(o, from) : p.inner.route(o, to)+1] {
		n += kid.count(o, from, to)
	}
	return n
}

// around returns the last item at or below k and the first above it; the zero
// value where there is none.
func (t *tree[T]) around(o order, k place) (below, above T) {
	p := t.root
	if p == nil {
		return
	}
	var s span[T]
	for p.inner != nil {
		i := p.inner.route(o, k)
		s = p.inner.spanOf(i, s)
		p = p.inner.kids[i]
	}
	i, found := p.search(o, k)
	if found {
		below = p.items[i]
		_, above = p.beside(i+1, s)
		return below, above
	}
	return p.beside(i, s)
}

// span is what stands on both sides of a page, nil at an end.
type span[T item] struct{ left, right *page[T] }

// spanOf returns what stands on both sides of a page below; s is that of the
// page itself.
func (in *inner[T]) spanOf(i int, s span[T]) span[T] {
	if i > 0 {
		s.left = in.kids[i-1]
	}
	if i+1 < len(in.kids) {
		s.right = in.kids[i+1]
	}
	return s
}

// beside returns the items before and after a gap of a leaf, in the leaf or next to
// it; the zero value where there is none.
func (p *page[T]) beside(i int, s span[T]) (below, above T) {
	if i > 0 {
		below = p.items[i-1]
	} else if s.left != nil {
		below = s.left.last()
	}
	if i < len(p.items) {
		above = p.items[i]
	} else if s.right != nil {
		above = s.right.firstItem()
	}
	return below, above
}

func (p *page[T]) last() T {
	for p.inner != nil {
		p = p.inner.kids[len(p.inner.kids)-1]
	}
	return p.items[len(p.items)-1]
}

func (p *page[T]) firstItem() T {
	for p.inner != nil {
		p = p.inner.kids[0]
	}
	return p.items[0]
}

func (t *tree[T]) summary() gauge {
	if t.root == nil {
		return gauge{}
	}
	return t.root.gauge
}
