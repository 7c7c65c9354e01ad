package table

import (
	"math"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// namePage gathers names; a further one than its limit only sets more.
type namePage struct {
	names []string
	limit int
	more  bool
}

// add reports whether another name is wanted.
func (p *namePage) add(name string) bool {
	if p.more = len(p.names) == p.limit; p.more {
		return false
	}
	p.names = append(p.names, name)
	return true
}

// start is the first name that a page may hold.
func start(prefix, behind string) string {
	if behind >= prefix && behind != "" {
		return after(behind)
	}
	return prefix
}

func (r *Root) groupNames(l *offset.List, limit int) ([]string, bool) {
	out := namePage{limit: limit}
	from := l.Prefix
	if l.After != nil {
		from = start(l.Prefix, l.After.Group)
	}
	for {
		g, ok := r.groupFrom(l, from)
		if !ok || !strings.HasPrefix(g, l.Prefix) || l.Group != "" && g > l.Group {
			break
		}
		if (l.Group == "" || g == l.Group) && !out.add(g) {
			break
		}
		from = after(g)
	}
	return out.names, out.more
}

// groupFrom returns the first group at or behind a name that has keys of the
// topic and broker asked for.
func (r *Root) groupFrom(l *offset.List, from string) (string, bool) {
	switch {
	case l.Topic != "":
		for c := r.live.topics.seek(byTopic, place{&ident{topic: l.Topic, group: from}, 0}, sieve{}); ; c.next() {
			id, ok := c.item()
			if !ok || id.topic != l.Topic {
				return "", false
			}
			if (!l.HasBroker || id.broker == l.Broker) && r.live.holds(id) {
				return id.group, true
			}
		}
	case l.HasBroker:
		c := r.live.parts.seek(byBroker, place{&ident{group: from, broker: l.Broker}, 0}, sieve{})
		p, ok := c.item()
		if !ok || p.id.broker != l.Broker {
			return "", false
		}
		return p.id.group, true
	}
	c := r.live.groups.seek(byGroup, place{&ident{group: from}, 0}, sieve{})
	id, ok := c.item()
	if !ok {
		return "", false
	}
	return id.group, true
}

// holds tells whether there is a key behind a pair of the tree of topics.
func (v *view) holds(id *ident) bool {
	p := v.part(id.group, id.broker)
	return p != nil && p.has(id.topic)
}

func (r *Root) topicNames(l *offset.List, limit int) ([]string, bool) {
	out := namePage{limit: limit}
	from := l.Prefix
	if l.After != nil {
		from = start(l.Prefix, l.After.Topic)
	}
	for {
		t, ok := r.topicFrom(l, from)
		if !ok || !strings.HasPrefix(t, l.Prefix) || l.Topic != "" && t > l.Topic {
			break
		}
		if (l.Topic == "" || t == l.Topic) && !out.add(t) {
			break
		}
		from = after(t)
	}
	return out.names, out.more
}

// topicFrom returns the first topic at or behind a name that has keys of the
// group and broker asked for.
func (r *Root) topicFrom(l *offset.List, from string) (string, bool) {
	if l.Group == "" {
		return r.topicOfAny(l, from)
	}
	best, ok := "", false
	for _, p := range r.live.partsOf(l.Group) {
		if l.HasBroker && p.id.broker != l.Broker {
			continue
		}
		_, n := p.nodes.around(byRun, place{&ident{topic: from}, math.MinInt32})
		if n != nil && (!ok || n.id.topic < best) {
			best, ok = n.id.topic, true
		}
	}
	return best, ok
}

func (r *Root) topicOfAny(l *offset.List, from string) (string, bool) {
	for c := r.live.topics.seek(byTopic, place{&ident{topic: from}, 0}, sieve{}); ; c.next() {
		id, ok := c.item()
		if !ok {
			return "", false
		}
		if (!l.HasBroker || id.broker == l.Broker) && r.live.holds(id) {
			return id.topic, true
		}
	}
}
