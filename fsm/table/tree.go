package table

import "slices"

// put inserts x, or puts it in the place of what stands there. was is the
// summary that the tree knows of what stood there, zero for a new item; x may be
// that item itself, changed. prev is what stands there, if the caller knows, so
// that the last page need not be searched by names. It reports whether the item
// is new.
func (t *tree[T]) put(o order, gen uint64, x, prev T, was gauge) bool {
	if t.root == nil {
		t.root = &page[T]{gen: gen, items: []T{x}, gauge: x.summary()}
		return true
	}
	t.root = t.root.own(gen)
	right, fresh := t.root.put(o, gen, x, prev, was)
	if right != nil {
		t.root = join(gen, t.root, right)
	}
	return fresh
}

func join[T item](gen uint64, left, right *page[T]) *page[T] {
	p := &page[T]{gen: gen, inner: &inner[T]{
		seps: []place{right.firstItem().place()},
		kids: []*page[T]{left, right},
	}}
	p.measure()
	return p
}

// put works on a page that is owned; it returns what it had to split off.
func (p *page[T]) put(o order, gen uint64, x, prev T, was gauge) (right *page[T], fresh bool) {
	k := x.place()
	if p.inner == nil {
		i, found := p.find(o, k, prev)
		if found {
			p.items[i] = x
		} else {
			p.insert(i, x)
			fresh = true
		}
		if len(p.items) > maxItems {
			return p.splitLeaf(i), fresh
		}
		p.follow(x.summary(), was)
		return nil, fresh
	}
	in := p.inner
	i := in.route(o, k)
	kid := in.kids[i].own(gen)
	in.kids[i] = kid
	right, fresh = kid.put(o, gen, x, prev, was)
	if right == nil {
		p.follow(x.summary(), was)
		return nil, fresh
	}
	in.kids = slices.Insert(in.kids, i+1, right)
	in.seps = insertCopy(in.seps, i, right.firstItem().place())
	if len(in.kids) > maxItems {
		return p.splitInner(i + 1), fresh
	}
	p.follow(x.summary(), was)
	return nil, fresh
}

func (p *page[T]) find(o order, k place, prev T) (int, bool) {
	var none T
	if prev != none {
		if i := slices.Index(p.items, prev); i >= 0 {
			return i, true
		}
	}
	return p.search(o, k)
}

// follow brings the gauge up to date after one item below went from was to now.
func (p *page[T]) follow(now, was gauge) {
	p.marks += now.marks - was.marks
	switch {
	case now.newest >= p.newest:
		p.newest = now.newest
	case was.newest == p.newest:
		p.measure()
	}
}

// measure takes the gauge from what is below.
func (p *page[T]) measure() {
	g := gauge{}
	add := func(b gauge) {
		g.newest = max(g.newest, b.newest)
		g.marks += b.marks
	}
	if p.inner == nil {
		for _, x := range p.items {
			add(x.summary())
		}
	} else {
		for _, k := range p.inner.kids {
			add(k.gauge)
		}
	}
	p.gauge = g
}

// insert keeps the spare room of a leaf small: most never grow again.
func (p *page[T]) insert(i int, x T) {
	if len(p.items) == cap(p.items) {
		c := min(len(p.items)+max(1, len(p.items)/4), maxItems+1)
		grown := make([]T, len(p.items), c)
		copy(grown, p.items)
		p.items = grown
	}
	p.items = slices.Insert(p.items, i, x)
}

// splitLeaf halves a leaf; one that grew at its end stays full, since keys that
// come in order will not fill it again.
func (p *page[T]) splitLeaf(at int) *page[T] {
	m := len(p.items) / 2
	if at == len(p.items)-1 {
		m = at
	}
	right := &page[T]{gen: p.gen, items: slices.Clone(p.items[m:])}
	p.items = slices.Clip(slices.Clone(p.items[:m]))
	p.measure()
	right.measure()
	return right
}

func (p *page[T]) splitInner(at int) *page[T] {
	in := p.inner
	m := len(in.kids) / 2
	if at == len(in.kids)-1 {
		m = at
	}
	right := &page[T]{gen: p.gen, inner: &inner[T]{
		seps: slices.Clone(in.seps[m:]),
		kids: slices.Clone(in.kids[m:]),
	}}
	in.seps = slices.Clone(in.seps[:m-1])
	in.kids = slices.Clone(in.kids[:m])
	p.measure()
	right.measure()
	return right
}

// del removes the item at k, whose summary the tree knows as was.
func (t *tree[T]) del(o order, gen uint64, k place, was gauge) bool {
	if _, ok := t.get(o, k); !ok {
		return false
	}
	t.root = t.root.own(gen)
	t.root.del(o, gen, k, was)
	for t.root.inner != nil && len(t.root.inner.kids) == 1 {
		t.root = t.root.inner.kids[0]
	}
	if t.root.inner == nil && len(t.root.items) == 0 {
		t.root = nil
	}
	return true
}

func (p *page[T]) del(o order, gen uint64, k place, was gauge) {
	if p.inner == nil {
		i, _ := p.search(o, k)
		p.items = slices.Delete(p.items, i, i+1)
	} else {
		in := p.inner
		i := in.route(o, k)
		in.kids[i] = in.kids[i].own(gen)
		in.kids[i].del(o, gen, k, was)
		p.tidy(gen, i)
	}
	p.follow(gauge{}, was)
}

// tidy drops the page below if it is empty, and joins it with a neighbour if
// both are small.
func (p *page[T]) tidy(gen uint64, i int) {
	in := p.inner
	if in.kids[i].size() == 0 {
		in.kids = slices.Delete(in.kids, i, i+1)
		if len(in.seps) > 0 {
			in.seps = deleteCopy(in.seps, max(i-1, 0))
		}
		return
	}
	if in.kids[i].size() > maxItems/4 {
		return
	}
	if i > 0 {
		i--
	}
	if i+1 >= len(in.kids) || in.kids[i].size()+in.kids[i+1].size() > maxItems/2 {
		return
	}
	in.kids[i] = in.kids[i].own(gen)
	in.kids[i].absorb(in.kids[i+1], in.seps[i])
	in.kids = slices.Delete(in.kids, i+1, i+2)
	in.seps = deleteCopy(in.seps, i)
}

func (p *page[T]) size() int {
	if p.inner == nil {
		return len(p.items)
	}
	return len(p.inner.kids)
}

// absorb takes over what q, the next page, holds.
func (p *page[T]) absorb(q *page[T], sep place) {
	if p.inner == nil {
		p.items = append(p.items, q.items...)
	} else {
		seps := append(slices.Clone(p.inner.seps), sep)
		p.inner.seps = append(seps, q.inner.seps...)
		p.inner.kids = append(p.inner.kids, q.inner.kids...)
	}
	p.measure()
}

func insertCopy(s []place, i int, x place) []place {
	c := make([]place, 0, len(s)+1)
	c = append(c, s[:i]...)
	c = append(c, x)
	return append(c, s[i:]...)
}

func deleteCopy(s []place, i int) []place {
	c := make([]place, 0, len(s)-1)
	c = append(c, s[:i]...)
	return append(c, s[i+1:]...)
}
