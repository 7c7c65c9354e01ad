package table

import (
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// Builder makes a table from what a snapshot holds. It is used by one goroutine.
type Builder struct {
	t    *Table
	rest *Rest
	// err: rest holds what no table can; nothing is built.
	err error
	// last is the key that the next run must come after, in staged or not.
	last   offset.Key
	staged bool
	begun  bool
}

// NewBuilder begins a table with everything but its queues. It keeps what rest
// points to. If that is damaged, AddTopic and Done say so.
func NewBuilder(rest *Rest) *Builder {
	t := New(rest.Cluster)
	if err := checkRest(rest); err != nil {
		return &Builder{t: t, rest: rest, err: err}
	}
	t.index, t.time, t.lastAct, t.level, t.later = rest.Index, rest.Time, rest.LastAct, rest.Level, rest.Later
	t.live.base = rest.Base
	t.floors = newFloors(rest.FloorOfAll, t.gen, t.floors.limit)
	for _, f := range rest.Floors {
		t.floors.append(f)
	}
	t.claims = newClaims()
	for _, c := range rest.Claims {
		t.claims.put(c)
	}
	for i := range rest.Acts {
		t.acts.put(&rest.Acts[i])
	}
	t.acts.evicted = rest.Evicted
	t.members = slices.Clone(rest.Members)
	if rest.Import != nil {
		t.imp = &importing{status: *rest.Import}
		if rest.Import.Mode == offset.ImportReplace {
			t.imp.staged = t.live.stage(rest.Import.Group)
		}
	}
	return &Builder{t: t, rest: rest}
}

// AddTopic adds a run; runs come in the order that Topics yields. It keeps none
// of what s points to, its strings neither. The error wraps offset.ErrDamaged:
// the run is empty, out of order, or belongs to no import.
func (b *Builder) AddTopic(s *TopicState) error {
	if b.err != nil {
		return b.err
	}
	space, err := b.space(s)
	if err != nil {
		return err
	}
	r := &b.t.hand
	r.open(space, s.Group, s.Topic, s.Broker)
	r.room = len(s.Queues)
	first := r.p == nil
	k := offset.Key{Group: s.Group, MessageQueue: offset.MessageQueue{Topic: s.Topic, Broker: s.Broker}}
	for i := range s.Queues {
		q := &s.Queues[i]
		k.QueueID = q.QueueID
		if q.QueueID < 0 || q.Offset < 0 || q.Index > maxIndex || q.Epoch > maxIndex || q.Time < 0 || q.Time > maxTime {
			return offset.Errorf(offset.ErrDamaged, "%s holds what no position can: %+v", k, *q)
		}
		if b.begun && k.Compare(b.last) <= 0 {
			return offset.Errorf(offset.ErrDamaged, "%s is not behind %s", k, b.last)
		}
		r.store(pack(fields{offset: q.Offset, index: q.Index, epoch: q.Epoch, time: q.Time, id: q.QueueID, pending: q.Pending}))
		b.last, b.begun = k, true
	}
	b.last.Group, b.last.Topic, b.last.Broker = r.id.group, r.id.topic, r.id.broker
	return b.based(r, s, first)
}

// space returns where a run belongs.
func (b *Builder) space(s *TopicState) (*space, error) {
	if len(s.Queues) == 0 {
		return nil, offset.Errorf(offset.ErrDamaged, "a run of %q has no queue", s.Group)
	}
	if !s.Staged {
		if b.staged {
			return nil, offset.Errorf(offset.ErrDamaged, "a run of %q is behind those of the import", s.Group)
		}
		return b.t.live, nil
	}
	if b.t.imp == nil || b.t.imp.staged == nil {
		return nil, offset.Errorf(offset.ErrDamaged, "a run of %q is of an import, and none is under way", s.Group)
	}
	if !b.staged {
		b.t.hand.close()
		b.staged, b.begun = true, false
	}
	return b.t.imp.staged, nil
}

// based gives the part its base, with its first run.
func (b *Builder) based(r *run, s *TopicState, first bool) error {
	switch p := r.p; {
	case p.base == s.Base:
		return nil
	case !first || s.Staged:
		return offset.Errorf(offset.ErrDamaged, "two bases of group %q on broker %q", s.Group, s.Broker)
	}
	h := hashBase(r.p.id, s.Base)
	r.p.base, r.p.sum, r.s.sum = s.Base, add(r.p.sum, h), add(r.s.sum, h)
	return nil
}

// Done returns the table, published. The error wraps offset.ErrDamaged: counts
// differ from what Rest named. The caller compares the digest.
func (b *Builder) Done() (*Table, error) {
	if b.err != nil {
		return nil, b.err
	}
	t := b.t
	t.hand.close()
	staged := uint64(0)
	if t.imp != nil && t.imp.staged != nil {
		staged = t.imp.staged.queues
	}
	if t.live.queues != b.rest.Queues || staged != b.rest.StagedQueues {
		return nil, offset.Errorf(offset.ErrDamaged, "%d queues and %d staged; %d and %d are named",
			t.live.queues, staged, b.rest.Queues, b.rest.StagedQueues)
	}
	t.Publish()
	return t, nil
}
