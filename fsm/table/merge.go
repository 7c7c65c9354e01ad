package table

import (
	"math"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
)

// merge goes through the nodes of one group in key order, whatever brokers they
// are on.
type merge struct {
	// lists is a heap: what stands first in key order is at its top. None is at its end.
	lists []nodes
}

type nodes struct {
	p *part
	c cursor[*node]
}

// merge begins at a topic, or behind a key, of a group. pick says which parts
// take part, and what may be left out of each.
func (v *view) merge(group string, pick func(*part) (sieve, bool), topic string, after *offset.Key) merge {
	var m merge
	for _, p := range v.partsOf(group) {
		s, ok := pick(p)
		if !ok {
			continue
		}
		c := p.from(topic, after, s)
		if _, ok := c.item(); ok {
			m.lists = append(m.lists, nodes{p, c})
		}
	}
	for i := len(m.lists)/2 - 1; i >= 0; i-- {
		m.sink(i)
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
	if len(m.lists) == 0 {
		return nil, nil
	}
	top := &m.lists[0]
	p = top.p
	n, _ = top.c.item()
	top.c.next()
	if _, ok := top.c.item(); !ok {
		last := len(m.lists) - 1
		m.lists[0] = m.lists[last]
		m.lists = m.lists[:last]
	}
	m.sink(0)
	return p, n
}

// sink moves list i down the heap to where it belongs.
func (m *merge) sink(i int) {
	for {
		least := i
		for kid := 2*i + 1; kid <= 2*i+2 && kid < len(m.lists); kid++ {
			if m.before(kid, least) {
				least = kid
			}
		}
		if least == i {
			return
		}
		m.lists[i], m.lists[least] = m.lists[least], m.lists[i]
		i = least
	}
}

// before tells whether list i stands before list j in key order.
func (m *merge) before(i, j int) bool {
	a, b := &m.lists[i], &m.lists[j]
	x, _ := a.c.item()
	y, _ := b.c.item()
	if c := strings.Compare(x.id.topic, y.id.topic); c != 0 {
		return c < 0
	}
	return a.p.id.broker < b.p.id.broker
}

// brokers names the brokers that have keys, in order, at most as many as are wanted.
func (v *view) brokers(most int) []string {
	var out []string
	k := place{&ident{}, 0}
	for len(out) < most {
		c := v.parts.seek(byBroker, k, sieve{})
		p, ok := c.item()
		if !ok {
			break
		}
		out = append(out, p.id.broker)
		k = place{&ident{broker: after(p.id.broker)}, 0}
	}
	return out
}

// brokersOf names the brokers on which a group has keys, in order, of one topic or,
// if that is empty, of any.
func (v *view) brokersOf(group, topic string) (list []string) {
	for c := v.groups.seek(byGroup, place{&ident{group: group}, 0}, sieve{}); ; c.next() {
		id, ok := c.item()
		if !ok || id.group != group {
			return list
		}
		if topic == "" || v.part(group, id.broker).has(topic) {
			list = append(list, id.broker)
		}
	}
}

// onCount counts the brokers on which a group has keys.
func (v *view) onCount(group string) int {
	return v.groups.count(byGroup, place{&ident{group: group}, 0}, place{&ident{group: after(group)}, 0})
}

// after is the first name behind another.
func after(name string) string { return name + "\x00" }
