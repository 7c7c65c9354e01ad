package table

import "slices"

// maxQueues is how many queues a node holds; a topic with more has several
// nodes, so that what one commit copies has a bound.
const maxQueues = 128

// node holds queues of one group on one topic of one broker: the unit of
// copying. It may be changed while its gen is the writer's.
type node struct {
	id  *ident
	gen uint64
	gauge
	// first is the lowest id that it may hold: 0, or where it was split off.
	first int32
	// queues are in ascending order of their ids; never empty once in a tree.
	queues []queue
}

func (n *node) place() place   { return place{n.id, n.first} }
func (n *node) summary() gauge { return n.gauge }

// measure takes the gauge from the queues.
func (n *node) measure() {
	g := gauge{}
	for i := range n.queues {
		q := &n.queues[i]
		g.newest = max(g.newest, q.index())
		if q.pending() {
			g.marks++
		}
	}
	n.gauge = g
}

func (n *node) own(gen uint64) *node {
	if n.gen == gen {
		return n
	}
	c := *n
	c.gen = gen
	c.queues = make([]queue, len(n.queues))
	copy(c.queues, n.queues)
	return &c
}

// search returns where id is, or would be. Queues are mostly numbered without a
// gap, so the first guess is mostly right.
func (n *node) search(id int32) (int, bool) {
	if g := int64(id) - int64(n.queues[0].id()); g >= 0 && g < int64(len(n.queues)) && n.queues[g].id() == id {
		return int(g), true
	}
	lo, hi := 0, len(n.queues)
	for lo < hi {
		m := int(uint(lo+hi) >> 1)
		if n.queues[m].id() < id {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo, lo < len(n.queues) && n.queues[lo].id() == id
}

// insert keeps the spare room at three queues; room says how many more are
// expected to follow.
func (n *node) insert(i int, q queue, room int) {
	if len(n.queues) == cap(n.queues) {
		c := min(len(n.queues)+max(1, room), maxQueues)
		c = max(len(n.queues)+1, (c+3)&^3)
		grown := make([]queue, len(n.queues), c)
		copy(grown, n.queues)
		n.queues = grown
	}
	n.queues = slices.Insert(n.queues, i, q)
}

// halve splits the upper half off. The gauge stays what the tree knows of n: a
// page that is measured meanwhile counts n by it, until n is put back.
func (n *node) halve() *node {
	m := len(n.queues) / 2
	right := &node{id: n.id, gen: n.gen, first: n.queues[m].id(), queues: slices.Clone(n.queues[m:])}
	n.queues = slices.Clone(n.queues[:m])
	right.measure()
	return right
}
