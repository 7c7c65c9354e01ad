package table

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

// clone copies what one group has over another, part by part in the order of
// the brokers; what else the other has stays.
func (w *work) clone(c *offset.Clone) bool {
	var brokers []string
	if g := w.t.live.live[c.From]; g != nil && c.From != c.To {
		brokers = w.brokers(g, c.HasBroker, c.Broker)
	}
	for _, b := range brokers {
		if !w.cloneRuns(c, b) {
			return false
		}
	}
	w.refuseIfNone()
	if !w.rec.Seen {
		w.rec.Result.Code = offset.CodeNotFound
	}
	return true
}

func (w *work) cloneRuns(c *offset.Clone, broker string) bool {
	for {
		p := w.t.live.part(c.From, broker)
		if p == nil {
			return true
		}
		n, after := w.nextNode(p, c.Topic)
		if n == nil {
			return true
		}
		if w.left <= 0 {
			return false
		}
		w.past(n.id, w.cloneNode(c.To, n, after))
	}
}

// cloneNode copies what a node holds beyond after, as far as the entry may go, and
// returns the id of the last queue it has looked at.
func (w *work) cloneNode(to string, n *node, after int32) int32 {
	k := offset.Key{Group: to, MessageQueue: offset.MessageQueue{Topic: n.id.topic, Broker: n.id.broker}}
	w.run.openKey(w.t.live, &k)
	w.run.room = len(n.queues)
	for i := range n.queues {
		q := &n.queues[i]
		if q.id() <= after {
			continue
		}
		if w.left == 0 {
			break
		}
		w.left--
		w.rec.Seen = true
		k.QueueID = q.id()
		if st := w.t.state(&w.run, &k); w.newer(st.Position.Epoch, st.Claim) {
			w.keep(k)
			continue
		}
		w.move(&k, q.offset, false)
	}
	return k.QueueID
}

// cloneLooks is how many keys CloneAdds looks up at most: 2 ms where they are near.
const cloneLooks = 100_000

// CloneAdds counts the keys that a clone would create, or returns some number above
// most once there are more. Near ones cost some 20 ns each. Keys beyond the first
// 100,000 that the group may have count as if it did not have them.
func (r *Root) CloneAdds(c *offset.Clone, most uint64) uint64 {
	return r.cloneAdds(c, most, cloneLooks)
}

func (r *Root) cloneAdds(c *offset.Clone, most uint64, looks int) (n uint64) {
	for _, b := range r.live.brokersOf(c.From, c.Topic) {
		if c.HasBroker && b != c.Broker {
			continue
		}
		to := r.live.part(c.To, b)
		for at := r.live.part(c.From, b).from(c.Topic, nil, sieve{}); n <= most; at.next() {
			x, ok := at.item()
			if !ok || c.Topic != "" && x.id.topic != c.Topic {
				break
			}
			if to == nil || looks <= 0 {
				n += uint64(len(x.queues))
				continue
			}
			looks -= len(x.queues)
			n += x.missing(to)
		}
	}
	return n
}

// missing counts the queues of a node that a part does not have.
func (n *node) missing(to *part) (count uint64) {
	var in *node // what would hold ids below end
	for i, end := 0, int64(math.MinInt64); i < len(n.queues); i++ {
		id := n.queues[i].id()
		if int64(id) >= end {
			in, end = to.around(n.id.topic, id)
		}
		if in == nil {
			count++
		} else if _, ok := in.search(id); !ok {
			count++
		}
	}
	return count
}

// around returns the node that would hold a queue, nil if there is none, and the
// first id beyond it that it would not hold.
func (p *part) around(topic string, id int32) (*node, int64) {
	below, above := p.nodes.around(byRun, place{&ident{topic: topic}, id})
	end := int64(math.MaxInt64)
	if above != nil && above.id.topic == topic {
		end = int64(above.first)
	}
	if below != nil && below.id.topic != topic {
		below = nil
	}
	return below, end
}
