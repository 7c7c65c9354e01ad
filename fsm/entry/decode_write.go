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
	var names topicNames
	var was offset.QueueCommit
	for i := range c.Topics {
		topic, n := d.topic(&names, left, minQueue)
		t := &c.Topics[i]
		*t = offset.TopicCommits{Group: names.group, Topic: topic, Broker: names.broker, Queues: d.queues.Take(n)}
		left -= n
		was.QueueID = -1
		d.readQueues(t.Queues, &was)
		if d.Err != nil {
			return
		}
	}
	r.Commits = c
}

// topic reads what queues have in common: their group and broker into names,
// the topic, and how many they are: at most limit, of at least size bytes each.
func (d *decoder) topic(names *topicNames, limit, size int) (topic string, n int) {
	first := d.Uvarint()
	if first&otherGroup != 0 {
		names.group = d.name(tableGroups)
	}
	if first&otherBroker != 0 {
		names.broker = d.name(tableBrokers)
	}
	topic = d.name(tableTopics)
	if first >>= 2; first > uint64(limit) || first > uint64(d.Rest()/size) {
		d.Damaged("%d queues are announced before byte %d; at most %d are allowed, and %d bytes are left", first, d.Pos, limit, d.Rest())
		return "", 0
	}
	return topic, int(first)
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
		Key: offset.Key{Group: d.name(tableGroups), MessageQueue: offset.MessageQueue{
			Topic: d.name(tableTopics), Broker: d.name(tableBrokers), QueueID: d.QueueID(),
		}},
		Offset:   d.Offset(),
		Epoch:    d.Uvarint(),
		Replaces: d.Offset(),
		Claim:    d.Uvarint(),
	}
}
