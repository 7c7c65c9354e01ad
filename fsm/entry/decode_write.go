package entry

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

func (d *Decoder) readCommits(r *Request, flags byte) {
	c := &d.commits.take(1)[0]
	*c = offset.Commits{Cluster: d.cluster(flags), Atomic: flags&flagAtomic != 0}
	c.Topics = d.topics.take(d.count("topics", offset.MaxCommits, minTopic))
	left := offset.MaxCommits
	var was offset.QueueCommit
	for i := range c.Topics {
		t := &c.Topics[i]
		*t = offset.TopicCommits{Group: d.name(), Topic: d.name(), Broker: d.name()}
		t.Queues = d.queues.take(d.count("commits", left, minQueue))
		left -= len(t.Queues)
		was.QueueID = -1
		d.readQueues(t.Queues, &was)
		if d.err != nil {
			return
		}
	}
	r.Commits = c
}

// readQueues reads commits, each as its difference to the one before.
func (d *Decoder) readQueues(list []offset.QueueCommit, was *offset.QueueCommit) {
	for i := range list {
		step := d.uvarint()
		id := int64(was.QueueID) + 1 + unzigzag(step>>1)
		off := was.Offset + d.varint()
		epoch := was.Epoch
		if step&1 != 0 {
			epoch += uint64(d.varint())
		}
		if id < 0 || id > math.MaxInt32 || off < 0 {
			d.fail(damaged("queue id %d or offset %d out of range before byte %d", id, off, d.pos))
			return
		}
		*was = offset.QueueCommit{QueueID: int32(id), Offset: off, Epoch: epoch}
		list[i] = *was
	}
}

func (d *Decoder) readSet(r *Request, flags byte) {
	r.Set = &offset.Set{
		Cluster:  d.cluster(flags),
		Operator: flags&flagOperator != 0,
		Exists:   flags&flagReplaces != 0,
		Key: offset.Key{Group: d.name(), MessageQueue: offset.MessageQueue{
			Topic: d.name(), Broker: d.name(), QueueID: d.queueID(),
		}},
		Offset:   d.offset(),
		Epoch:    d.uvarint(),
		Replaces: d.offset(),
		Claim:    d.uvarint(),
	}
}
