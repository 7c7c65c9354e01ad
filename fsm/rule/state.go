package rule

import (
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// State is what the rule is applied to. It is not for several goroutines.
type State struct {
	Cluster offset.ClusterID
	// Index and Time are those of the last entry, LastAct the index of the last act.
	Index   uint64
	Time    int64
	LastAct uint64
	// Evicted is the index of the newest act that is forgotten.
	Evicted uint64
	Bounds  Bounds
	Keys    map[offset.Key]offset.Position
	// FloorAll is the floor of all keys, Floors are those of scopes, the oldest first.
	FloorAll uint64
	Floors   []Floor
	Claims   []offset.Claim
	// Import is the one under way, nil if there is none; Staged what a replace has brought.
	Import *offset.ImportStatus
	Staged map[offset.Key]int64

	acts []*record
	busy bool // a claim would not be alone in its entry
}

// Bounds are how many acts are remembered, how many scopes keep a floor, and
// how many queues one entry of an act looks at.
type Bounds struct{ Acts, Floors, Step int }

// Floor is the floor of one group, or of one topic.
type Floor struct {
	Topic bool
	Name  string
	Index uint64
	// Order distinguishes floors that moved in one entry.
	Order uint32
}

const (
	// underway is how many acts that were cut may be under way.
	underway = 16
	// expireGroup is what a group of an expiry counts on top of its queues.
	expireGroup = 8
	// step is how many queues one entry of an act looks at.
	step = 32 << 10
)

// record is what is remembered of an act.
type record struct {
	id     offset.ActID
	body   string
	first  uint64
	res    offset.ActResult
	cursor *offset.Key
	item   int
	seen   bool
}

// New returns the state of an empty cluster, with the bounds that it has.
func New(cluster offset.ClusterID) *State {
	return &State{Cluster: cluster, Bounds: Bounds{offset.MaxActs, offset.MaxFloors, step}, Keys: map[offset.Key]offset.Position{}}
}

// Begin begins the entry at index, sealed at ms by its leader's clock.
func (p *State) Begin(index uint64, ms int64) {
	p.Index, p.Time, p.busy = index, max(p.Time, ms), false
}

// Floor is the epoch of a key that does not exist.
func (p *State) Floor(group, topic string) uint64 {
	f := p.FloorAll
	for _, x := range p.Floors {
		if x.Topic && x.Name == topic || !x.Topic && x.Name == group {
			f = max(f, x.Index)
		}
	}
	return f
}

func (p *State) moveFloor(topic bool, name string) {
	p.Floors = slices.DeleteFunc(p.Floors, func(f Floor) bool { return f.Topic == topic && f.Name == name })
	if len(p.Floors) == p.Bounds.Floors {
		p.FloorAll = max(p.FloorAll, p.Floors[0].Index)
		p.Floors = p.Floors[1:]
	}
	order := uint32(0)
	if n := len(p.Floors); n > 0 && p.Floors[n-1].Index == p.Index {
		order = p.Floors[n-1].Order + 1
	}
	p.Floors = append(p.Floors, Floor{topic, name, p.Index, order})
}

func (p *State) claim(group, broker string) uint64 {
	c := uint64(0)
	for _, x := range p.Claims {
		if x.ByBroker && x.Name == broker || !x.ByBroker && x.Name == group {
			c = max(c, x.Index)
		}
	}
	return c
}

// Get is what a query of a key is answered.
func (p *State) Get(k offset.Key) offset.KeyState {
	claim := p.claim(k.Group, k.Broker)
	pos, ok := p.Keys[k]
	if !ok {
		pos.Epoch = p.Floor(k.Group, k.Topic)
	}
	return offset.KeyState{Exists: ok, Position: pos, Epoch: max(pos.Epoch, claim), Claim: claim}
}

// Commit applies a request of commits; a verdict for each, in their order.
func (p *State) Commit(c *offset.Commits) (out []offset.Verdict) {
	p.busy = true
	var list []offset.Commit
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
			list = append(list, offset.Commit{Key: k, Offset: q.Offset, Epoch: q.Epoch})
		}
	}
	fenced := func(c1 offset.Commit) bool { return c.Cluster != p.Cluster || p.Get(c1.Key).Epoch != c1.Epoch }
	none := c.Atomic && slices.ContainsFunc(list, fenced)
	for _, x := range list {
		code := offset.CodeOK
		switch {
		case fenced(x):
			code = offset.CodeFenced
		case none:
			code = offset.CodeNotApplied
		default:
			p.advance(x)
		}
		out = append(out, offset.Verdict{Code: code, State: p.Get(x.Key)})
	}
	return out
}

func (p *State) advance(c offset.Commit) {
	pos, ok := p.Keys[c.Key]
	if !ok {
		pos.Epoch = c.Epoch
	}
	if !ok || c.Offset > pos.Offset {
		pos.Offset, pos.Index, pos.Time = c.Offset, p.Index, p.Time
	}
	pos.Pending = false
	p.Keys[c.Key] = pos
}

// Set applies a Set.
func (p *State) Set(s *offset.Set) offset.Verdict {
	p.busy = true
	st := p.Get(s.Key)
	epoch := st.Epoch
	if s.Operator {
		epoch = st.Position.Epoch
	}
	if s.Cluster != p.Cluster || s.Epoch != epoch || s.Exists != st.Exists || s.Exists && s.Replaces != st.Position.Offset ||
		s.Operator && s.Claim > 0 && st.Claim > s.Claim {
		return offset.Verdict{Code: offset.CodeFenced, State: st}
	}
	p.write(s.Key, s.Offset, s.Operator)
	p.LastAct = p.Index
	return offset.Verdict{State: p.Get(s.Key)}
}

