package entry

import (
	"github.com/tidemark-mq/tidemark/offset"
)

// act appends an act: what all acts have, then what this one does.
func (b *Builder) act(r *Request) error {
	a := r.Act
	kind, n := actKind(a)
	if n != 1 {
		return invalid("an act does exactly one thing; this one names %d", n)
	}
	if err := b.head(r, kindAct, a.Cluster); err != nil {
		return err
	}
	b.body = append(b.body, kind)
	b.body = append(b.body, a.ID[:]...)
	b.uvarint(a.Base)
	b.uvarint(a.Claim)
	b.uvarint(uint64(r.Step))
	switch kind {
	case actReset:
		return b.targets(a.Reset.Targets)
	case actRemove:
		return b.remove(&a.Remove.Scope)
	case actClone:
		b.runs += MaxRuns
		return b.clone(a.Clone)
	case actExpire:
		b.runs += MaxRuns
		return b.expire(a.Expire)
	case actTake:
		return b.take(a.Take)
	}
	return b.importStep(a.Import)
}

// actKind returns the kind of the act, and how many things it does.
func actKind(a *offset.Act) (kind byte, n int) {
	for i, set := range [...]bool{
		a.Reset != nil, a.Remove != nil, a.Clone != nil, a.Expire != nil, a.Take != nil, a.Import != nil,
	} {
		if set {
			kind = byte(i) + actReset
			n++
		}
	}
	return kind, n
}

func (b *Builder) remove(s *offset.Scope) error {
	if s.HasQueue {
		b.runs++
	} else {
		b.runs += MaxRuns
	}
	return b.scope(s)
}

func (b *Builder) scope(s *offset.Scope) error {
	if s.QueueID < 0 {
		return invalid("queue id %d is negative", s.QueueID)
	}
	flags := byte(0)
	if s.HasBroker {
		flags |= scopeBroker
	}
	if s.HasQueue {
		flags |= scopeQueue
	}
	b.body = append(b.body, flags)
	if err := b.key(s.Group, s.Topic, s.Broker); err != nil {
		return err
	}
	b.uvarint(uint64(s.QueueID))
	return nil
}

func (b *Builder) clone(c *offset.Clone) error {
	b.bool(c.HasBroker)
	if err := b.ref(tableGroups, c.From); err != nil {
		return err
	}
	return b.key(c.To, c.Topic, c.Broker)
}

func (b *Builder) take(t *offset.Take) error {
	table := tableGroups
	if t.ByBroker {
		table = tableBrokers
	}
	b.bool(t.ByBroker)
	if err := b.ref(table, t.Name); err != nil {
		return err
	}
	return b.others(t.Holder)
}

func (b *Builder) expire(e *offset.Expire) error {
	if len(e.Groups) > offset.MaxCommits {
		return invalid("%d groups in one expiry; at most %d are allowed", len(e.Groups), offset.MaxCommits)
	}
	b.uvarint(uint64(len(e.Groups)))
	was := uint64(0)
	for _, g := range e.Groups {
		if err := b.ref(tableGroups, g.Group); err != nil {
			return err
		}
		b.varint(int64(g.Seen - was))
		was = g.Seen
	}
	return nil
}

func (b *Builder) importStep(i *offset.Import) error {
	if i.Step > offset.ImportAbort || i.Mode > offset.ImportReplace {
		return invalid("unknown step %d or mode %d of an import", i.Step, i.Mode)
	}
	b.body = append(b.body, byte(i.Step), byte(i.Mode))
	if err := b.ref(tableGroups, i.Group); err != nil {
		return err
	}
	hashed := i.Hash != [32]byte{}
	b.bool(hashed)
	if hashed {
		b.body = append(b.body, i.Hash[:]...)
	}
	b.uvarint(uint64(i.Chunks))
	b.uvarint(i.Offsets)
	b.uvarint(uint64(i.Chunk))
	return b.targets(i.Targets)
}

// targets appends keys with offsets as runs that share group, topic and
// broker. Sorted by key they take the least.
func (b *Builder) targets(list []offset.Target) error {
	if len(list) > offset.MaxCommits {
		return invalid("%d keys in one act; at most %d are allowed", len(list), offset.MaxCommits)
	}
	b.uvarint(uint64(len(list)))
	var names topicNames
	was := int64(0)
	for len(list) > 0 {
		k := &list[0].Key
		n := runLen(list)
		if err := b.topic(&names, k.Group, k.Topic, k.Broker, n); err != nil {
			return err
		}
		if err := b.run(list[:n], &was); err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// run appends queue ids and offsets as differences.
func (b *Builder) run(list []offset.Target, was *int64) error {
	next := int64(0)
	for i := range list {
		t := &list[i]
		if t.Key.QueueID < 0 || t.Offset < 0 {
			return invalid("queue id %d or offset %d is negative", t.Key.QueueID, t.Offset)
		}
		b.varint(int64(t.Key.QueueID) - next)
		b.varint(t.Offset - *was)
		next, *was = int64(t.Key.QueueID)+1, t.Offset
	}
	return nil
}

// runLen is how many targets from the front share group, topic and broker.
func runLen(list []offset.Target) int {
	first := &list[0].Key
	n := 1
	for n < len(list) {
		k := &list[n].Key
		if k.Topic != first.Topic || k.Group != first.Group || k.Broker != first.Broker {
			break
		}
		n++
	}
	return n
}
