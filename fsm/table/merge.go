package table

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

// merge goes through the nodes of one group in key order, whatever brokers they
// are on.
type merge struct{ lists []nodes }

type nodes struct {
	p *part
	c cursor[*node]
}

// merge begins at a topic, or behind a key, of a group. pick says which parts
// take part, and what may be left out of each.
func (v *view) merge(group string, pick func(*part) (sieve, bool), topic string, after *offset.Key) merge {
	var m merge
	for _, p := range v.partsOf(group) {
		if s, ok := pick(p); ok {
			m.lists = append(m.lists, nodes{p, p.from(topic, after, s)})
		}
	}
	return m
}

// partsOf lists the parts of a group in the order of their brokers.
func (v *view) partsOf(group string) (list []*part) {
	for c := v.groups.seek(byGroup, place{&ident{group: group}, 0}, sieve{}); ; c.next() {
		id, ok := c.item()
		if !ok || id.group != group {
			return list
		}
		list = append(list, v.part(id.group, id.broker))
	}
}

// from returns a cursor at the first node that may hold something of the topic
// and behind the key.
func (p *part) from(topic string, after *offset.Key, s sieve) cursor[*node] {
	if after == nil || after.Topic < topic {
		return p.nodes.seek(byRun, place{&ident{topic: topic}, 0}, s)
	}
	k := place{&ident{topic: after.Topic}, 0}
	switch {
	case p.id.broker < after.Broker:
		k.first = math.MaxInt32
	case p.id.broker == after.Broker:
		if n, _ := p.nodes.around(byRun, place{k.ident, after.QueueID}); n != nil && n.id.topic == after.Topic {
			k.first = n.first
		}
	}
	return p.nodes.seek(byRun, k, s)
}

// next returns the next node and its part, nil at the end.
func (m *merge) next() (p *part, n *node) {
	at := -1
	for i := range m.lists {
		x, ok := m.lists[i].c.item()
		if ok && (n == nil || x.id.topic < n.id.topic) { // the lists are in the order of their brokers
			at, n, p = i, x, m.lists[i].p
		}
	}
	if at >= 0 {
		m.lists[at].c.next()
	}
	return p, n
}

// brokers names the brokers that have keys, in order.
func (v *view) brokers() []string {
	var out []string
	k := place{&ident{}, 0}
	for {
		c := v.parts.seek(byBroker, k, sieve{})
		p, ok := c.item()
		if !ok {
			return out
		}
		out = append(out, p.id.broker)
		k = place{&ident{broker: after(p.id.broker)}, 0}
	}
}

// after is the first name behind another.
func after(name string) string { return name + "\x00" }
