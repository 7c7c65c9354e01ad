package table

import (
	"fmt"
	"slices"

	"github.com/tidemark-mq/tidemark/offset"
)

// plain is the rule of writing on Go maps, written for reading: what the table
// must agree with. It knows no trees, no generations and no shared bases.
type plain struct {
	cluster  offset.ClusterID
	index    uint64
	time     int64
	lastAct  uint64
	evicted  uint64
	bounds   Bounds
	busy     bool
	keys     map[offset.Key]offset.Position
	floorAll uint64
	floors   []Floor
	claims   []Claim
	acts     []*plainAct
	imp      *offset.ImportStatus
	staged   map[offset.Key]int64
}

type plainAct struct {
	id     offset.ActID
	body   string
	first  uint64
	res    offset.ActResult
	cursor *offset.Key
	item   int
	seen   bool
}

func newPlain(cluster offset.ClusterID, step int) *plain {
	return &plain{cluster: cluster, bounds: Bounds{offset.MaxActs, offset.MaxFloors, step}, keys: map[offset.Key]offset.Position{}}
}

func (p *plain) begin(index uint64, ms int64) {
	p.index, p.time, p.busy = index, max(p.time, ms), false
}

func (p *plain) floor(group, topic string) uint64 {
	f := p.floorAll
	for _, x := range p.floors {
		if x.Topic && x.Name == topic || !x.Topic && x.Name == group {
			f = max(f, x.Index)
		}
	}
	return f
}

func (p *plain) moveFloor(topic bool, name string) {
	p.floors = slices.DeleteFunc(p.floors, func(f Floor) bool { return f.Topic == topic && f.Name == name })
	if len(p.floors) == p.bounds.Floors {
		p.floorAll = max(p.floorAll, p.floors[0].Index)
		p.floors = p.floors[1:]
	}
	order := uint32(0)
	if n := len(p.floors); n > 0 && p.floors[n-1].Index == p.index {
		order = p.floors[n-1].Order + 1
	}
	p.floors = append(p.floors, Floor{topic, name, p.index, order})
}

func (p *plain) claim(group, broker string) uint64 {
	c := uint64(0)
	for _, x := range p.claims {
		if x.ByBroker && x.Name == broker || !x.ByBroker && x.Name == group {
			c = max(c, x.Index)
		}
	}
	return c
}

func (p *plain) state(k offset.Key) offset.KeyState {
	claim := p.claim(k.Group, k.Broker)
	pos, ok := p.keys[k]
	if !ok {
		pos.Epoch = p.floor(k.Group, k.Topic)
	}
	return offset.KeyState{Exists: ok, Position: pos, Epoch: max(pos.Epoch, claim), Claim: claim}
}

func (p *plain) commit(c *offset.Commits) (out []offset.Verdict) {
	p.busy = true
	var list []offset.Commit
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
			list = append(list, offset.Commit{Key: k, Offset: q.Offset, Epoch: q.Epoch})
		}
	}
	fenced := func(c1 offset.Commit) bool { return c.Cluster != p.cluster || p.state(c1.Key).Epoch != c1.Epoch }
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
		out = append(out, offset.Verdict{Code: code, State: p.state(x.Key)})
	}
	return out
}

func (p *plain) advance(c offset.Commit) {
	pos, ok := p.keys[c.Key]
	if !ok {
		pos.Epoch = c.Epoch
	}
	if !ok || c.Offset > pos.Offset {
		pos.Offset, pos.Index, pos.Time = c.Offset, p.index, p.time
	}
	pos.Pending = false
	p.keys[c.Key] = pos
}

func (p *plain) set(s *offset.Set) offset.Verdict {
	p.busy = true
	st := p.state(s.Key)
	epoch := st.Epoch
	if s.Operator {
		epoch = st.Position.Epoch
	}
	if s.Cluster != p.cluster || s.Epoch != epoch || s.Exists != st.Exists || s.Exists && s.Replaces != st.Position.Offset ||
		s.Operator && s.Claim > 0 && st.Claim > s.Claim {
		return offset.Verdict{Code: offset.CodeFenced, State: st}
	}
	p.write(s.Key, s.Offset, s.Operator)
	p.lastAct = p.index
	return offset.Verdict{State: p.state(s.Key)}
}

