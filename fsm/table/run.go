package table

import (
	"math"

	"github.com/tidemark-mq/tidemark/offset"
)

// run is the writer's hand on the queues of one group on one topic of one
// broker. Only one run of a space is open at a time: what it has changed is in
// the trees once it is closed. Its zero value is closed.
type run struct {
	s                    *space
	group, topic, broker string
	// p is the part, nil if the group has no key on the broker.
	p *part
	// n is the node last looked at, which holds what there is from lo on and
	// below hi; nil if there is none.
	n      *node
	lo, hi int64
	// id names the run, once known.
	id *ident
	// names is what the digest knows the run by; zero until it is asked for.
	names sum
	// room is how many further queues the caller may add.
	room int
	// what n was before it was changed, and what the changes add up to.
	changed bool
	prev    *node
	was     gauge
	delta   sum
	count   int64
}

// open turns to another run; it closes the one before.
func (r *run) open(s *space, group, topic, broker string) {
	if r.s == s && r.topic == topic && r.group == group && r.broker == broker {
		return
	}
	r.close()
	*r = run{s: s, group: group, topic: topic, broker: broker, p: s.part(group, broker)}
}

func (r *run) openKey(s *space, k *offset.Key) { r.open(s, k.Group, k.Topic, k.Broker) }

// base is the stamp of positions with index 0.
func (r *run) base() Stamp {
	if r.p == nil {
		return r.s.base
	}
	return newer(r.s.base, r.p.base)
}

// locate turns to the node that holds id, or would.
func (r *run) locate(id int32) {
	if r.hi != 0 && int64(id) >= r.lo && int64(id) < r.hi {
		return
	}
	r.flush()
	r.n, r.lo, r.hi = nil, 0, math.MaxInt32+1
	if r.p == nil {
		return
	}
	probe := ident{topic: r.topic}
	below, above := r.p.nodes.around(byRun, place{&probe, id})
	if above != nil && above.id.topic == r.topic {
		r.hi, r.id = int64(above.first), above.id
	}
	if below != nil && below.id.topic == r.topic {
		r.n, r.lo, r.id = below, int64(below.first), below.id
	}
}

// find returns the stored position, nil if there is none. It may be read until
// the run is next used.
func (r *run) find(id int32) *queue {
	r.locate(id)
	if r.n == nil {
		return nil
	}
	i, ok := r.n.search(id)
	if !ok {
		return nil
	}
	return &r.n.queues[i]
}

// hash returns what the digest knows the names by.
func (r *run) hash() sum {
	if r.names == (sum{}) {
		r.names = hashNames(r.group, r.topic, r.broker)
	}
	return r.names
}

// touch makes the present node ready to be changed.
func (r *run) touch() {
	r.p = r.s.own(r.p)
	if !r.changed {
		r.changed, r.prev, r.was = true, r.n, r.n.gauge
		r.n = r.n.own(r.s.gen)
	}
}

// store puts a position in place of what there is.
func (r *run) store(q queue) {
	r.locate(q.id())
	if r.n == nil {
		r.begin(q)
		return
	}
	i, ok := r.n.search(q.id())
	if !ok && len(r.n.queues) == maxQueues {
		r.split()
		r.store(q)
		return
	}
	r.touch()
	names := r.hash()
	if ok {
		old := &r.n.queues[i]
		r.delta = add(sub(r.delta, old.hash(names)), q.hash(names))
		*old = q
		return
	}
	r.delta = add(r.delta, q.hash(names))
	r.count++
	r.n.insert(i, q, r.room)
}

// begin makes the first node of the run, or of what is below its first node.
func (r *run) begin(q queue) {
	switch {
	case r.p == nil:
		r.p = r.s.create(r.group, r.topic, r.broker)
		r.id = r.p.id
	case r.id == nil:
		r.id = r.s.pair(r.p.id.group, r.topic, r.p.id.broker)
	}
	r.p = r.s.own(r.p)
	r.n = &node{id: r.id, gen: r.s.gen}
	r.n.insert(0, q, r.room)
	r.changed, r.prev, r.was = true, nil, gauge{}
	r.delta, r.count = add(r.delta, q.hash(r.hash())), r.count+1
}

// split cuts the present node in two; the next locate finds which of them.
func (r *run) split() {
	r.touch()
	right := r.n.halve()
	r.p.nodes.put(byRun, r.s.gen, right, nil, gauge{})
	r.flush()
	r.hi = 0
}

// retain leaves kept of the present node's queues; gone adds up the others.
func (r *run) retain(kept []queue, gone sum, lost int) {
	r.p = r.s.own(r.p)
	if !r.changed {
		r.changed, r.prev, r.was = true, r.n, r.n.gauge
	}
	n := *r.n
	n.gen, n.queues = r.s.gen, kept
	r.n = &n
	r.delta, r.count = sub(r.delta, gone), r.count-int64(lost)
	if len(kept) == 0 {
		r.flush()
		r.hi = 0
	}
}

// flush brings the trees up to date with the present node.
func (r *run) flush() {
	if !r.changed {
		return
	}
	r.changed = false
	p, s := r.p, r.s
	p.sum, s.sum = add(p.sum, r.delta), add(s.sum, r.delta)
	p.queues, s.queues = p.queues+uint32(r.count), s.queues+uint64(r.count)
	r.delta, r.count = sum{}, 0
	if len(r.n.queues) > 0 {
		r.n.measure()
		p.nodes.put(byRun, s.gen, r.n, r.prev, r.was)
		return
	}
	p.nodes.del(byRun, s.gen, r.n.place(), r.was)
	r.n = nil
	s.unpair(r.id)
	r.id = nil
	if p.nodes.root == nil {
		s.bury(p)
		r.p = nil
	}
}

// close ends the run; it may be opened again.
func (r *run) close() {
	if r.s != nil {
		r.flush()
		*r = run{}
	}
}
