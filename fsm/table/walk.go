package table

import (
	"iter"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// List returns one page. Of its Meta, only Cluster, Index and LastAct are set.
// Its cost follows from the rows of the page and the brokers that a group has
// keys on, never from how many other groups there are. There are two exceptions: of
// a topic, groups are looked at one by one for what is newer, pending, or on one
// broker; and what is newer or pending in all groups is searched for on each broker.
func (r *Root) List(l *offset.List) offset.Page {
	page, _ := r.ListUntil(l, func() bool { return false })
	return page
}

// ListUntil is List, given up once end is true, and then false: what the page has
// is not all that it should. end is asked once in some thousand steps.
func (r *Root) ListUntil(l *offset.List, end func() bool) (page offset.Page, whole bool) {
	page = offset.Page{Meta: offset.Meta{Cluster: r.cluster, Index: r.index, LastAct: r.lastAct}}
	limit := l.Limit
	if limit <= 0 || limit > offset.MaxPage {
		limit = offset.MaxPage
	}
	switch l.What {
	case offset.ListGroups, offset.ListTopics:
		page.Names, page.More, whole = r.names(l, limit, end)
	default:
		whole = r.walk(l, end, func(ks offset.KeyedState) bool {
			if page.More = len(page.Keys) == limit; page.More {
				return false
			}
			page.Keys = append(page.Keys, ks)
			return true
		})
	}
	return page, whole
}

// Walk yields every row of ListKeys from l.After on, in key order, whatever
// l.Limit is, until yield returns false. l.What is not looked at.
func (r *Root) Walk(l *offset.List, yield func(offset.KeyedState) bool) {
	r.walk(l, func() bool { return false }, yield)
}

// walk is Walk, given up once end is true, and then false.
func (r *Root) walk(l *offset.List, end func() bool, yield func(offset.KeyedState) bool) bool {
	w := walk{r: r, l: l, yield: yield, looks: looks{end: end}, sieve: sieve{newer: l.NewerThan, pending: l.Pending}}
	if r.live.base.Index > w.newer {
		w.newer = 0 // everything is newer: it was brought in since
	}
	switch {
	case l.Group != "":
		w.group(l.Group)
	case l.Topic != "":
		w.topic()
	case l.HasBroker:
		w.sift(slices.Values([]string{l.Broker}))
	case w.newer > 0 || w.pending:
		w.sift(r.live.brokers())
	default:
		w.all()
	}
	return !w.ended
}

// lookEvery is how many steps a listing takes between two looks whether it is to end.
const lookEvery = 1024

// looks counts the steps of a listing.
type looks struct {
	end   func() bool
	steps int
	ended bool // end was true
}

// on takes a step, to another group, broker or node, and reports whether the listing
// continues.
func (l *looks) on() bool {
	if l.steps++; l.steps%lookEvery == 0 && !l.ended {
		l.ended = l.end()
	}
	return !l.ended
}

// walk is one Walk.
type walk struct {
	r     *Root
	l     *offset.List
	yield func(offset.KeyedState) bool
	// sieve is what whole pages and nodes may be left out by. A key that has only
	// a claim newer than asked for is not in it: groups and brokers that have
	// such a claim are looked at whole.
	sieve
	// stop: yield wants no more.
	stop bool
	looks
}

// on is looks.on, and false once yield wants no more.
func (w *walk) on() bool { return !w.stop && w.looks.on() }

// all goes through all groups.
func (w *walk) all() {
	k := ident{}
	if w.l.After != nil {
		k.group = w.l.After.Group
	}
	last := (*ident)(nil)
	for c := w.r.live.groups.seek(byGroup, place{&k, 0}, sieve{}); w.on(); c.next() {
		id, ok := c.item()
		switch {
		case !ok:
			return
		case last != nil && id.group == last.group: // on another broker
			continue
		}
		last = id
		w.group(id.group)
	}
}

// onBroker goes through the groups of a broker that pass a sieve.
type onBroker struct {
	broker string
	c      cursor[*part]
}

// group returns the group that it stands at; false at the end.
func (b *onBroker) group() (string, bool) {
	p, ok := b.c.item()
	if !ok || p.id.broker != b.broker {
		return "", false
	}
	return p.id.group, true
}

// before reports whether b stands at an earlier group. Neither is at its end.
func (b *onBroker) before(o *onBroker) bool {
	x, _ := b.c.item()
	y, _ := o.c.item()
	return x.id.group < y.id.group
}

// sift goes through the groups that have keys on the brokers, those that cannot
// hold what is looked for left out.
func (w *walk) sift(brokers iter.Seq[string]) {
	from := ""
	if w.l.After != nil {
		from = w.l.After.Group
	}
	var list []onBroker // a heap
	for b := range brokers {
		if !w.on() {
			return
		}
		o := onBroker{b, w.r.live.parts.seek(byBroker, place{&ident{group: from, broker: b}, 0}, w.sieveOf("", b, Stamp{}))}
		if _, ok := o.group(); ok {
			list = append(list, o)
		}
	}
	heapify(list, (*onBroker).before)
	claimed := w.claimed(from)
	for w.on() {
		g, ok := "", false
		if len(list) > 0 {
			g, ok = list[0].group()
		}
		if len(claimed) > 0 && (!ok || claimed[0] <= g) {
			g, ok, claimed = claimed[0], true, claimed[1:]
		}
		if !ok {
			return
		}
		w.group(g)
		list = beyond(list, g)
	}
}

// claimed names the groups from one on that have a claim newer than asked for.
func (w *walk) claimed(from string) []string {
	if w.newer == 0 {
		return nil
	}
	list := w.r.claims.newerGroups(w.newer)
	i, _ := slices.BinarySearch(list, from)
	return list[i:]
}

// beyond moves a heap beyond the group g, before which none of it stands.
func beyond(list []onBroker, g string) []onBroker {
	for len(list) > 0 {
		if at, _ := list[0].group(); at != g {
			break
		}
		list[0].c.next()
		if _, ok := list[0].group(); !ok {
			last := len(list) - 1
			list[0] = list[last]
			list = list[:last]
		}
		sink(list, 0, (*onBroker).before)
	}
	return list
}

// sieveOf is what may be left out of a group on a broker: nothing for its
// indexes, if they are all newer by a claim or a replace.
func (w *walk) sieveOf(group, broker string, base Stamp) sieve {
	s := w.sieve
	if s.newer > 0 && (base.Index > s.newer || w.r.claims.of(group, broker) > s.newer) {
		s.newer = 0
	}
	return s
}

// topic goes through the groups of a topic, those left out that have no part, of
// those it is on, which can hold what is looked for.
func (w *walk) topic() {
	k := ident{topic: w.l.Topic}
	if w.l.After != nil {
		k.group = w.l.After.Group
	}
	last := (*ident)(nil)
	for c := w.r.live.topics.seek(byTopic, place{&k, 0}, sieve{}); w.on(); c.next() {
		id, ok := c.item()
		if !ok || id.topic != w.l.Topic {
			return
		}
		if (last == nil || id.group != last.group) && (!w.l.HasBroker || id.broker == w.l.Broker) && w.may(id) {
			last = id
			w.group(id.group)
		}
	}
}

// may reports whether the part of a pair can hold what is looked for.
func (w *walk) may(id *ident) bool {
	p, ok := w.r.live.parts.get(byBroker, place{id, 0})
	if !ok {
		return false
	}
	_, pass := w.sieveOfPart(p)
	return pass
}

// sieveOfPart is sieveOf for a part, and whether the part passes it.
func (w *walk) sieveOfPart(p *part) (sieve, bool) {
	s := w.sieveOf(p.id.group, p.id.broker, p.base)
	return s, s.pass(p.summary())
}

// group yields what is looked for of one group.
func (w *walk) group(name string) {
	after := w.l.After
	if after != nil && after.Group != name {
		if after.Group > name {
			return
		}
		after = nil
	}
	m := w.r.live.merge(name, func(p *part) (sieve, bool) {
		s, pass := w.sieveOfPart(p)
		return s, w.on() && pass && (!w.l.HasBroker || p.id.broker == w.l.Broker)
	}, w.l.Topic, after)
	for w.on() {
		p, n := m.next()
		if n == nil || w.l.Topic != "" && n.id.topic != w.l.Topic {
			return
		}
		w.node(p, n, after)
	}
}

// node yields what is looked for of one node.
func (w *walk) node(p *part, n *node, after *offset.Key) {
	base := newer(w.r.live.base, p.base)
	claim := w.r.claims.of(n.id.group, n.id.broker)
	k := offset.Key{Group: n.id.group, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker}}
	for i := range n.queues {
		k.QueueID = n.queues[i].id()
		st := stateOf(n.queues[i].position(base), claim)
		switch {
		case after != nil && k.Compare(*after) <= 0:
		case w.pending && !st.Position.Pending:
		case w.newer > 0 && st.Position.Index <= w.newer && st.Epoch <= w.newer:
		case !w.yield(offset.KeyedState{Key: k, KeyState: st}):
			w.stop = true
			return
		}
	}
}