// write is what an act puts on a key.
func (p *State) write(k offset.Key, off int64, mark bool) {
	p.Keys[k] = offset.Position{Offset: off, Index: p.Index, Epoch: p.Index, Time: p.Time, Pending: mark || p.Keys[k].Pending}
}

func (p *State) find(id offset.ActID) *record {
	for _, a := range p.acts {
		if a.id == id {
			return a
		}
	}
	return nil
}

// Remembers reports whether an act is remembered, and done.
func (p *State) Remembers(id offset.ActID) bool {
	a := p.find(id)
	return a != nil && a.res.Done
}

func (p *State) remember(a *record) {
	if p.find(a.id) != nil {
		return
	}
	if len(p.acts) == p.Bounds.Acts {
		i := slices.IndexFunc(p.acts, func(a *record) bool { return a.res.Done })
		p.Evicted = max(p.Evicted, p.acts[i].first)
		p.acts = slices.Delete(p.acts, i, i+1)
	}
	p.acts = append(p.acts, a)
}

// Act applies one entry of an act: step 0, then what the answer named as Next.
func (p *State) Act(a *offset.Act, step uint32) offset.ActResult {
	defer func() { p.busy = true }()
	if a.Cluster != p.Cluster {
		return offset.ActResult{Code: offset.CodeSuperseded, Index: p.Index, Done: true}
	}
	if a.Import != nil {
		return p.importStep(a)
	}
	rec := p.find(a.ID)
	fresh := rec == nil
	switch {
	case p.Import != nil && p.Import.ID == a.ID:
		return offset.ActResult{Code: offset.CodeImportBusy, Index: p.Index, Done: true}
	case rec != nil && rec.body != body(a):
		return offset.ActResult{Code: offset.CodeInvalid, Index: p.Index, Done: true}
	case rec != nil && (rec.res.Done || step != rec.res.Next):
		return rec.res
	case rec == nil && (step > 0 || a.Base < p.Evicted):
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.Index, Done: true}
	case rec == nil:
		rec = &record{id: a.ID, body: body(a), first: p.Index}
	}
	done := true
	if fresh && p.lost(a) {
		rec.res.Code = offset.CodeSuperseded
	} else {
		done = p.effect(a, rec)
	}
	rec.res.Index, rec.res.Done = p.Index, done
	if done {
		rec.res.Next, rec.cursor = 0, nil
	} else {
		rec.res.Next++
		if fresh {
			p.crowd()
		}
	}
	p.remember(rec)
	return rec.res
}

// body is what an act is to do.
func body(a *offset.Act) string {
	switch {
	case a.Reset != nil:
		return fmt.Sprintf("reset %+v", *a.Reset)
	case a.Remove != nil:
		return fmt.Sprintf("remove %+v", *a.Remove)
	case a.Clone != nil:
		return fmt.Sprintf("clone %+v", *a.Clone)
	case a.Expire != nil:
		return fmt.Sprintf("expire %+v", *a.Expire)
	case a.Take != nil:
		return fmt.Sprintf("take %+v", *a.Take)
	}
	return fmt.Sprintf("import %+v", *a.Import)
}

func (p *State) crowd() {
	var cut []*record
	for _, a := range p.acts {
		if !a.res.Done && (p.Import == nil || p.Import.ID != a.id) {
			cut = append(cut, a)
		}
	}
	if len(cut) >= underway {
		cut[0].res.Code, cut[0].res.Done, cut[0].res.Next = offset.CodeTooOld, true, 0
	}
}

func (p *State) effect(a *offset.Act, rec *record) bool {
	switch {
	case a.Reset != nil:
		for _, t := range a.Reset.Targets {
			if p.spare(a, rec, t.Key, true) {
				continue
			}
			p.write(t.Key, t.Offset, true)
			p.did(rec)
		}
		p.refuse(rec)
		return true
	case a.Remove != nil:
		return p.remove(a, rec)
	case a.Clone != nil:
		return p.clone(a, rec)
	case a.Expire != nil:
		return p.expire(a, rec)
	}
	t := a.Take
	i := slices.IndexFunc(p.Claims, func(c offset.Claim) bool { return c.ByBroker == t.ByBroker && c.Name == t.Name })
	over := slices.ContainsFunc(p.Claims, func(c offset.Claim) bool {
		return (c.ByBroker != t.ByBroker || c.Name == t.Name) && c.Index > a.Base
	})
	switch {
	case p.busy || over:
		rec.res.Code = offset.CodeSuperseded
	case i < 0 && len(p.Claims) == offset.MaxClaims:
		rec.res.Code = offset.CodeLimit
	default:
		if i >= 0 {
			p.Claims = slices.Delete(p.Claims, i, i+1)
		}
		p.Claims = append(p.Claims, offset.Claim{ByBroker: t.ByBroker, Name: t.Name, Holder: t.Holder, Index: p.Index})
		p.LastAct = p.Index
	}
	return true
}

func (p *State) did(rec *record) { rec.res.Changed++; p.LastAct = p.Index }

func (p *State) refuse(rec *record) {
	if rec.res.Changed == 0 && rec.res.Kept > 0 {
		rec.res.Code = offset.CodeSuperseded
	}
}

func (p *State) keep(rec *record, k offset.Key) {
	rec.res.Kept++
	if len(rec.res.Names) < offset.MaxNames {
		rec.res.Names = append(slices.Clone(rec.res.Names), k)
	}
}

// spare reports whether an act leaves a key alone.
func (p *State) spare(a *offset.Act, rec *record, k offset.Key, epochs bool) bool {
	st := p.Get(k)
	if epochs && st.Position.Epoch > a.Base || a.Claim > 0 && st.Claim > a.Claim {
		p.keep(rec, k)
		return true
	}
	return false
}
