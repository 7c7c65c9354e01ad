package javaparts

import (
	"strconv"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// Send stores a message in a queue, as a producer does.
func (b *Broker) Send(topic string, queue int, body []byte) {
	b.tb.Helper()
	ext := map[string]string{
		"producerGroup": "producer", "topic": topic, "queueId": strconv.Itoa(queue),
		"defaultTopic": "TBW102", "defaultTopicQueueNums": "4", "sysFlag": "0", "flag": "0",
		"bornTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
		"properties":    "", "reconsumeTimes": "0", "unitMode": "false",
	}
	if _, err := remoting.Call(b.tb.Context(), b.Addr, codeSendMessage, ext, body); err != nil {
		b.tb.Fatalf("sending to queue %d of topic %s: %v", queue, topic, err)
	}
}

// Commit stores an offset, as a consumer that waits for the answer does. The
// broker takes any number.
func (b *Broker) Commit(group, topic string, queue int, offset int64) {
	b.tb.Helper()
	ext := map[string]string{
		"consumerGroup": group, "topic": topic, "queueId": strconv.Itoa(queue),
		"commitOffset": strconv.FormatInt(offset, 10),
	}
	if _, err := remoting.Call(b.tb.Context(), b.Addr, codeUpdateOffset, ext, nil); err != nil {
		b.tb.Fatalf("committing queue %d of topic %s for group %s: %v", queue, topic, group, err)
	}
}
