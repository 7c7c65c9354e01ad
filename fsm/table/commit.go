package table

import "github.com/tidemark-mq/tidemark/offset"

// Commit applies a request of commits and appends one verdict for each, in
// their order. It keeps nothing of c.
func (t *Table) Commit(c *offset.Commits, out []offset.Verdict) []offset.Verdict {
	t.busy = true
	mode := apply
	if c.Cluster != t.cluster || c.Atomic && t.anyFenced(c) {
		mode = tell
		if c.Cluster != t.cluster {
			mode = fence
		}
	}
	for i := range c.Topics {
		out = t.commitTopic(&c.Topics[i], mode, out)
	}
	t.hand.close()
	return out
}

// commitMode says what becomes of commits.
type commitMode uint8

const (
	// apply: each on its own.
	apply commitMode = iota
	// tell: none, since one of an atomic set is fenced.
	tell
	// fence: none, since they are another cluster's.
	fence
)

func (t *Table) commitTopic(c *offset.TopicCommits, mode commitMode, out []offset.Verdict) []offset.Verdict {
	r := &t.hand
	r.open(t.live, c.Group, c.Topic, c.Broker)
	r.room = len(c.Queues)
	claim := t.claims.of(c.Group, c.Broker)
	floor := t.floors.of(c.Group, c.Topic)
	for i := range c.Queues {
		q := &c.Queues[i]
		old := r.find(q.QueueID)
		st := absent(floor, claim)
		if old != nil {
			st = stateOf(old.position(r.base()), claim)
		}
		code := offset.CodeOK
		switch {
		case mode == fence || q.Epoch != st.Epoch:
			code = offset.CodeFenced
		case mode == tell:
			code = offset.CodeNotApplied
		default:
			t.advance(r, q, old, &st)
		}
		out = append(out, offset.Verdict{Code: code, State: st})
	}
	return out
}

// advance applies a commit that is not fenced: the larger offset stays, and the
// mark goes, also where nothing is raised. st becomes what the key is after.
func (t *Table) advance(r *run, c *offset.QueueCommit, old *queue, st *offset.KeyState) {
	p := &st.Position
	switch {
	case old == nil:
		p.Epoch = st.Epoch // what the commit carried
		st.Exists = true
	case c.Offset <= p.Offset && !p.Pending:
		return
	case c.Offset <= p.Offset:
		p.Pending = false
		r.store(old.marked(false))
		t.unmark(r, c.QueueID)
		return
	}
	marked := p.Pending
	p.Offset, p.Index, p.Time, p.Pending = c.Offset, t.index, t.time, false
	r.store(pack(fields{offset: p.Offset, index: p.Index, epoch: p.Epoch, time: p.Time, id: c.QueueID}))
	if marked {
		t.unmark(r, c.QueueID)
	}
}

func (t *Table) unmark(r *run, id int32) {
	if t.imp == nil {
		return
	}
	k := offset.Key{Group: r.group, MessageQueue: offset.MessageQueue{Topic: r.topic, Broker: r.broker, QueueID: id}}
	t.mirror(&k, false)
}

// anyFenced tells whether a commit of an atomic set is fenced. What the others
// would change has no influence on it: none moves an epoch.
func (t *Table) anyFenced(c *offset.Commits) bool {
	for i := range c.Topics {
		tc := &c.Topics[i]
		k := offset.Key{Group: tc.Group, MessageQueue: offset.MessageQueue{Topic: tc.Topic, Broker: tc.Broker}}
		for _, q := range tc.Queues {
			k.QueueID = q.QueueID
			if t.state(&t.hand, &k).Epoch != q.Epoch {
				return true
			}
		}
	}
	return false
}
