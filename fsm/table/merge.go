package table

import (
	"iter"
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

// merge begins at a topic, or after a key, of a group. pick says which parts
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
	heapify(m.lists, (*nodes).before)
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

// from returns a cursor at the first node that may hold something of the topic and
// after the key.
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
	sink(m.lists, 0, (*nodes).before)
	return p, n
}

// before reports whether l stands before o in key order.
func (l *nodes) before(o *nodes) bool {
	x, _ := l.c.item()
	y, _ := o.c.item()
	if c := strings.Compare(x.id.topic, y.id.topic); c != 0 {
		return c < 0
	}
	return l.p.id.broker < o.p.id.broker
}

// heapify makes a heap of the list: what stands before all others comes to its top.
func heapify[T any](list []T, before func(a, b *T) bool) {
	for i := len(list)/2 - 1; i >= 0; i-- {
		sink(list, i, before)
	}
}

// sink moves element i of a heap down to where it belongs.
func sink[T any](list []T, i int, before func(a, b *T) bool) {
	for {
		least := i
		for kid := 2*i + 1; kid <= 2*i+2 && kid < len(list); kid++ {
			if before(&list[kid], &list[least]) {
				least = kid
			}
		}
		if least == i {
			return
		}
		list[i], list[least] = list[least], list[i]
		i = least
	}
}

// brokers yields the brokers that have keys, in order.
func (v *view) brokers() iter.Seq[string] {
	return func(yield func(string) bool) {
		k := place{&ident{}, 0}
		for {
			c := v.parts.seek(byBroker, k, sieve{})
			p, ok := c.item()
			if !ok || !yield(p.id.broker) {
				return
			}
			k = place{&ident{broker: after(p.id.broker)}, 0}
		}
	}
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

// after is the first name beyond another.
func after(name string) string { return name + "\x00" }
