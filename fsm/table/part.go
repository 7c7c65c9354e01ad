package table

// part is a group on one broker: the unit that a replace of the group swaps. It
// may be changed while its gen is the writer's.
type part struct {
	// id has group and broker; its topic is one that the part has, or had.
	id  *ident
	gen uint64
	// base is what the positions with index 0 share; zero if no replace of the
	// group brought it in.
	base Stamp
	// nodes is empty only before the first queue, and once the part is buried.
	nodes tree[*node]
	// sum of the hashes of its positions, and of base.
	sum    sum
	queues uint32
	// What the tree of parts knows of it, a gauge; zero before the first flush.
	shownMarks  int32
	shownNewest uint64
	// prev is what stands for it in the tree of parts: nil before the first
	// flush, itself after one.
	prev *part
}

func (p *part) shown() gauge { return gauge{p.shownNewest, p.shownMarks} }

func (p *part) show(g gauge) { p.shownNewest, p.shownMarks = g.newest, g.marks }

func (p *part) place() place { return place{p.id, 0} }

func (p *part) summary() gauge {
	g := p.nodes.summary()
	if g.newest < p.base.Index {
		g.newest = p.base.Index
	}
	return g
}

// has reports whether the part holds a queue of the topic.
func (p *part) has(topic string) bool {
	_, above := p.nodes.around(byRun, place{&ident{topic: topic}, -1})
	return above != nil && above.id.topic == topic
}

// newer returns the later of two bases.
func newer(a, b Stamp) Stamp {
	if b.Index > a.Index {
		return b
	}
	return a
}
