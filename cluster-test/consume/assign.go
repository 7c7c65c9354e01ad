package main

import (
	"fmt"
	"strings"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/offsetfile"
)

// queues is how many queues a consumer owns.
const queues = 4

// queueSet is what one consumer owns: four queues of one topic, as one group.
type queueSet struct {
	Group string
	MQs   []offset.MessageQueue
}

// assign gives each of n consumers a group of the file with a topic of at
// least four queues; no (group, topic) is given twice.
func assign(file *offsetfile.File, n int) ([]queueSet, error) {
	var sets []queueSet
	byTopic := map[offset.Key]*queueSet{}
	var order []offset.Key
	for t := range file.All() {
		k := t.Key
		k.QueueID = 0
		if strings.HasPrefix(k.Topic, "%") || strings.Contains(k.Group, "@") {
			continue
		}
		s := byTopic[k]
		if s == nil {
			s = &queueSet{Group: k.Group}
			byTopic[k] = s
			order = append(order, k)
		}
		if len(s.MQs) < queues {
			s.MQs = append(s.MQs, t.Key.MessageQueue)
		}
	}
	for _, k := range order {
		if s := byTopic[k]; len(s.MQs) == queues {
			sets = append(sets, *s)
		}
		if len(sets) == n {
			return sets, nil
		}
	}
	return nil, fmt.Errorf("the file has %d topics with %d queues; %d consumers need one each", len(sets), queues, n)
}
