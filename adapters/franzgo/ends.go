package franzgo

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/offset"
)

// Times that Kafka's ListOffsets takes for the ends of a partition.
const (
	atEnd    = -1
	atOldest = -2
)

// ends asks Kafka for the ends of partitions.
type ends struct{ kafka *kgo.Client }

var _ client.QueueEnds = ends{}

// MaxOffset is the offset that the partition's next message will get.
func (e ends) MaxOffset(ctx context.Context, mq offset.MessageQueue) (int64, error) {
	return e.list(ctx, mq, atEnd)
}

// SearchOffset is the offset of the first message of that time or later: the
// end if there is none.
func (e ends) SearchOffset(ctx context.Context, mq offset.MessageQueue, at time.Time) (int64, error) {
	next, err := e.list(ctx, mq, at.UnixMilli())
	if err == nil && next < 0 {
		return e.MaxOffset(ctx, mq)
	}
	return next, err
}

// both gives the oldest offset of a partition, and its end.
func (e ends) both(ctx context.Context, mq offset.MessageQueue) (oldest, end int64, err error) {
	if oldest, err = e.list(ctx, mq, atOldest); err != nil {
		return 0, 0, err
	}
	end, err = e.MaxOffset(ctx, mq)
	return oldest, end, err
}

// list makes one ListOffsets request, which kgo takes to the partition's leader.
func (e ends) list(ctx context.Context, mq offset.MessageQueue, at int64) (int64, error) {
	partition := kmsg.NewListOffsetsRequestTopicPartition()
	partition.Partition, partition.Timestamp = mq.QueueID, at
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic, topic.Partitions = mq.Topic, append(topic.Partitions, partition)
	request := kmsg.NewPtrListOffsetsRequest()
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(ctx, e.kafka)
	if err != nil {
		return 0, err
	}
	if len(response.Topics) != 1 || len(response.Topics[0].Partitions) != 1 {
		return 0, fmt.Errorf("kafka answered for %d topics instead of one partition", len(response.Topics))
	}
	answer := response.Topics[0].Partitions[0]
	return answer.Offset, kerr.ErrorForCode(answer.ErrorCode)
}
