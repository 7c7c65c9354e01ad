package table

import "github.com/tidemark-mq/tidemark/offset"

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

// cloneNode copies what a node holds behind after, as far as the entry may go,
// and returns the id of the last queue it has looked at.
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
