package offsetfile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/tidemark-mq/tidemark/offset"
)

// WriteLocal writes offsets as RocketMQ's Java client writes its offsets.json:
// a map whose keys are objects, which is not standard JSON, but what that
// client reads. The order is that of topic, broker and queue.
func WriteLocal(w io.Writer, offsets map[offset.MessageQueue]int64) error {
	b := bufio.NewWriter(w)
	write := func(parts ...string) {
		for _, s := range parts {
			_, _ = b.WriteString(s) // the first error comes back from Flush
		}
	}
	write("{\n\t\"offsetTable\":{")
	for i, mq := range inOrder(offsets) {
		if i > 0 {
			write(",")
		}
		write("{\n\t\t\t\"brokerName\":", quote(mq.Broker), ",\n\t\t\t\"queueId\":", strconv.Itoa(int(mq.QueueID)),
			",\n\t\t\t\"topic\":", quote(mq.Topic), "\n\t\t}:", strconv.FormatInt(offsets[mq], 10))
	}
	if len(offsets) > 0 {
		write("\n\t")
	}
	write("}\n}")
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing the offset file: %w", err)
	}
	return nil
}

func inOrder(offsets map[offset.MessageQueue]int64) []offset.MessageQueue {
	return slices.SortedFunc(maps.Keys(offsets), func(a, b offset.MessageQueue) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.QueueID, b.QueueID))
	})
}

// File gives the offsets as those of a group, as Read would: in order, and
// what a cluster does not take skipped and listed.
func (l *Local) File(group string) *File { return l.file(Options{Group: group}) }

func (l *Local) file(o Options) *File {
	b := newBuilder(o, LocalJSON)
	b.file.Report.Notes = l.Notes
	var open offset.MessageQueue
	for i, mq := range inOrder(l.Offsets) {
		if i == 0 || mq.Topic != open.Topic || mq.Broker != open.Broker {
			if i > 0 {
				b.end()
			}
			b.local(mq)
			open = mq
		}
		b.queue(mq.QueueID, l.Offsets[mq], Position{})
	}
	if len(l.Offsets) > 0 {
		b.end()
	}
	return b.done()
}

// local begins the queues of a topic on a broker.
func (b *builder) local(mq offset.MessageQueue) {
	group := b.o.Group
	why := badNames(group, mq.Topic, mq.Broker, b.o.StrictNames)
	b.key, b.current, b.dropped = mq.Topic+"@"+group, Entry{Group: group, Topic: mq.Topic, Broker: mq.Broker}, why != ""
	b.queues = b.queues[:0]
	if b.dropped {
		b.skip(Skip{Key: b.key, Reason: why})
	}
}
