package systems

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaLoad is a Work on the group coordinators. Each caller is a group without
// members, whose offsets anybody may commit.
type kafkaLoad struct {
	work    Work
	clients []*kgo.Client
	keys    [][]Key
	// next is the offset that a caller writes next.
	next []int64
}

// mostPartitions is the largest batch: each of its offsets is of a partition
// that there has to be.
const mostPartitions = 1000

// manyClients is how many clients the callers of one group share: a broker takes
// one request of a client after another, which would not do for them.
const manyClients = 16

func (k *kafka) Workload(ctx context.Context, w Work) (Load, error) {
	if w.Batch > mostPartitions {
		return nil, ErrNotOffered
	}
	l := &kafkaLoad{work: w, next: make([]int64, w.Callers)}
	n := clients(w)
	if w.OneGroup {
		n = manyClients
	}
	for range n {
		c, err := k.connect()
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.clients = append(l.clients, c)
	}
	if err := k.ensure(ctx, l.clients[0], w); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	begin := firstOffset()
	for i := range l.next {
		l.next[i] = begin
		l.keys = append(l.keys, w.keys(i))
	}
	if err := each(w.Callers, func(i int) error { return l.first(ctx, i) }); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// first writes as soon as the coordinator has heard of the partitions.
func (l *kafkaLoad) first(ctx context.Context, caller int) error {
	for {
		err := l.write(ctx, caller)
		if !errors.Is(err, kerr.UnknownTopicOrPartition) {
			return err
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// topicOf is the topic of a key: brokers have no names that offsets stand under.
func topicOf(k Key) string { return k.Topic + "-" + k.Broker }

// ensure makes the topics of a work that there are not yet, each partition on
// one broker: a coordinator refuses commits of others, and stores nothing there.
func (k *kafka) ensure(ctx context.Context, c *kgo.Client, w Work) error {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = int32(patience.Milliseconds())
	for ; k.topics < w.topics(); k.topics++ {
		topic := kmsg.NewCreateTopicsRequestTopic()
		one := Work{Batch: 1 + k.topics*queuesPerTopic}.keys(0)
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = topicOf(one[len(one)-1]), queuesPerTopic, 1
		request.Topics = append(request.Topics, topic)
	}
	if len(request.Topics) == 0 {
		return nil
	}
	answer, err := request.RequestWith(ctx, c)
	if err != nil {
		return fmt.Errorf("making topics: %w", err)
	}
	for _, t := range answer.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return fmt.Errorf("making topic %s: %w", t.Topic, err)
		}
	}
	return nil
}

func (l *kafkaLoad) of(caller int) *kgo.Client { return l.clients[caller%len(l.clients)] }

func (l *kafkaLoad) Do(ctx context.Context, caller int) error {
	if l.work.Op == Write {
		return l.write(ctx, caller)
	}
	return l.read(ctx, caller)
}

func (l *kafkaLoad) write(ctx context.Context, caller int) error {
	l.next[caller]++
	keys := l.keys[caller]
	request := kmsg.NewPtrOffsetCommitRequest()
	request.Group, request.Generation = keys[0].Group, -1
	for first := 0; first < len(keys); {
		topic := kmsg.NewOffsetCommitRequestTopic()
		topic.Topic = topicOf(keys[first])
		for name := keys[first].Topic; first < len(keys) && keys[first].Topic == name; first++ {
			p := kmsg.NewOffsetCommitRequestTopicPartition()
			p.Partition, p.Offset = keys[first].Queue, l.next[caller]
			topic.Partitions = append(topic.Partitions, p)
		}
		request.Topics = append(request.Topics, topic)
	}
	answer, err := request.RequestWith(ctx, l.of(caller))
	if err != nil {
		return err
	}
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("committing %s, %d: %w", t.Topic, p.Partition, err)
			}
		}
	}
	return nil
}

// read asks for one offset of a caller's group, or for all.
func (l *kafkaLoad) read(ctx context.Context, caller int) error {
	keys := l.keys[caller]
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = keys[0].Group
	if l.work.Op == Read {
		topic := kmsg.NewOffsetFetchRequestGroupTopic()
		topic.Topic, topic.Partitions = topicOf(keys[0]), []int32{keys[0].Queue}
		group.Topics = append(group.Topics, topic)
	}
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Groups = append(request.Groups, group)
	answer, err := request.RequestWith(ctx, l.of(caller))
	if err != nil {
		return err
	}
	n, err := offsets(answer)
	if err == nil && n < l.work.Batch {
		err = fmt.Errorf("%s: %d offsets are there, %d were written", group.Group, n, l.work.Batch)
	}
	return err
}

// offsets counts the offsets of an answer.
func offsets(answer *kmsg.OffsetFetchResponse) (n int, err error) {
	for _, g := range answer.Groups {
		if err := kerr.ErrorForCode(g.ErrorCode); err != nil {
			return 0, err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return 0, err
				}
				if p.Offset >= 0 {
					n++
				}
			}
		}
	}
	return n, nil
}

func (l *kafkaLoad) Close() error {
	for _, c := range l.clients {
		c.Close()
	}
	return nil
}
