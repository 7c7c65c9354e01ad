package table

import (
	"cmp"
	"strings"
)

// ident names a group, a group on a broker, or a group on one topic of one
// broker, by the fields that are set. It never changes and is shared by all
// that belongs to it; its strings are shared with its neighbours where they can be.
type ident struct {
	group, topic, broker string
}

// place is where an item stands in a tree: its names, and for a run of queues
// that is cut into several nodes, the lowest queue id that the node may hold.
type place struct {
	*ident
	first int32
}

// order says which names a tree is sorted by, and in which sequence.
type order uint8

const (
	// byGroup sorts the groups on brokers: by group, then broker.
	byGroup order = iota
	// byBroker sorts parts: by broker, then group.
	byBroker
	// byRun sorts the nodes of one part: by topic, then first queue id.
	byRun
	// byTopic sorts the pairs of topic and group: by topic, group, broker.
	byTopic
)

func (o order) compare(a, b place) int {
	switch o {
	case byGroup:
		if c := strings.Compare(a.group, b.group); c != 0 {
			return c
		}
		return strings.Compare(a.broker, b.broker)
	case byBroker:
		if c := strings.Compare(a.broker, b.broker); c != 0 {
			return c
		}
		return strings.Compare(a.group, b.group)
	case byRun:
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return cmp.Compare(a.first, b.first)
	}
	if c := strings.Compare(a.topic, b.topic); c != 0 {
		return c
	}
	if c := strings.Compare(a.group, b.group); c != 0 {
		return c
	}
	return strings.Compare(a.broker, b.broker)
}

// name returns a key's field by its number in the order. The second of byRun is
// no name.
func (o order) name(i *ident, field uint8) string {
	switch uint8(o)<<2 | field {
	case uint8(byGroup) << 2, uint8(byBroker)<<2 | 1, uint8(byTopic)<<2 | 1:
		return i.group
	case uint8(byRun) << 2, uint8(byTopic) << 2:
		return i.topic
	}
	return i.broker
}

// common returns the first field in which two keys, a below b, differ, and what
// they have in common of it.
func (o order) common(a, b place) (field uint8, prefix string) {
	for {
		if o == byRun && field == 1 {
			return field, ""
		}
		x, y := o.name(a.ident, field), o.name(b.ident, field)
		if x != y {
			n := 0
			for n < min(len(x), len(y)) && x[n] == y[n] {
				n++
			}
			return field, x[:n]
		}
		field++
	}
}

// place lets an ident be an item of a tree of pairs.
func (i *ident) place() place   { return place{i, 0} }
func (i *ident) summary() gauge { return gauge{} }
