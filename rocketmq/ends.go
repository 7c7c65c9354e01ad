package rocketmq

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// The requests for the ends of queues.
const (
	codeSearchOffset = 29  // SEARCH_OFFSET_BY_TIMESTAMP
	codeMaxOffset    = 30  // GET_MAX_OFFSET
	codeMinOffset    = 31  // GET_MIN_OFFSET
	codeTopicStats   = 202 // GET_TOPIC_STATS_INFO
)

// Ends is where the queues of brokers begin and end, as *Client answers it.
// All three are 0 or more. The error wraps offset.ErrNotFound where the broker
// is not known, or has no such queue: then there is no end, and not 0. A queue
// without a broker name is that of the only broker, if the client knows just one.
type Ends interface {
	// MinOffset is the offset of the oldest message that the broker has.
	MinOffset(ctx context.Context, mq offset.MessageQueue) (int64, error)
	// MaxOffset is the offset that the queue's next message will get.
	MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error)
	// SearchOffset is the offset of the first message stored at that time or later.
	SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error)
}

var _ Ends = (*Client)(nil)

// MinOffset is the offset of the oldest message that the queue's broker has,
// equal to MaxOffset if it has none.
func (c *Client) MinOffset(ctx context.Context, mq offset.MessageQueue) (n int64, err error) {
	return c.end(ctx, mq, request{code: codeMinOffset, what: "a queue's begin"})
}

// MaxOffset is the offset that the queue's next message will get.
func (c *Client) MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	return c.end(ctx, mq, request{code: codeMaxOffset, what: "a queue's end"})
}

// exactSearch is the first version of brokers that is sure to answer
// SEARCH_OFFSET_BY_TIMESTAMP as documented, 5.3.1. Those of 4.9 give the
// message nearest to the time.
const exactSearch = 475

// SearchOffset is the offset of the first message stored at that time or
// later, in the broker's clock and to the millisecond; MaxOffset if there is
// none. Of a broker before 5.3.1 it is that of the message nearest to the
// millisecond before: a consumer that starts there may get messages that are
// older, and skips none.
func (c *Client) SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error) {
	r := request{code: codeSearchOffset, what: "a queue's offset of a time"}
	ms := at.UnixMilli()
	if time.UnixMilli(ms).Before(at) {
		ms++
	}
	var n int64
	err := c.onBroker(ctx, mq.Broker, func(b Broker) (err error) {
		version := 0
		if n, version, err = c.endOn(ctx, b, mq, r.with("timestamp", strconv.FormatInt(ms, 10))); err == nil && version < exactSearch {
			n, err = c.searchNearest(ctx, b, mq, r, ms)
		}
		if err != nil {
			return err
		}
		first, _, err := c.endOn(ctx, b, mq, request{code: codeMinOffset, what: "a queue's begin"})
		n = max(n, first) // what was deleted is found as well
		return err
	})
	return n, err
}

// searchNearest asks a broker that gives the message nearest to a time, and of
// a time behind all messages the newest one, as if there were none behind it.
func (c *Client) searchNearest(ctx context.Context, b Broker, mq offset.MessageQueue, r request, ms int64) (int64, error) {
	q, err := c.queueOn(ctx, b, mq)
	if err != nil || q.LastStored.Before(time.UnixMilli(ms)) {
		return q.Max, err
	}
	n, _, err := c.endOn(ctx, b, mq, r.with("timestamp", strconv.FormatInt(ms-1, 10)))
	return n, err
}

// end asks the queue's broker for a number.
func (c *Client) end(ctx context.Context, mq offset.MessageQueue, r request) (n int64, err error) {
	err = c.onBroker(ctx, mq.Broker, func(b Broker) error {
		n, _, err = c.endOn(ctx, b, mq, r)
		return err
	})
	return n, err
}

// endOn asks a broker for a number of a queue, and learns its version. Brokers
// answer 0, some -1, for queues and topics that they do not have: such an
// answer is looked into.
func (c *Client) endOn(ctx context.Context, b Broker, mq offset.MessageQueue, r request) (n int64, version int, err error) {
	if err := (offset.Key{Group: "-", MessageQueue: mq}).Validate(); err != nil {
		return 0, 0, err
	}
	r = r.with("topic", mq.Topic).with("queueId", strconv.Itoa(int(mq.QueueID)))
	r.take = func(h header, _ io.Reader) error {
		version = h.Version
		text := h.Fields["offset"]
		if n, err = strconv.ParseInt(text, 10, 64); err != nil || n < -1 {
			return damaged("the answer has the offset %q", text)
		}
		return nil
	}
	if err := c.pool.call(ctx, b.Addr, r); err != nil || n > 0 {
		return n, version, err
	}
	_, err = c.queueOn(ctx, b, mq)
	return 0, version, err
}

