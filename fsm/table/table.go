package table

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidemark-mq/tidemark/offset"
)

// Table is the state. All its methods but Root are for one goroutine only.
type Table struct {
	root atomic.Pointer[Root]

	// What follows belongs to the writer.

	cluster offset.ClusterID
	// index and time are those of the entry last begun.
	index uint64
	time  int64
	// lastAct is the index of the last act of any kind that took effect.
	lastAct uint64
	level   uint8
	later   Later
	// gen is the present generation: what carries it is in no root.
	gen     uint64
	live    *space
	floors  *floors
	claims  *claims
	acts    window
	members []offset.Member
	// imp is the import under way, nil if there is none.
	imp *importing
	// stale goes through parts that are gone; their pairs may still be in the
	// tree of topics, which no answer and no decision depends on.
	stale []cursor[*node]
	// busy: the present entry holds something already.
	busy bool
	// step is Bounds.Step.
	step int
	// hand is the run that commits and Sets work with.
	hand run
	// order is the memory of sequence.
	order []turn
}

// New returns an empty table of a cluster, at index 0 and format level 1,
// published.
func New(cluster offset.ClusterID) *Table {
	return NewBounded(cluster, Bounds{Acts: offset.MaxActs, Floors: offset.MaxFloors, Step: stepQueues})
}

// Bounds are what decides when something is forgotten, and where an act is cut.
// Tables with others come to other states from the same log: only tests, which are to
// reach them soon, have others than those of New.
type Bounds struct {
	// Acts is how many acts are remembered, Floors how many scopes keep a floor.
	Acts, Floors int
	// Step is how many queues one entry of an act looks at.
	Step int
}

// NewBounded returns what New does, with bounds of a test's own.
func NewBounded(cluster offset.ClusterID, b Bounds) *Table {
	t := &Table{cluster: cluster, level: 1, gen: 1, step: b.Step, claims: newClaims()}
	t.live = newSpace(t.gen)
	t.floors = newFloors(0, 0, b.Floors)
	t.acts = window{byID: map[offset.ActID]*ActRecord{}, limit: b.Acts}
	t.Publish()
	return t
}

// Begin opens the changes of the log entry with that index, which is greater
// than any before. timeMS is what the entry names, in Unix milliseconds; the
// table's time never goes back, an earlier one counts as the last.
func (t *Table) Begin(index uint64, timeMS int64) {
	t.index, t.time, t.busy = index, max(t.time, min(timeMS, maxTime)), false
}

// Act applies one entry of an act. step is 0 for its first entry; as long as
// the answer is not Done, the proposer sends the act again with step Next (for
// imports it is Import.Chunk that says which entry it is, and step is 0). What
// the entry changed is added to ch, which may be nil.
//
// A claim must be alone in its entry: one that follows something else in its
// entry is refused.
func (t *Table) Act(a *offset.Act, step uint32, ch *Changes) offset.ActResult {
	res := t.act(a, step, ch)
	t.busy = true
	return res
}

// Announce keeps what a member says of itself. It reports false, and keeps
// nothing, if that would be one beyond offset.MaxMembers.
func (t *Table) Announce(m offset.Member) bool {
	i, ok := t.member(m.ID)
	if !ok && len(t.members) >= offset.MaxMembers {
		return false
	}
	m.ID, m.API = strings.Clone(m.ID), strings.Clone(m.API)
	list := slices.Clone(t.members) // roots hold the one that was
	if ok {
		list[i] = m
	} else {
		list = slices.Insert(list, i, m)
	}
	t.members = list
	return true
}

// RemoveMember forgets a member.
func (t *Table) RemoveMember(id string) {
	if i, ok := t.member(id); ok {
		t.members = slices.Delete(slices.Clone(t.members), i, i+1)
	}
}

func (t *Table) member(id string) (int, bool) {
	return slices.BinarySearchFunc(t.members, id, func(m offset.Member, id string) int { return strings.Compare(m.ID, id) })
}

