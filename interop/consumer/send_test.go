package consumer

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/javaparts/remoting"
)

// codeSendMessage is what a producer sends.
const codeSendMessage = 10

// send sends messages from..to to each queue of a topic, each queue's in their
// order; so message n of a queue has offset n. What the broker is too busy for
// is sent again.
func (s *scene) send(t *testing.T, topic string, from, to int) {
	t.Helper()
	c, err := remoting.Dial(t.Context(), s.broker.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := from; i < to; i++ {
		for q := range queues {
			until(t, func() bool {
				var f *remoting.Frame
				f, err = c.Call(codeSendMessage, message(topic, q), fmt.Appendf(nil, "%d .", i*queues+q))
				if err != nil {
					t.Fatalf("sending to queue %d of %s: %v", q, topic, err)
				}
				return f.Code == 0
			}, func() string { return "the broker takes no messages of " + topic })
		}
	}
}

// message are the fields of a message that goes to a queue.
func message(topic string, queue int) map[string]string {
	return map[string]string{
		"producerGroup": "producer", "topic": topic, "queueId": strconv.Itoa(queue),
		"defaultTopic": "TBW102", "defaultTopicQueueNums": "4", "sysFlag": "0", "flag": "0",
		"bornTimestamp": strconv.FormatInt(time.Now().UnixMilli(), 10),
		"properties":    "", "reconsumeTimes": "0", "unitMode": "false",
	}
}