// queueOn gives the ends of one queue on a broker. The error wraps
// offset.ErrNotFound if there is no such queue.
func (c *Client) queueOn(ctx context.Context, b Broker, mq offset.MessageQueue) (QueueEnds, error) {
	list, err := c.topicOn(ctx, b, mq.Topic)
	if err != nil {
		return QueueEnds{}, err
	}
	i := slices.IndexFunc(list, func(q QueueEnds) bool { return q.Queue.QueueID == mq.QueueID })
	if i < 0 {
		return QueueEnds{}, offset.Errorf(offset.ErrNotFound, "the broker %q has no queue %d of the topic %q, but %d others", b.Name, mq.QueueID, mq.Topic, len(list))
	}
	return list[i], nil
}

// QueueEnds is where one queue begins and ends.
type QueueEnds struct {
	Queue offset.MessageQueue
	// Min and Max are as MinOffset and MaxOffset give them.
	Min, Max int64
	// LastStored is when the newest message was stored, in the broker's clock;
	// the Unix epoch, or earlier, if there is none.
	LastStored time.Time
}

// TopicEnds gives the ends of all queues of a topic, on all masters that are
// known and have it, in the order of brokers and queues. The error wraps
// offset.ErrNotFound if none has it.
func (c *Client) TopicEnds(ctx context.Context, topic string) ([]QueueEnds, error) {
	if err := offset.ValidateName("topic", topic, false); err != nil {
		return nil, err
	}
	var brokers []Broker
	if c.self != nil {
		brokers = []Broker{*c.self}
	} else if list, err := c.route(ctx, topic); err != nil {
		return nil, err
	} else {
		brokers = list
	}
	var all []QueueEnds
	for _, b := range brokers {
		list, err := c.topicOn(ctx, b, topic)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	if len(all) == 0 {
		return nil, offset.Errorf(offset.ErrNotFound, "%s knows no master that has the topic %q", c.addr, topic)
	}
	slices.SortFunc(all, func(x, y QueueEnds) int {
		return cmp.Or(cmp.Compare(x.Queue.Broker, y.Queue.Broker), cmp.Compare(x.Queue.QueueID, y.Queue.QueueID))
	})
	return all, nil
}

// topicOn gives the ends of a topic's queues on one broker.
func (c *Client) topicOn(ctx context.Context, b Broker, topic string) ([]QueueEnds, error) {
	var body []byte
	r := request{code: codeTopicStats, what: "the queues of a topic"}.with("topic", topic).body(&body)
	if err := c.pool.call(ctx, b.Addr, r); err != nil {
		return nil, err
	}
	list, err := queuesOf(body)
	for i := range list {
		list[i].Queue.Topic, list[i].Queue.Broker = topic, b.Name
	}
	return list, err
}

// queuesOf gives the queues of a topic in a broker's answer, by their ids alone.
func queuesOf(body []byte) (list []QueueEnds, err error) {
	var stats struct {
		Queues map[string]struct {
			Min int64 `json:"minOffset"`
			Max int64 `json:"maxOffset"`
			At  int64 `json:"lastUpdateTimestamp"`
		} `json:"offsetTable"`
	}
	if err := unmarshal(body, &stats); err != nil {
		return nil, err
	}
	for key, e := range stats.Queues {
		var q struct {
			ID *int32 `json:"queueId"`
		}
		if err := json.Unmarshal([]byte(key), &q); err != nil || q.ID == nil || *q.ID < 0 || e.Min < 0 || e.Max < 0 {
			return nil, damaged("the ends of the queue %q are %d and %d", key, e.Min, e.Max)
		}
		list = append(list, QueueEnds{Queue: offset.MessageQueue{QueueID: *q.ID}, Min: e.Min, Max: e.Max, LastStored: time.UnixMilli(e.At)})
	}
	return list, nil
}
