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

// keysOf gives a caller keys of its own: one group, topics of 16 queues.
func keysOf(caller, n int) []Key {
	list := make([]Key, n)
	for i := range list {
		list[i] = Key{
			Group:  fmt.Sprintf("com-example-shop-orders-group-%010d", caller),
			Topic:  fmt.Sprintf("com-example-shop-orders-topic-%010d", i/queuesPerTopic),
			Broker: "broker-a", Queue: int32(i % queuesPerTopic),
		}
	}
	return list
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
		for _, k := range keysOf(i, w.Batch) {
			all[i] = append(all[i], prefix+k.Path(between))
		}
	}
	return all
}