// RaiseLevel raises the format level; it is never lowered.
func (t *Table) RaiseLevel(level uint8) { t.level = max(t.level, level) }

// Digest is that of the state as it is now, published or not.
func (t *Table) Digest() offset.Digest { return t.view().Digest() }

// Publish makes all changes since the last Publish the new root. Its cost is
// proportional to what changed.
func (t *Table) Publish() {
	t.sweep()
	t.live.flush()
	if t.imp != nil && t.imp.staged != nil {
		t.imp.staged.flush()
	}
	t.root.Store(t.view())
	t.acts.shared = true
	t.gen++
	t.live.gen = t.gen
	if t.imp != nil && t.imp.staged != nil {
		t.imp.staged.gen = t.gen
	}
}

// view is the present state as a root. Its trees of parts are as of the last flush.
func (t *Table) view() *Root {
	r := &Root{
		index: t.index, time: t.time, lastAct: t.lastAct, level: t.level, cluster: t.cluster,
		live: t.live.view(), floors: t.floors, claims: t.claims,
		acts: t.acts.list, evicted: t.acts.evicted, actSum: t.acts.sum,
		floorAll: t.floors.all, floorSum: t.floors.sum, claimSum: t.claims.sum,
		members: t.members, later: t.later,
	}
	if t.imp != nil {
		st := t.imp.status
		r.imp = &st
		if t.imp.staged != nil {
			r.staged = t.imp.staged.view()
		}
	}
	return r
}

// Root returns the last published state. Any goroutine may call it.
func (t *Table) Root() *Root { return t.root.Load() }

// state returns what a read of a key would answer now.
func (t *Table) state(r *run, k *offset.Key) offset.KeyState {
	r.openKey(t.live, k)
	claim := t.claims.of(k.Group, k.Broker)
	if q := r.find(k.QueueID); q != nil {
		return stateOf(q.position(r.base()), claim)
	}
	return absent(t.floors.of(k.Group, k.Topic), claim)
}

func stateOf(p offset.Position, claim uint64) offset.KeyState {
	return offset.KeyState{Exists: true, Position: p, Epoch: max(p.Epoch, claim), Claim: claim}
}

func absent(floor, claim uint64) offset.KeyState {
	return offset.KeyState{Position: offset.Position{Epoch: floor}, Epoch: max(floor, claim), Claim: claim}
}

// before is the first half of the description of a change.
func (t *Table) before(ch *Changes, r *run, k *offset.Key) offset.KeyState {
	if !ch.wants() {
		return offset.KeyState{}
	}
	return t.state(r, k)
}

// note counts a change, and describes it if there is room.
func (t *Table) note(ch *Changes, r *run, k *offset.Key, before offset.KeyState) {
	if ch.wants() {
		ch.First = append(ch.First, Change{Key: cloneKey(*k), Before: before, After: t.state(r, k)})
	}
	ch.count(1)
}

// raiseFloor moves the floor of a group or topic to the present entry.
func (t *Table) raiseFloor(sc scope) {
	t.floors = t.floors.own(t.gen)
	sc.name = strings.Clone(sc.name)
	t.floors.move(sc, t.index)
}

// mirror keeps the mark of a staged position like that of the live one, so that
// a swap, which keeps the marks, has nothing to do for them.
func (t *Table) mirror(k *offset.Key, pending bool) {
	if t.imp == nil || t.imp.staged == nil {
		return
	}
	var r run
	r.openKey(t.imp.staged, k)
	if q := r.find(k.QueueID); q != nil && q.pending() != pending {
		r.store(q.marked(pending))
	}
	r.close()
}

func cloneKey(k offset.Key) offset.Key {
	k.Group, k.Topic, k.Broker = strings.Clone(k.Group), strings.Clone(k.Topic), strings.Clone(k.Broker)
	return k
}
