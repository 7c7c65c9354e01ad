package table

// sieve says what a reader looks for; pages that cannot hold it are left out.
// The zero value lets everything pass.
type sieve struct {
	// newer: only what may hold an index above it, if it is not 0.
	newer uint64
	// pending: only what holds a pending position.
	pending bool
}

func (s sieve) pass(g gauge) bool {
	return (s.newer == 0 || g.newest > s.newer) && (!s.pending || g.marks > 0)
}

// cursor goes through the items of a tree in order, those that pass a sieve. It
// is for one goroutine; the tree must not change under it.
type cursor[T item] struct {
	sieve
	path []frame[T]
}

type frame[T item] struct {
	p *page[T]
	i int
}

// seek returns a cursor at the first item at or above k.
func (t *tree[T]) seek(o order, k place, s sieve) cursor[T] {
	c := cursor[T]{sieve: s}
	p := t.root
	if p == nil {
		return c
	}
	c.path = make([]frame[T], 0, 6)
	for p.inner != nil {
		i := p.inner.route(o, k)
		c.path = append(c.path, frame[T]{p, i})
		p = p.inner.kids[i]
	}
	i, _ := p.search(o, k)
	c.path = append(c.path, frame[T]{p, i})
	c.settle()
	return c
}

// all returns a cursor at the first item.
func (t *tree[T]) all(s sieve) cursor[T] {
	c := cursor[T]{sieve: s}
	if t.root != nil {
		c.path = append(make([]frame[T], 0, 6), frame[T]{t.root, 0})
		c.settle()
	}
	return c
}

// item returns the present item; false at the end.
func (c *cursor[T]) item() (x T, ok bool) {
	if len(c.path) == 0 {
		return x, false
	}
	f := c.path[len(c.path)-1]
	return f.p.items[f.i], true
}

func (c *cursor[T]) next() {
	c.path[len(c.path)-1].i++
	c.settle()
}

// settle moves on to the first item from the present path on that passes.
func (c *cursor[T]) settle() {
	for len(c.path) > 0 {
		f := &c.path[len(c.path)-1]
		switch {
		case f.i >= f.p.size():
			c.path = c.path[:len(c.path)-1]
			if len(c.path) > 0 {
				c.path[len(c.path)-1].i++
			}
		case f.p.inner == nil:
			if c.pass(f.p.items[f.i].summary()) {
				return
			}
			f.i++
		case c.pass(f.p.inner.kids[f.i].gauge):
			c.path = append(c.path, frame[T]{f.p.inner.kids[f.i], 0})
		default:
			f.i++
		}
	}
}
