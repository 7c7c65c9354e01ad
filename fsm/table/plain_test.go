package table

import (
	"cmp"
	"maps"
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
	step     int
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
	first  uint64
	res    offset.ActResult
	cursor *offset.Key
	item   int
	seen   bool
}

func newPlain(cluster offset.ClusterID, step int) *plain {
	return &plain{cluster: cluster, step: step, keys: map[offset.Key]offset.Position{}}
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
	if len(p.floors) == offset.MaxFloors {
		p.floorAll = max(p.floorAll, p.floors[0].Index)
		p.floors = p.floors[1:]
	}
	p.floors = append(p.floors, Floor{topic, name, p.index})
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
	if len(p.acts) == offset.MaxActs {
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
	case rec != nil && (rec.res.Done || step != rec.res.Next):
		return rec.res
	case rec == nil && (step > 0 || a.Base < p.evicted):
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.index, Done: true}
	case rec == nil:
		rec = &plainAct{id: a.ID, first: p.index}
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

// scan lists the keys that an act goes through, in its order, behind its cursor.
func (p *plain) scan(rec *plainAct, in func(offset.Key) bool, order func(a, b offset.Key) int) []offset.Key {
	var out []offset.Key
	for k := range p.keys {
		if in(k) && (rec.cursor == nil || order(k, *rec.cursor) > 0) {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, order)
	return out
}

func byBrokerFirst(a, b offset.Key) int {
	return cmp.Or(cmp.Compare(a.Broker, b.Broker), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.QueueID, b.QueueID))
}

func (p *plain) remove(a *offset.Act, rec *plainAct) bool {
	s := a.Remove.Scope
	order := byBrokerFirst
	if s.Group == "" {
		order = offset.Key.Compare
	}
	in := func(k offset.Key) bool {
		return (s.Group == "" || k.Group == s.Group) && (s.Topic == "" || k.Topic == s.Topic) &&
			(s.Group == "" || !s.HasBroker || k.Broker == s.Broker) && (!s.HasQueue || k.QueueID == s.QueueID)
	}
	left, did, done := p.step, false, true
	floor := p.floor(s.Group, s.Topic)
	passed := "" // a pair of another broker counts one, once
	for _, k := range p.scan(rec, in, order) {
		if s.Group == "" && s.HasBroker && k.Broker != s.Broker {
			if pair := k.Group + "\x00" + k.Broker; pair != passed {
				if left <= 0 {
					done = false
					break
				}
				passed = pair
				left--
			}
			rec.cursor = &offset.Key{Group: k.Group, MessageQueue: offset.MessageQueue{Topic: k.Topic, Broker: k.Broker, QueueID: maxID}}
			continue
		}
		if left <= 0 {
			done = false
			break
		}
		left--
		rec.cursor, rec.seen = &k, true
		if !p.spare(a, rec, k, true) {
			delete(p.keys, k)
			p.did(rec)
			did = true
		}
	}
	switch {
	case !did && done && !rec.seen && floor > a.Base:
		rec.res.Code = offset.CodeSuperseded
	case did || done && !rec.seen:
		p.lastAct = p.index
		if s.Group == "" {
			p.moveFloor(true, s.Topic)
		} else {
			p.moveFloor(false, s.Group)
		}
	}
	if done {
		p.refuse(rec)
	}
	return done
}

func (p *plain) clone(a *offset.Act, rec *plainAct) bool {
	c := a.Clone
	in := func(k offset.Key) bool {
		return k.Group == c.From && (c.Topic == "" || k.Topic == c.Topic) && (!c.HasBroker || k.Broker == c.Broker)
	}
	left := p.step
	for _, k := range p.scan(rec, in, byBrokerFirst) {
		if left == 0 {
			return false
		}
		left--
		rec.cursor, rec.seen = &k, true
		to := k
		to.Group = c.To
		if !p.spare(a, rec, to, true) {
			p.write(to, p.keys[k].Offset, false)
			p.did(rec)
		}
	}
	p.refuse(rec)
	if !rec.seen {
		rec.res.Code = offset.CodeNotFound
	}
	return true
}

func (p *plain) expire(a *offset.Act, rec *plainAct) bool {
	left := p.step
	for rec.item < len(a.Expire.Groups) {
		if left <= 0 {
			return false
		}
		left -= expireGroup
		g := a.Expire.Groups[rec.item]
		list := p.scan(&plainAct{}, func(k offset.Key) bool { return k.Group == g.Group }, byBrokerFirst)
		if slices.ContainsFunc(list, func(k offset.Key) bool { return p.keys[k].Index > g.Seen }) {
			p.keep(rec, offset.Key{Group: g.Group})
			list = nil
		}
		did := false
		for i, k := range list {
			if rec.cursor != nil && byBrokerFirst(k, *rec.cursor) <= 0 {
				continue
			}
			if left <= 0 {
				if did {
					p.moveFloor(false, g.Group)
				}
				_ = i
				return false
			}
			left--
			rec.cursor = &k
			if !p.spare(a, rec, k, false) {
				delete(p.keys, k)
				p.did(rec)
				did = true
			}
		}
		if did {
			p.moveFloor(false, g.Group)
		}
		rec.item, rec.cursor = rec.item+1, nil
	}
	return true
}

// lost looks at the keys that are there, and at what the act names.
func (p *plain) lost(a *offset.Act) bool {
	if a.Claim == 0 {
		return false
	}
	newer := func(byBroker bool, name string) bool {
		return slices.ContainsFunc(p.claims, func(c Claim) bool { return c.ByBroker == byBroker && c.Name == name && c.Index > a.Claim })
	}
	any := func(in func(offset.Key) bool) bool {
		for k := range maps.Keys(p.keys) {
			if in(k) && p.claim(k.Group, k.Broker) > a.Claim {
				return true
			}
		}
		return false
	}
	group := func(g, b string, hasBroker bool) bool {
		return newer(false, g) || hasBroker && newer(true, b) || !hasBroker && any(func(k offset.Key) bool { return k.Group == g })
	}
	switch {
	case a.Reset != nil:
		return slices.ContainsFunc(a.Reset.Targets, func(t offset.Target) bool { return p.claim(t.Key.Group, t.Key.Broker) > a.Claim })
	case a.Remove != nil && a.Remove.Scope.Group == "":
		s := a.Remove.Scope
		return s.HasBroker && newer(true, s.Broker) ||
			any(func(k offset.Key) bool { return k.Topic == s.Topic && (!s.HasBroker || k.Broker == s.Broker) })
	case a.Remove != nil:
		s := a.Remove.Scope
		return group(s.Group, s.Broker, s.HasBroker)
	case a.Clone != nil:
		return group(a.Clone.To, a.Clone.Broker, a.Clone.HasBroker)
	case a.Expire != nil:
		return slices.ContainsFunc(a.Expire.Groups, func(g offset.Idle) bool { return group(g.Group, "", false) })
	}
	return false
}

func (p *plain) importStep(a *offset.Act) offset.ActResult {
	i, rec := a.Import, p.find(a.ID)
	if i.Step == offset.ImportBegin {
		return p.importBegin(a, rec)
	}
	if p.imp == nil || p.imp.ID != a.ID {
		if rec != nil {
			return rec.res
		}
		return offset.ActResult{Code: offset.CodeNoImport, Index: p.index, Done: true}
	}
	superseded := offset.ActResult{Code: offset.CodeSuperseded, Index: p.index, Next: p.imp.Next}
	switch i.Step {
	case offset.ImportAbort:
		p.imp, p.staged = nil, nil
		rec.res.Code, rec.res.Done, rec.res.Next, rec.res.Index = offset.CodeNoImport, true, 0, p.index
		res := rec.res
		res.Code = offset.CodeOK
		return res
	case offset.ImportSwap:
		switch {
		case p.imp.Mode == offset.ImportMerge || p.imp.Next < p.imp.Chunks:
			return rec.res
		case p.lastAct > a.Base || a.Claim > 0 && p.lostReplace(a.Claim):
			return superseded
		}
		p.swap()
		rec.res.Changed, p.lastAct = uint64(len(p.staged)), p.index
		p.imp, p.staged = nil, nil
		rec.res.Done, rec.res.Next, rec.res.Index = true, 0, p.index
		return rec.res
	}
	if i.Chunk != p.imp.Next || i.Chunk >= p.imp.Chunks {
		return rec.res
	}
	if a.Claim > 0 && slices.ContainsFunc(i.Targets, func(t offset.Target) bool { return p.claim(t.Key.Group, t.Key.Broker) > a.Claim }) {
		return superseded
	}
	for _, t := range i.Targets {
		st := p.state(t.Key)
		switch {
		case p.imp.Mode == offset.ImportReplace && p.imp.Group != "" && t.Key.Group != p.imp.Group:
			rec.res.Kept++
		case p.imp.Mode == offset.ImportReplace:
			p.staged[t.Key] = t.Offset
		case st.Exists && st.Position.Offset >= t.Offset:
			rec.res.Kept++
		case st.Position.Epoch > p.imp.Base || a.Claim > 0 && st.Claim > a.Claim:
			p.keep(rec, t.Key)
		default:
			p.write(t.Key, t.Offset, false)
			p.did(rec)
		}
	}
	p.imp.Next++
	rec.res.Index, rec.res.Next = p.index, p.imp.Next
	if p.imp.Mode == offset.ImportMerge && p.imp.Next == p.imp.Chunks {
		p.imp = nil
		rec.res.Done, rec.res.Next = true, 0
	}
	return rec.res
}

func (p *plain) importBegin(a *offset.Act, rec *plainAct) offset.ActResult {
	i := a.Import
	switch {
	case rec != nil:
		return rec.res
	case a.Base < p.evicted:
		return offset.ActResult{Code: offset.CodeTooOld, Index: p.index, Done: true}
	}
	rec = &plainAct{id: a.ID, first: p.index, res: offset.ActResult{Index: p.index, Done: true}}
	if p.imp != nil {
		rec.res.Code = offset.CodeImportBusy
	} else if i.Mode == offset.ImportReplace || i.Chunks > 0 {
		p.imp = &offset.ImportStatus{ID: a.ID, Mode: i.Mode, Group: i.Group, Hash: i.Hash, Chunks: i.Chunks, Offsets: i.Offsets, Base: a.Base}
		p.staged = map[offset.Key]int64{}
		rec.res.Done = false
		if a.Claim > 0 && i.Mode == offset.ImportReplace && p.lostReplace(a.Claim) {
			p.imp, p.staged = nil, nil
			rec.res.Done, rec.res.Code = true, offset.CodeSuperseded
		}
	}
	p.remember(rec)
	return rec.res
}

func (p *plain) lostReplace(claim uint64) bool {
	for _, c := range p.claims {
		in := p.imp.Group == "" || !c.ByBroker && c.Name == p.imp.Group
		for k := range p.keys {
			in = in || c.ByBroker && c.Name == k.Broker && k.Group == p.imp.Group
		}
		if in && c.Index > claim {
			return true
		}
	}
	return false
}

func (p *plain) swap() {
	old := maps.Clone(p.keys)
	maps.DeleteFunc(p.keys, func(k offset.Key, _ offset.Position) bool { return p.imp.Group == "" || k.Group == p.imp.Group })
	for k, off := range p.staged {
		p.keys[k] = offset.Position{Offset: off, Index: p.index, Epoch: p.index, Time: p.time, Pending: old[k].Pending}
	}
	if p.imp.Group != "" {
		p.moveFloor(false, p.imp.Group)
		return
	}
	p.floorAll, p.floors = p.index, nil
}
