package entry

import (
	"encoding/binary"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/offset"
)

// encode appends r to the body. On an error the Builder is left half done.
func (b *Builder) encode(r *Request) error {
	if n := r.things(); n != 1 {
		return invalid("a request asks for exactly one thing; this one names %d", n)
	}
	switch {
	case r.Commits != nil:
		return b.commits(r)
	case r.Set != nil:
		return b.set(r)
	case r.Act != nil:
		return b.act(r)
	case r.Member != nil:
		return b.member(r)
	case r.Later.asked():
		return b.later(r)
	}
	return b.plain(r)
}

// things counts what the request asks for.
func (r *Request) things() int {
	n := 0
	for _, set := range [...]bool{
		r.Commits != nil, r.Set != nil, r.Act != nil, r.Member != nil,
		r.Forget != "", r.Level != 0, r.Checkpoint, r.Later.asked(),
	} {
		if set {
			n++
		}
	}
	return n
}

// head appends the first byte of a request and, unless it is the same as the
// last one's, its caller; then the cluster, unless it is the entry's.
func (b *Builder) head(r *Request, kindAndFlags byte, cluster offset.ClusterID) error {
	same := r.Principal == b.principal && r.From == b.from
	foreign := cluster != b.cluster
	if same {
		kindAndFlags |= flagSameCaller
	}
	if foreign {
		kindAndFlags |= flagForeign
	}
	b.body = append(b.body, kindAndFlags)
	if !same {
		if err := b.others(r.Principal, r.From); err != nil {
			return err
		}
		b.principal, b.from = r.Principal, r.From
	}
	if foreign {
		b.body = append(b.body, cluster[:]...)
	}
	return nil
}

func (b *Builder) commits(r *Request) error {
	c := r.Commits
	if n := c.Count(); n > offset.MaxCommits || len(c.Topics) > offset.MaxCommits {
		return invalid("%d commits of %d topics in one request; at most %d are allowed", n, len(c.Topics), offset.MaxCommits)
	}
	first := byte(kindCommits)
	if c.Atomic {
		first |= flagAtomic
	}
	if err := b.head(r, first, c.Cluster); err != nil {
		return err
	}
	b.uvarint(uint64(len(c.Topics)))
	var names topicNames
	var was offset.QueueCommit // offset and epoch of the commit before
	for i := range c.Topics {
		t := &c.Topics[i]
		if err := b.topic(&names, t.Group, t.Topic, t.Broker, len(t.Queues)); err != nil {
			return err
		}
		was.QueueID = -1
		for j := range t.Queues {
			if err := b.queue(&t.Queues[j], &was); err != nil {
				return err
			}
		}
	}
	return nil
}

// queue appends a commit as its difference to the one before.
func (b *Builder) queue(q, was *offset.QueueCommit) error {
	if q.QueueID < 0 || q.Offset < 0 {
		return invalid("queue id %d or offset %d is negative", q.QueueID, q.Offset)
	}
	step := bin.Zigzag(int64(q.QueueID)-int64(was.QueueID)-1) << 1
	if q.Epoch != was.Epoch {
		step |= 1
	}
	b.uvarint(step)
	b.varint(q.Offset - was.Offset)
	if q.Epoch != was.Epoch {
		b.varint(int64(q.Epoch - was.Epoch))
	}
	*was = *q
	return nil
}

func (b *Builder) set(r *Request) error {
	s := r.Set
	b.runs++
	if s.Offset < 0 || s.Replaces < 0 || s.Key.QueueID < 0 {
		return invalid("offset %d, replaced offset %d or queue id %d is negative", s.Offset, s.Replaces, s.Key.QueueID)
	}
	first := byte(kindSet)
	if s.Operator {
		first |= flagOperator
	}
	if s.Exists {
		first |= flagReplaces
	}
	if err := b.head(r, first, s.Cluster); err != nil {
		return err
	}
	if err := b.key(s.Key.Group, s.Key.Topic, s.Key.Broker); err != nil {
		return err
	}
	b.uvarint(uint64(s.Key.QueueID))
	b.uvarint(uint64(s.Offset))
	b.uvarint(s.Epoch)
	b.uvarint(uint64(s.Replaces))
	b.uvarint(s.Claim)
	return nil
}

func (b *Builder) member(r *Request) error {
	if r.Member.ID == "" {
		return invalid("a member that announces itself has no id")
	}
	if err := b.head(r, kindAnnounce, b.cluster); err != nil {
		return err
	}
	if err := b.others(r.Member.ID, r.Member.API); err != nil {
		return err
	}
	b.body = append(b.body, r.Member.MaxLevel)
	return nil
}

// plain appends the requests that hold next to nothing.
func (b *Builder) plain(r *Request) error {
	switch {
	case r.Forget != "":
		if err := b.head(r, kindForget, b.cluster); err != nil {
			return err
		}
		return b.others(r.Forget)
	case r.Level != 0:
		if err := b.head(r, kindLevel, b.cluster); err != nil {
			return err
		}
		b.body = append(b.body, r.Level)
		return nil
	}
	return b.head(r, kindCheckpoint, b.cluster)
}

func (b *Builder) uvarint(v uint64) { b.body = binary.AppendUvarint(b.body, v) }

func (b *Builder) varint(v int64) { b.body = bin.AppendVarint(b.body, v) }

func (b *Builder) bool(v bool) { b.body = bin.AppendBool(b.body, v) }

// ref appends a reference to a name of a table.
func (b *Builder) ref(table int, s string) error {
	if len(s) > MaxString {
		return invalid("a name of %d bytes; at most %d can be written", len(s), MaxString)
	}
	b.uvarint(uint64(b.names[table].ref(s)))
	return nil
}

// others appends references to strings that are no part of a key.
func (b *Builder) others(list ...string) error {
	for _, s := range list {
		if err := b.ref(tableOthers, s); err != nil {
			return err
		}
	}
	return nil
}

// key appends references to the names of a key.
func (b *Builder) key(group, topic, broker string) error {
	if err := b.ref(tableGroups, group); err != nil {
		return err
	}
	if err := b.ref(tableTopics, topic); err != nil {
		return err
	}
	return b.ref(tableBrokers, broker)
}

// topicNames are the group and broker of the topic before in a request, which
// the next mostly shares. They begin empty.
type topicNames struct{ group, broker string }

// topic appends what n queues have in common: n and whether group and broker
// are other than before, then the references.
func (b *Builder) topic(was *topicNames, group, topic, broker string, n int) error {
	b.runs++
	first := uint64(n) << 2
	if group != was.group {
		first |= otherGroup
	}
	if broker != was.broker {
		first |= otherBroker
	}
	b.uvarint(first)
	if group != was.group {
		if err := b.ref(tableGroups, group); err != nil {
			return err
		}
	}
	if broker != was.broker {
		if err := b.ref(tableBrokers, broker); err != nil {
			return err
		}
	}
	was.group, was.broker = group, broker
	return b.ref(tableTopics, topic)
}
