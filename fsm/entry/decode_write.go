package entry

import (
	"math"

	"github.com/tidemark-mq/tidemark/fsm/internal/bin"
	"github.com/tidemark-mq/tidemark/offset"
)

func (d *decoder) readCommits(r *Request, flags byte) {
	c := &d.commits.Take(1)[0]
	*c = offset.Commits{Cluster: d.cluster(flags), Atomic: flags&flagAtomic != 0}
	c.Topics = d.topics.Take(d.Count("topics", offset.MaxCommits, minTopic))
	left := offset.MaxCommits
	var was offset.QueueCommit
	for i := range c.Topics {
		t := &c.Topics[i]
		*t = offset.TopicCommits{Group: d.name(), Topic: d.name(), Broker: d.name()}
		t.Queues = d.queues.Take(d.Count("commits", left, minQueue))
		left -= len(t.Queues)
		was.QueueID = -1
		d.readQueues(t.Queues, &was)
		if d.Err != nil {
			return
		}
	}
	r.Commits = c
}

// readQueues reads commits, each as its difference to the one before.
func (d *decoder) readQueues(list []offset.QueueCommit, was *offset.QueueCommit) {
	for i := range list {
		step := d.Uvarint()
		id := int64(was.QueueID) + 1 + bin.Unzigzag(step>>1)
		off := was.Offset + d.Varint()
		epoch := was.Epoch
		if step&1 != 0 {
			epoch += uint64(d.Varint())
		}
		if id < 0 || id > math.MaxInt32 || off < 0 {
			d.Damaged("queue id %d or offset %d out of range before byte %d", id, off, d.Pos)
			return
		}
		*was = offset.QueueCommit{QueueID: int32(id), Offset: off, Epoch: epoch}
		list[i] = *was
	}
}

func (d *decoder) readSet(r *Request, flags byte) {
	r.Set = &offset.Set{
		Cluster:  d.cluster(flags),
		Operator: flags&flagOperator != 0,
		Exists:   flags&flagReplaces != 0,
		Key: offset.Key{Group: d.name(), MessageQueue: offset.MessageQueue{
			Topic: d.name(), Broker: d.name(), QueueID: d.QueueID(),
		}},
		Offset:   d.Offset(),
		Epoch:    d.Uvarint(),
		Replaces: d.Offset(),
		Claim:    d.Uvarint(),
	}
}
