package systems

import (
	"fmt"
	"time"
)

// queuesPerTopic is how many queues of one topic stand side by side.
const queuesPerTopic = 16

// Key names an offset by RocketMQ's four names, which have about the length
// that names have in use. There is no dot in them, since NATS takes one for a
// step in its tree.
type Key struct {
	Group, Topic, Broker string
	Queue                int32
}

// keys gives a caller keys of its own: a group, unless all have one, and topics
// of 16 queues.
func (w Work) keys(caller int) []Key {
	first := 0
	if w.OneGroup {
		caller, first = 0, caller*w.Batch
	}
	list := make([]Key, w.Batch)
	for i := range list {
		n := first + i
		list[i] = Key{
			Group:  fmt.Sprintf("com-example-shop-orders-group-%010d", caller),
			Topic:  fmt.Sprintf("com-example-shop-orders-topic-%010d", n/queuesPerTopic),
			Broker: "broker-a", Queue: int32(n % queuesPerTopic),
		}
	}
	return list
}

// topics is how many topics the keys of all callers have.
func (w Work) topics() int {
	n := w.Batch
	if w.OneGroup {
		n *= w.Callers
	}
	return (n + queuesPerTopic - 1) / queuesPerTopic
}

// Path joins the names, for stores whose key is one string.
func (k Key) Path(between string) string {
	return k.Group + between + k.Topic + between + k.Broker + between + fmt.Sprint(k.Queue)
}

// firstOffset is where the offsets of a run begin: later runs are above
// earlier ones.
func firstOffset() int64 { return time.Now().UnixMilli() }

// paths are the keys of each caller as one string each.
func paths(w Work, prefix, between string) [][]string {
	all := make([][]string, w.Callers)
	for i := range all {
		for _, k := range w.keys(i) {
			all[i] = append(all[i], prefix+k.Path(between))
		}
	}
	return all
}
