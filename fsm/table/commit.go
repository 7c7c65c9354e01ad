package table

import (
	"slices"
	"strings"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

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
	if planted.Is(planted.ClusterIgnored) && mode == fence || planted.Is(planted.AtomicInPart) && mode == tell {
		mode = apply
	}
	if t.sequence(c.Topics) {
		out = t.commitInOrder(c, mode, out)
	} else {
		for i := range c.Topics {
			out = t.commitTopic(&c.Topics[i], mode, out)
		}
	}
	t.hand.close()
	return out
}

// sequenceFrom is how many runs of commits are worth being put in order.
const sequenceFrom = 256

// sequence finds in which order the runs of a request are best applied: that of
// their names, for what is next to one another in the trees is mostly so in
// memory too. It reports false where they are in that order already, or few.
// Runs of the same names stay in theirs, so that the outcome is the same.
func (t *Table) sequence(list []offset.TopicCommits) bool {
	if len(list) < sequenceFrom || slices.IsSortedFunc(list, compareRuns) {
		return false
	}
	t.order = t.order[:0]
	at := 0
	for i := range list {
		t.order = append(t.order, turn{&list[i], at})
		at += len(list[i].Queues)
	}
	slices.SortStableFunc(t.order, func(a, b turn) int { return compareRuns(*a.run, *b.run) })
	return true
}

// turn is a run of commits, and where its verdicts belong.
type turn struct {
	run *offset.TopicCommits
	at  int
}

func compareRuns(a, b offset.TopicCommits) int {
	if c := strings.Compare(a.Group, b.Group); c != 0 {
		return c
	}
	if c := strings.Compare(a.Topic, b.Topic); c != 0 {
		return c
	}
	return strings.Compare(a.Broker, b.Broker)
}

// commitInOrder goes by t.order; the verdicts are in that of the request.
func (t *Table) commitInOrder(c *offset.Commits, mode commitMode, out []offset.Verdict) []offset.Verdict {
	from, n := len(out), c.Count()
	out = slices.Grow(out, n)[:from+n]
	for _, x := range t.order {
		at := from + x.at
		t.commitTopic(x.run, mode, out[at:at:at+len(x.run.Queues)])
	}
	clear(t.order) // the request is not kept
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
	if planted.Is(planted.ClaimIgnored) {
		claim = 0
	}
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
		case planted.Is(planted.FenceIgnored) && mode == apply:
			t.advance(r, q, old, &st)
		case planted.Is(planted.QuotaInApply) && old == nil && t.gen%64 == 63:
			code = offset.CodeNotApplied
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
	case planted.Is(planted.LastWriteWins), planted.Is(planted.EqualRaises) && c.Offset == p.Offset:
	case planted.Is(planted.PendingKept) && c.Offset <= p.Offset:
		return
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

// anyFenced reports whether a commit of an atomic set is fenced. What the others
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
