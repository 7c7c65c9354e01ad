package table

import "strings"

// space is a set of positions with its indexes: the table's, or what an import
// has staged. Its trees are what a root holds; the rest is the writer's.
type space struct {
	// parts holds every group on every broker, as of the last flush.
	parts tree[*part]
	// groups names the brokers that each group has keys on.
	groups tree[*ident]
	// topics holds a pair for each topic of a group on a broker, and for a
	// while (see sweep) some for which there is no key any more, or not yet:
	// readers look whether there is.
	topics tree[*ident]
	// base is that of the last replace of all.
	base Stamp
	// queues counts positions, sum adds up their hashes and those of the bases
	// of groups.
	queues uint64
	sum    sum
	// pairs and places count what topics and groups hold.
	pairs, places int

	// live finds the writer's present parts by group.
	live map[string]*ref
	// dirty are the parts that differ from those in parts.
	dirty []*part
	gen   uint64
	// names are those of brokers.
	names map[string]string
	// beside is the table's space for what a replace of a group stages: pairs go
	// there too, before they have a key, so that the swap need not
	// bring them.
	beside *space
	// expects is the reverse: what a replace of a group has staged, nil if none
	// is under way.
	expects *space
	// owed counts the pairs that were put into beside since the last sweep.
	owed int
}

func newSpace(gen uint64) *space {
	return &space{live: map[string]*ref{}, names: map[string]string{}, gen: gen}
}

// part returns the writer's present part, nil if there is none.
func (s *space) part(group, broker string) *part {
	if r := s.live[group]; r != nil {
		return r.part(broker)
	}
	return nil
}

// own returns p, or the copy of it that takes its place, ready to be changed.
func (s *space) own(p *part) *part {
	if p.gen == s.gen {
		return p
	}
	c := *p
	c.gen = s.gen
	s.live[p.id.group].put(&c)
	s.dirty = append(s.dirty, &c)
	return &c
}

// create adds a part, empty yet, that is about to hold the topic.
func (s *space) create(group, topic, broker string) *part {
	r := s.live[group]
	if r == nil {
		r = &ref{}
		group = strings.Clone(group)
		s.live[group] = r
	} else {
		group = r.first.id.group
	}
	p := &part{gen: s.gen, id: s.pair(group, topic, s.broker(broker))}
	s.attach(r, p)
	return p
}

// attach adds a part, owned, to its group.
func (s *space) attach(r *ref, p *part) {
	r.put(p)
	s.dirty = append(s.dirty, p)
	if s.groups.put(byGroup, s.gen, p.id, nil, gauge{}) {
		s.places++
	}
}

// bury takes a part out of the table, with all that is still in it.
func (s *space) bury(p *part) {
	p = s.own(p)
	p.nodes = tree[*node]{}
	s.queues -= uint64(p.queues)
	s.sum = sub(s.sum, p.sum)
	r := s.live[p.id.group]
	r.remove(p)
	if s.groups.del(byGroup, s.gen, p.place(), gauge{}) {
		s.places--
	}
	if r.first == nil {
		delete(s.live, p.id.group)
	}
}

// maxNames is how many names of brokers a space remembers to keep each once.
const maxNames = 4096

// broker returns the name as it is kept already.
func (s *space) broker(name string) string {
	if known, ok := s.names[name]; ok {
		return known
	}
	if len(s.names) >= maxNames {
		clear(s.names)
	}
	name = strings.Clone(name)
	s.names[name] = name
	return name
}

// pair returns the ident of a topic of a group on a broker, from the tree of
// topics or new in it. It keeps group and broker as they are, and of the names of
// a topic that the tree has already one.
func (s *space) pair(group, topic, broker string) *ident {
	k := place{&ident{group: group, topic: topic, broker: broker}, 0}
	id := s.topics.add(byTopic, s.gen, k, func(below, above *ident) *ident {
		switch {
		case below != nil && below.topic == topic:
			topic = below.topic
		case above != nil && above.topic == topic:
			topic = above.topic
		default:
			topic = strings.Clone(topic)
		}
		s.pairs++
		return &ident{group, topic, broker}
	})
	if b := s.beside; b != nil {
		b.topics.add(byTopic, b.gen, place{id, 0}, func(_, _ *ident) *ident {
			b.pairs++
			return id
		})
		b.owed++
	}
	return id
}

// stage makes a space for what a replace will swap in: of one group, or of all.
func (s *space) stage(group string) *space {
	staged := newSpace(s.gen)
	if group != "" {
		staged.beside, s.expects = s, staged
	}
	return staged
}

// unpair takes a pair out of the tree of topics, unless it has a key, or will have.
func (s *space) unpair(id *ident) {
	if !s.holds(id) && (s.expects == nil || !s.expects.holds(id)) {
		if s.topics.del(byTopic, s.gen, place{id, 0}, gauge{}) {
			s.pairs--
		}
	}
}

// holds reports whether a pair of the tree of topics has a key.
func (s *space) holds(id *ident) bool {
	p := s.part(id.group, id.broker)
	return p != nil && p.has(id.topic)
}

// flush brings the tree of parts up to date; readers of the trees see all from
// then on. The caller publishes and moves on to another generation.
func (s *space) flush() {
	for _, p := range s.dirty {
		if p.nodes.root == nil { // buried
			s.parts.del(byBroker, s.gen, p.place(), p.shown())
			continue
		}
		prev, was := p.prev, p.shown()
		p.prev = p
		p.show(p.summary())
		s.parts.put(byBroker, s.gen, p, prev, was)
	}
	clear(s.dirty)
	s.dirty = s.dirty[:0]
}
