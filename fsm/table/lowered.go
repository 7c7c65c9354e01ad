package table

import (
	"iter"

	"github.com/tidemark-mq/tidemark/offset"
)

// lowering gives what counts the keys that a swap of staged leaves at a lower
// offset than they have now. The count looks at every key, so it is left to
// whoever asks; what it looks at stays as it is from here on.
func (t *Table) lowering(staged *space, group string) func() uint64 {
	t.live.flush()
	staged.flush()
	before, after := t.live.view(), staged.view()
	t.gen++
	t.live.gen, staged.gen = t.gen, t.gen
	return func() uint64 { return lowered(&before, &after, group) }
}

// lowered counts the keys, of one group or, if it is empty, of all, that are
// lower in after than in before.
func lowered(before, after *view, group string) (n uint64) {
	next, stop := iter.Pull2(after.offsets(group))
	defer stop()
	k, off, ok := next()
	for was, from := range before.offsets(group) {
		for ok && k.Compare(was) < 0 {
			k, off, ok = next()
		}
		if ok && k == was && off < from {
			n++
		}
	}
	return n
}

// offsets yields the keys of a group, or of all, with their offsets, in key order.
func (v *view) offsets(group string) iter.Seq2[offset.Key, int64] {
	return func(yield func(offset.Key, int64) bool) {
		for c := v.groups.seek(byGroup, place{&ident{group: group}, 0}, sieve{}); ; {
			id, ok := c.item()
			if !ok || group != "" && id.group != group || !v.offsetsOf(id.group, yield) {
				return
			}
			for last := id.group; ok && id.group == last; id, ok = c.item() { // on another broker
				c.next()
			}
		}
	}
}

func (v *view) offsetsOf(group string, yield func(offset.Key, int64) bool) bool {
	for m := v.merge(group, func(*part) (sieve, bool) { return sieve{}, true }, "", nil); ; {
		_, n := m.next()
		if n == nil {
			return true
		}
		k := offset.Key{Group: n.id.group, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker}}
		for i := range n.queues {
			k.QueueID = n.queues[i].id()
			if !yield(k, n.queues[i].offset) {
				return false
			}
		}
	}
}
