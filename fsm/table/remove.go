package table

import (
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// remove removes the keys of a scope, as many as one entry may look at.
func (w *work) remove(s *offset.Scope) bool {
	done := true
	switch {
	case s.HasQueue:
		w.removeQueue(s)
	case s.Group != "":
		done = w.removeGroup(s)
	default:
		done = w.removeTopic(s)
	}
	sc := scope{false, s.Group}
	if s.Group == "" {
		sc = scope{true, s.Topic}
	}
	floor := w.t.floors.of(s.Group, s.Topic)
	switch {
	case planted.Is(planted.FloorKept):
	case w.did:
		w.t.raiseFloor(sc)
	case done && !w.rec.Seen && floor > w.a.Base:
		w.rec.Result.Code = offset.CodeSuperseded
	case done && !w.rec.Seen:
		w.did = true
		w.t.raiseFloor(sc)
	}
	if done {
		w.refuseIfNone()
	}
	return done
}

func (w *work) removeQueue(s *offset.Scope) {
	p := w.t.live.part(s.Group, s.Broker)
	if p == nil {
		return
	}
	below, _ := p.nodes.around(byRun, place{&ident{topic: s.Topic}, s.QueueID})
	if below == nil || below.id.topic != s.Topic {
		return
	}
	if _, ok := below.search(s.QueueID); ok {
		w.clear(p, below, s.QueueID-1, 1)
	}
}

// removeGroup goes through the parts of a group in the order of their brokers.
func (w *work) removeGroup(s *offset.Scope) bool {
	g := w.t.live.live[s.Group]
	if g == nil {
		return true
	}
	for _, b := range w.brokers(g, s.HasBroker, s.Broker) {
		if !w.removeRuns(s.Group, b, s.Topic) {
			return false
		}
	}
	return true
}

// brokers names the brokers of a group, all or one, that the act has not passed yet.
func (w *work) brokers(g *ref, hasBroker bool, broker string) (list []string) {
	for p := range g.all {
		if b := p.id.broker; (!hasBroker || b == broker) && !(w.rec.Begun && b < w.rec.Cursor.Broker) {
			list = append(list, b)
		}
	}
	return list
}

// removeTopic goes through the groups of a topic in the order of their names.
func (w *work) removeTopic(s *offset.Scope) bool {
	var id *ident
	for {
		id = w.nextPair(s.Topic, id)
		switch {
		case id == nil:
			return true
		case w.left <= 0:
			return false
		case s.HasBroker && id.broker != s.Broker:
			w.left--
			w.past(id, maxID)
		case !w.removeRuns(id.group, id.broker, s.Topic):
			return false
		}
	}
}

// nextPair finds the first group on a broker with the topic that comes after last
// or, at the beginning, not before the cursor; nil if there is none. Pairs without a
// key do not count: a replica that was restored has none of them.
func (w *work) nextPair(topic string, last *ident) *ident {
	k := ident{topic: topic}
	switch {
	case last != nil:
		k.group, k.broker = last.group, after(last.broker)
	case w.rec.Begun:
		k.group, k.broker = w.rec.Cursor.Group, w.rec.Cursor.Broker
	}
	c := w.t.live.topics.seek(byTopic, place{&k, 0}, sieve{})
	for ; ; c.next() {
		id, ok := c.item()
		if !ok || id.topic != topic {
			return nil
		}
		if !(w.rec.Begun && w.passed(id)) && w.t.live.holds(id) {
			return id
		}
	}
}

// passed reports whether the cursor is beyond the whole run.
func (w *work) passed(id *ident) bool {
	c := &w.rec.Cursor
	return c.Group == id.group && c.Topic == id.topic && c.Broker == id.broker && c.QueueID == maxID
}

// past moves the cursor beyond a queue of a run.
func (w *work) past(id *ident, queueID int32) {
	w.rec.Begun = true
	w.rec.Cursor = offset.Key{Group: id.group, MessageQueue: offset.MessageQueue{Topic: id.topic, Broker: id.broker, QueueID: queueID}}
}

// removeRuns removes from one part what is beyond the cursor, of one topic or,
// if that is empty, of all. It reports false when the entry has to end first.
func (w *work) removeRuns(group, broker, topic string) bool {
	for {
		p := w.t.live.part(group, broker)
		if p == nil {
			return true
		}
		n, after := w.nextNode(p, topic)
		if n == nil {
			return true
		}
		if w.left <= 0 {
			return false
		}
		id := n.id
		w.past(id, w.clear(p, n, after, w.left))
	}
}

// nextNode finds the first node beyond the cursor, and the queue id that it comes after.
func (w *work) nextNode(p *part, topic string) (*node, int32) {
	from, after := place{&ident{topic: topic}, -1}, int32(-1)
	cur := &w.rec.Cursor
	behind := w.rec.Begun && cur.Group == p.id.group && cur.Broker == p.id.broker && cur.Topic >= topic
	if behind {
		from, after = place{&ident{topic: cur.Topic}, cur.QueueID}, cur.QueueID
	}
	below, above := p.nodes.around(byRun, from)
	n := above
	if behind && below != nil && below.id.topic == cur.Topic && below.queues[len(below.queues)-1].id() > after {
		n = below
	}
	if n == nil || topic != "" && n.id.topic != topic {
		return nil, 0
	}
	if n.id.topic != cur.Topic {
		after = -1
	}
	return n, after
}

// clear removes what a node holds beyond after, up to limit queues, except positions
// newer than the act, which it counts as left alone. It
// returns the id of the last queue it has looked at. Where an entry is cut
// depends on the keys alone, never on how they are laid out in nodes.
func (w *work) clear(p *part, n *node, after int32, limit int) int32 {
	t := w.t
	base, claim := newer(t.live.base, p.base), t.claims.of(n.id.group, n.id.broker)
	k := offset.Key{Group: n.id.group, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker}}
	kept := make([]queue, 0, len(n.queues))
	gone, names := sum{}, n.id.hash()
	for _, q := range n.queues {
		if q.id() <= after || limit == 0 {
			kept = append(kept, q)
			continue
		}
		limit--
		w.left--
		k.QueueID = q.id()
		if w.spare(&k, q.position(base), claim) {
			kept = append(kept, q)
			continue
		}
		gone = add(gone, q.hash(names))
		w.removed(&k, q.position(base), claim)
	}
	if lost := len(n.queues) - len(kept); lost > 0 {
		w.run.open(t.live, n.id.group, n.id.topic, n.id.broker)
		w.run.locate(n.first)
		w.run.retain(kept, gone, lost)
		w.run.close()
	}
	return k.QueueID
}

// spare reports whether a removal leaves a position alone, and counts it. What an
// expiry may remove, it has decided for the group.
func (w *work) spare(k *offset.Key, p offset.Position, claim uint64) bool {
	w.rec.Seen = true
	if w.a.Expire != nil {
		p.Epoch = 0
	}
	if !w.newer(p.Epoch, claim) {
		return false
	}
	w.keep(*k)
	return true
}

// removed counts and describes one position that goes.
func (w *work) removed(k *offset.Key, p offset.Position, claim uint64) {
	w.did = true
	w.rec.Result.Changed++
	if p.Pending {
		w.t.mirror(k, false)
	}
	if w.ch.wants() {
		w.ch.First = append(w.ch.First, Change{Key: cloneKey(*k), Before: stateOf(p, claim), After: absent(w.t.index, claim)})
	}
	w.ch.count(1)
}