// write is what an act puts on a key.
func (p *plain) write(k offset.Key, off int64, mark bool) {
	p.keys[k] = offset.Position{Offset: off, Index: p.index, Epoch: p.index, Time: p.time, Pending: mark || p.keys[k].Pending}
}

func (p *plain) find(id offset.ActID) *plainAct {
	for _, a := range p.acts {
		if a.id == id {
			return a
		}
	}
	return nil
}

func (p *plain) remember(a *plainAct) {
	if p.find(a.id) != nil {
		return
	}
	if len(p.acts) == p.bounds.Acts {
		i := slices.IndexFunc(p.acts, func(a *plainAct) bool { return a.res.Done })
		p.evicted = max(p.evicted, p.acts[i].first)
		p.acts = slices.Delete(p.acts, i, i+1)
	}
	p.acts = append(p.acts, a)
}

func (p *plain) act(a *offset.Act, step uint32) offset.ActResult {
	defer func() { p.busy = true }()
	if a.Cluster != p.cluster {
		return offset.ActResult{Code: offset.CodeSuperseded, Index: p.index, Done: true}
	}
	if a.Import != nil {
		return p.importStep(a)
	}
	rec := p.find(a.ID)
	fresh := rec == nil
	switch {
	case p.imp != nil && p.imp.ID == a.ID:
		return offset.ActResult{Code: offset.CodeImportBusy, Index: p.index, Done: true}
	case rec != nil && rec.body != body(a):
		return offset.ActResult{Code: offset.CodeInvalid, Index: p.index, Done: true}
	case rec != nil && (rec.res.Done || step != rec.res.Next):
		return rec.res
	case rec == nil && (step > 0 || a.Base < p.evicted):
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.index, Done: true}
	case rec == nil:
		rec = &plainAct{id: a.ID, body: body(a), first: p.index}
	}
	done := true
	if fresh && p.lost(a) {
		rec.res.Code = offset.CodeSuperseded
	} else {
		done = p.effect(a, rec)
	}
	rec.res.Index, rec.res.Done = p.index, done
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

func (p *plain) crowd() {
	var cut []*plainAct
	for _, a := range p.acts {
		if !a.res.Done && (p.imp == nil || p.imp.ID != a.id) {
			cut = append(cut, a)
		}
	}
	if len(cut) >= maxUnderway {
		cut[0].res.Code, cut[0].res.Done, cut[0].res.Next = offset.CodeTooOld, true, 0
	}
}

func (p *plain) effect(a *offset.Act, rec *plainAct) bool {
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
	i := slices.IndexFunc(p.claims, func(c Claim) bool { return c.ByBroker == t.ByBroker && c.Name == t.Name })
	over := slices.ContainsFunc(p.claims, func(c Claim) bool {
		return (c.ByBroker != t.ByBroker || c.Name == t.Name) && c.Index > a.Base
	})
	switch {
	case p.busy || over:
		rec.res.Code = offset.CodeSuperseded
	case i < 0 && len(p.claims) == offset.MaxClaims:
		rec.res.Code = offset.CodeLimit
	default:
		if i >= 0 {
			p.claims = slices.Delete(p.claims, i, i+1)
		}
		p.claims = append(p.claims, Claim{t.ByBroker, t.Name, t.Holder, p.index})
		p.lastAct = p.index
	}
	return true
}

func (p *plain) did(rec *plainAct) { rec.res.Changed++; p.lastAct = p.index }

func (p *plain) refuse(rec *plainAct) {
	if rec.res.Changed == 0 && rec.res.Kept > 0 {
		rec.res.Code = offset.CodeSuperseded
	}
}

func (p *plain) keep(rec *plainAct, k offset.Key) {
	rec.res.Kept++
	if len(rec.res.Names) < offset.MaxNames {
		rec.res.Names = append(slices.Clone(rec.res.Names), k)
	}
}

// spare tells whether an act leaves a key alone.
func (p *plain) spare(a *offset.Act, rec *plainAct, k offset.Key, epochs bool) bool {
	st := p.state(k)
	if epochs && st.Position.Epoch > a.Base || a.Claim > 0 && st.Claim > a.Claim {
		p.keep(rec, k)
		return true
	}
	return false
}
