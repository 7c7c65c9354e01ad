package table

import (
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// namePage gathers the names of one page.
type namePage struct {
	l *offset.List
	// from is the first name that the page may hold, exact the only one; "" for any.
	from, exact string
	limit       int
	names       []string
	more        bool
	looks
}

// names returns one page of names, whether there are more, and false if end was
// true: see ListUntil.
func (r *Root) names(l *offset.List, limit int, end func() bool) (names []string, more, whole bool) {
	out := namePage{l: l, limit: limit, looks: looks{end: end}}
	behind := offset.Key{}
	if l.After != nil {
		behind = *l.After
	}
	switch {
	case l.What == offset.ListGroups:
		out.begin(behind.Group, l.Group)
		r.groupNames(&out)
	case l.Group != "":
		out.begin(behind.Topic, l.Topic)
		r.topicsOf(&out)
	default:
		out.begin(behind.Topic, l.Topic)
		r.topicNames(&out)
	}
	return out.names, out.more, !out.ended
}

// begin says where the page begins: beyond one name, at a prefix, at the one wanted.
func (p *namePage) begin(behind, exact string) {
	p.from, p.exact = max(p.l.Prefix, exact), exact
	if behind != "" {
		p.from = max(p.from, after(behind))
	}
}

// add takes the next name, and reports whether another one is wanted. One beyond the
// limit only sets more.
func (p *namePage) add(name string) bool {
	if !strings.HasPrefix(name, p.l.Prefix) || p.exact != "" && name != p.exact {
		return false
	}
	if p.more = len(p.names) == p.limit; p.more {
		return false
	}
	p.names = append(p.names, name)
	return p.exact == ""
}

func (r *Root) groupNames(out *namePage) {
	for from := out.from; ; {
		g, ok := r.groupFrom(out, from)
		if !ok || !out.add(g) {
			return
		}
		from = after(g)
	}
}

// groupFrom returns the first group at or beyond a name that has keys of the
// topic and broker asked for; false if there is none, or the listing ends.
func (r *Root) groupFrom(out *namePage, from string) (string, bool) {
	l := out.l
	switch {
	case l.Topic != "":
		for c := r.live.topics.seek(byTopic, place{&ident{topic: l.Topic, group: from}, 0}, sieve{}); out.on(); c.next() {
			id, ok := c.item()
			if !ok || id.topic != l.Topic {
				return "", false
			}
			if (!l.HasBroker || id.broker == l.Broker) && r.live.holds(id) {
				return id.group, true
			}
		}
		return "", false
	case l.HasBroker:
		c := r.live.parts.seek(byBroker, place{&ident{group: from, broker: l.Broker}, 0}, sieve{})
		p, ok := c.item()
		if !ok || p.id.broker != l.Broker {
			return "", false
		}
		return p.id.group, out.on()
	}
	c := r.live.groups.seek(byGroup, place{&ident{group: from}, 0}, sieve{})
	id, ok := c.item()
	if !ok {
		return "", false
	}
	return id.group, out.on()
}

// holds reports whether a pair of the tree of topics has a key.
func (v *view) holds(id *ident) bool {
	p := v.part(id.group, id.broker)
	return p != nil && p.has(id.topic)
}

// topicsOf adds the topics of one group.
func (r *Root) topicsOf(out *namePage) {
	l := out.l
	m := r.live.merge(l.Group, func(p *part) (sieve, bool) {
		return sieve{}, !l.HasBroker || p.id.broker == l.Broker
	}, out.from, nil)
	for last := (*ident)(nil); out.on(); {
		_, n := m.next()
		switch {
		case n == nil:
			return
		case last != nil && n.id.topic == last.topic: // on another broker, or more of its queues
			continue
		}
		last = n.id
		if !out.add(n.id.topic) {
			return
		}
	}
}

func (r *Root) topicNames(out *namePage) {
	for from := out.from; ; {
		t, ok := r.topicFrom(out, from)
		if !ok || !out.add(t) {
			return
		}
		from = after(t)
	}
}

// topicFrom returns the first topic at or beyond a name that has keys on the
// broker asked for; false if there is none, or the listing ends.
func (r *Root) topicFrom(out *namePage, from string) (string, bool) {
	for c := r.live.topics.seek(byTopic, place{&ident{topic: from}, 0}, sieve{}); out.on(); c.next() {
		id, ok := c.item()
		if !ok {
			return "", false
		}
		if (!out.l.HasBroker || id.broker == out.l.Broker) && r.live.holds(id) {
			return id.topic, true
		}
	}
	return "", false
}
