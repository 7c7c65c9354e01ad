package table

import (
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// swap ends a replace: what is staged takes the place of what is there, all in
// this entry, without a look at any key.
func (w *work) swap() offset.ActResult {
	t, imp := w.t, w.t.imp
	if imp.staged == nil || imp.status.Next < imp.status.Chunks {
		return w.rec.Result
	}
	if t.lastAct > w.a.Base && !planted.Is(planted.SwapOverAct) || w.a.Claim > 0 && t.lostReplace(w.a.Claim, imp.status.Group) {
		return offset.ActResult{Code: offset.CodeSuperseded, Index: t.index, Next: imp.status.Next}
	}
	w.describeSwap()
	if w.ch != nil {
		w.ch.Lowered = t.lowering(imp.staged, imp.status.Group)
	}
	w.rec.Result.Changed = imp.staged.queues
	if imp.status.Group == "" {
		t.replaceAll(imp.staged)
	} else {
		t.replaceGroup(imp.staged, imp.status.Group)
	}
	t.imp, t.live.expects, w.did = nil, nil, true
	return w.end(true)
}

// replaceAll puts the staged space in the place of the table's. All it brings
// has the index and time of this entry.
func (t *Table) replaceAll(staged *space) {
	staged.base = Stamp{t.index, t.time}
	t.live, t.stale = staged, nil
	t.floors = t.floors.own(t.gen)
	t.floors.moveAll(t.index)
}

// replaceGroup exchanges the parts of one group.
func (t *Table) replaceGroup(staged *space, group string) {
	if old := t.live.live[group]; old != nil {
		for p := old.last(); p != nil; p = old.last() {
			t.stale = append(t.stale, p.nodes.all(sieve{}))
			t.live.bury(p)
		}
	}
	if g := staged.live[group]; g != nil {
		for p := range g.all {
			t.live.adopt(p, Stamp{t.index, t.time})
		}
	}
	t.raiseFloor(scope{false, group})
}

// adopt takes over a part of another space, and gives it a base.
func (s *space) adopt(p *part, base Stamp) {
	c := *p
	c.gen, c.base, c.prev = s.gen, base, nil
	c.show(gauge{})
	c.sum = add(c.sum, hashBase(c.id, base))
	r := s.live[c.id.group]
	if r == nil {
		r = &ref{}
		s.live[c.id.group] = r
	}
	s.queues += uint64(c.queues)
	s.sum = add(s.sum, c.sum)
	s.attach(r, &c)
}

// describeSwap counts what is brought in, and describes the first of it.
func (w *work) describeSwap() {
	t, staged := w.t, w.t.imp.staged
	base := Stamp{t.index, t.time}
	for g := staged.groups.all(sieve{}); w.ch.wants(); g.next() {
		id, ok := g.item()
		if !ok {
			break
		}
		p := staged.part(id.group, id.broker)
		for c := p.nodes.all(sieve{}); w.ch.wants(); c.next() {
			n, ok := c.item()
			if !ok {
				break
			}
			w.describeNode(n, base)
		}
	}
	w.ch.count(staged.queues)
	w.describeGone(t.imp.status.Group)
}

func (w *work) describeNode(n *node, base Stamp) {
	for i := range n.queues {
		if !w.ch.wants() {
			return
		}
		k := offset.Key{Group: n.id.group, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker, QueueID: n.queues[i].id()}}
		claim := w.t.claims.of(k.Group, k.Broker)
		w.ch.First = append(w.ch.First, Change{k, w.t.state(&w.run, &k), stateOf(n.queues[i].position(base), claim)})
	}
}

// goneLooks is how many keys a swap looks at for the audit log: each may cost a
// search, 5 µs where it is far.
const goneLooks = 4096

// describeGone counts what was there, of one group or of all, and describes the
// first keys that are not brought in again, as far as it looks.
func (w *work) describeGone(group string) {
	live := w.t.live
	if group == "" {
		w.ch.replaces(live.queues)
	}
	left := goneLooks
	for g := live.groups.seek(byGroup, place{&ident{group: group}, 0}, sieve{}); w.ch != nil; g.next() {
		id, ok := g.item()
		if !ok || group != "" && id.group != group || group == "" && (left <= 0 || !w.ch.wants()) {
			return
		}
		p := live.part(id.group, id.broker)
		if group != "" {
			w.ch.replaces(uint64(p.queues))
		}
		for c := p.nodes.all(sieve{}); left > 0 && w.ch.wants(); c.next() {
			n, ok := c.item()
			if !ok {
				break
			}
			left -= len(n.queues)
			w.describeGoneOf(n, newer(live.base, p.base))
		}
	}
}

func (w *work) describeGoneOf(n *node, base Stamp) {
	k := offset.Key{Group: n.id.group, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker}}
	claim := w.t.claims.of(k.Group, k.Broker)
	var staged run
	staged.openKey(w.t.imp.staged, &k)
	for i := range n.queues {
		q := &n.queues[i]
		if k.QueueID = q.id(); staged.find(k.QueueID) == nil && w.ch.wants() {
			w.ch.First = append(w.ch.First, Change{k, stateOf(q.position(base), claim), absent(w.t.index, claim)})
		}
	}
}

// dropStaged ends the import under way without a trace of what it staged.
func (t *Table) dropStaged() {
	if s := t.imp.staged; s != nil && t.imp.status.Group != "" {
		if g := s.live[t.imp.status.Group]; g != nil {
			for p := range g.all {
				t.stale = append(t.stale, p.nodes.all(sieve{}))
			}
		}
	}
	t.imp, t.live.expects = nil, nil
}

// sweepPairs is how many pairs of parts that are gone one Publish looks at at
// least: about 2 ms.
const sweepPairs = 1024

// sweep takes pairs without a key out of the tree of topics, a few at a time: no
// fewer than were staged meanwhile, so that replaces, one after another, do not
// leave more and more of them.
func (t *Table) sweep() {
	left := max(sweepPairs, t.live.owed)
	for t.live.owed = 0; left > 0 && len(t.stale) > 0; left-- {
		s := &t.stale[0]
		n, ok := s.item()
		if !ok {
			t.stale = t.stale[1:]
			continue
		}
		t.live.unpair(n.id)
		s.next()
	}
}
