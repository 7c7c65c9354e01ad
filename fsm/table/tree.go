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
			p.insert(o, i, x)
			fresh = true
		}
		if len(p.items) > maxItems {
			return p.splitLeaf(o, i), fresh
		}
		p.follow(x.summary(), was)
		return nil, fresh
	}
	in := p.inner
	i := in.route(o, k)
	kid := in.kids[i].own(gen)
	in.kids[i] = kid
	right, fresh = kid.put(o, gen, x, prev, was)
	return p.extend(o, i, right, x.summary(), was), fresh
}

// extend takes in what kid i had to split off, nil if nothing, after one item
// below went from was to now; it returns what it had to split off itself.
func (p *page[T]) extend(o order, i int, right *page[T], now, was gauge) *page[T] {
	if in := p.inner; right != nil {
		in.kids = slices.Insert(in.kids, i+1, right)
		in.insertSep(o, p.gen, i, right.firstItem().place())
		if len(in.kids) > maxItems {
			return p.splitInner(o, i+1)
		}
	}
	p.follow(now, was)
	return nil
}

// add returns the item at k. If there is none it inserts what fresh makes from the
// neighbours, zero at an end.
func (t *tree[T]) add(o order, gen uint64, k place, fresh func(below, above T) T) T {
	if t.root == nil {
		var none T
		x := fresh(none, none)
		t.put(o, gen, x, none, gauge{})
		return x
	}
	t.root = t.root.own(gen)
	x, right := t.root.add(o, k, span[T]{}, fresh)
	if right != nil {
		t.root = join(gen, t.root, right)
	}
	return x
}

// add works on a page that is owned; it returns what it had to split off.
func (p *page[T]) add(o order, k place, s span[T], fresh func(below, above T) T) (x T, right *page[T]) {
	if p.inner == nil {
		i, found := p.search(o, k)
		if found {
			return p.items[i], nil
		}
		x = fresh(p.beside(i, s))
		p.insert(o, i, x)
		if len(p.items) > maxItems {
			return x, p.splitLeaf(o, i)
		}
		p.follow(x.summary(), gauge{})
		return x, nil
	}
	in := p.inner
	i := in.route(o, k)
	in.kids[i] = in.kids[i].own(p.gen)
	x, right = in.kids[i].add(o, k, in.spanOf(i, s), fresh)
	return x, p.extend(o, i, right, x.summary(), gauge{})
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
func (p *page[T]) insert(o order, i int, x T) {
	if len(p.items) == cap(p.items) {
		c := min(len(p.items)+max(1, len(p.items)/4), maxItems+1)
		grown := make([]T, len(p.items), c)
		copy(grown, p.items)
		p.items = grown
	}
	p.items = slices.Insert(p.items, i, x)
	if h := p.heads.insert(o, p.gen, i, x.place()); h != nil {
		p.heads = h
	} else {
		p.rehead(o, nil)
	}
}

// rehead rebuilds the heads of a leaf.
func (p *page[T]) rehead(o order, like *heads) {
	p.heads = newHeads(o, p.gen, like, len(p.items), func(i int) place { return p.items[i].place() })
}

func (in *inner[T]) insertSep(o order, gen uint64, i int, k place) {
	in.seps = insertCopy(in.seps, i, k)
	if h := in.heads.insert(o, gen, i, k); h != nil {
		in.heads = h
	} else {
		in.rehead(o, gen, nil)
	}
}

func (in *inner[T]) deleteSep(gen uint64, i int) {
	in.seps = deleteCopy(in.seps, i)
	in.heads = in.heads.remove(gen, i)
}

// rehead rebuilds the heads of an inner page.
func (in *inner[T]) rehead(o order, gen uint64, like *heads) {
	in.heads = newHeads(o, gen, like, len(in.seps), func(i int) place { return in.seps[i] })
}

// splitLeaf halves a leaf; one that grew at its end stays full, since keys that
// come in order will not fill it again.
func (p *page[T]) splitLeaf(o order, at int) *page[T] {
	m := len(p.items) / 2
	if at == len(p.items)-1 {
		m = at
	}
	right := &page[T]{gen: p.gen, items: slices.Clone(p.items[m:])}
	p.items = slices.Clip(slices.Clone(p.items[:m]))
	was := p.heads
	p.rehead(o, was)
	right.rehead(o, was)
	p.measure()
	right.measure()
	return right
}

func (p *page[T]) splitInner(o order, at int) *page[T] {
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
	was := in.heads
	in.rehead(o, p.gen, was)
	right.inner.rehead(o, p.gen, was)
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
		p.heads = p.heads.remove(gen, i)
	} else {
		in := p.inner
		i := in.route(o, k)
		in.kids[i] = in.kids[i].own(gen)
		in.kids[i].del(o, gen, k, was)
		p.tidy(o, gen, i)
	}
	p.follow(gauge{}, was)
}

// tidy drops the page below if it is empty, and joins it with a neighbour if
// both are small.
func (p *page[T]) tidy(o order, gen uint64, i int) {
	in := p.inner
	if in.kids[i].size() == 0 {
		in.kids = slices.Delete(in.kids, i, i+1)
		if len(in.seps) > 0 {
			in.deleteSep(gen, max(i-1, 0))
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
	in.kids[i].absorb(o, in.kids[i+1], in.seps[i])
	in.kids = slices.Delete(in.kids, i+1, i+2)
	in.deleteSep(gen, i)
}

func (p *page[T]) size() int {
	if p.inner == nil {
		return len(p.items)
	}
	return len(p.inner.kids)
}

// absorb takes over what q, the next page, holds.
func (p *page[T]) absorb(o order, q *page[T], sep place) {
	if p.inner == nil {
		p.items = append(p.items, q.items...)
		p.rehead(o, p.heads)
	} else {
		seps := append(slices.Clone(p.inner.seps), sep)
		p.inner.seps = append(seps, q.inner.seps...)
		p.inner.kids = append(p.inner.kids, q.inner.kids...)
		p.inner.rehead(o, p.gen, p.inner.heads)
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
