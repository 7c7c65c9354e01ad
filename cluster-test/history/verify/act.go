package verify

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// act is one entry of an act with all its sends: they have one effect, if any.
type act struct {
	*offset.Act
	// begun is the first entry of the import that it is a step of.
	begun  *offset.Act
	sends  []*record.Op
	client int
	// call is that of the first send, returned when the first of its answers came;
	// result is that answer, nil if it is not known whether it took effect.
	call, returned time.Duration
	result         *offset.ActResult
	// content is, of a swap, what it brings.
	content []offset.Target
}

// stepOf names an entry of an act. Every swap of an import is one, whatever its base.
type stepOf struct {
	id    offset.ActID
	step  offset.ImportStep
	chunk uint32
}

func stepName(a *offset.Act) stepOf {
	s := stepOf{id: a.ID}
	if a.Import != nil {
		s.step, s.chunk = a.Import.Step, a.Import.Chunk
	}
	return s
}

// acts lists what may have taken effect.
func acts(ops []*record.Op) (list []*act) {
	at := map[stepOf]*act{}
	content := map[offset.ActID]map[uint32][]offset.Target{}
	sends := slices.Clone(ops)
	slices.SortStableFunc(sends, func(a, b *record.Op) int { return int(a.Call - b.Call) })
	for _, o := range sends {
		if o.Act == nil || !o.Answered() && !o.Unknown() {
			continue
		}
		name := stepName(o.Act)
		if name.step == offset.ImportChunk {
			if content[name.id] == nil {
				content[name.id] = map[uint32][]offset.Target{}
			}
			content[name.id][name.chunk] = o.Act.Import.Targets
		}
		if a := at[name]; a != nil {
			a.send(o)
			continue
		}
		a := &act{Act: o.Act, begun: o.Begun, client: o.Client, call: o.Call}
		at[name] = a
		a.send(o)
		list = append(list, a)
	}
	for _, a := range list {
		if a.Import != nil && a.Import.Step == offset.ImportSwap {
			chunks := content[a.ID]
			for _, n := range slices.Sorted(maps.Keys(chunks)) { // a later one wins
				a.content = append(a.content, chunks[n]...)
			}
		}
	}
	return list
}

// send takes a further send into account. An answer that says that nothing was
// done is the word on this send alone where an earlier one is unknown.
func (a *act) send(o *record.Op) {
	a.sends = append(a.sends, o)
	done := o.Answered() && (o.Result.Code == offset.CodeOK || o.Result.Code == offset.CodeSuperseded && a.Import == nil)
	first := len(a.sends) == 1
	switch {
	case a.result != nil && (a.result.Code == offset.CodeOK || a.Import == nil):
	case done || o.Answered() && first:
		if a.result != nil || first { // what came before was superseded, and did nothing
			a.call = o.Call
		}
		a.result, a.returned = o.Result, o.Return
	case o.Unknown() && a.result != nil: // of a swap that was superseded before
		a.call, a.result = o.Call, nil
	}
}

func (a *act) what() string {
	if a.result == nil {
		return describeAct(a.Act) + " -> unknown"
	}
	return fmt.Sprintf("%s -> %+v", describeAct(a.Act), *a.result)
}

// mind is what is known of whether an act leaves a key alone.
type mind int

const (
	no mind = iota
	yes
	perhaps
)

// spares tells whether the act leaves a key alone, by its base and its claim.
func (a *act) spares(k *one, epochs bool, base uint64) mind {
	m := no
	if a.Claim > 0 {
		m = above(k.claim, a.Claim)
	}
	if epochs {
		m = either(m, above(k.own(), base))
	}
	return m
}

func above(v, base uint64) mind {
	switch {
	case v&open != 0:
		return perhaps
	case v > base:
		return yes
	}
	return no
}

func either(a, b mind) mind {
	switch {
	case a == yes || b == yes:
		return yes
	case a == perhaps || b == perhaps:
		return perhaps
	}
	return no
}

// said is what the answer says of a key that the act had before it.
func (a *act) said(k offset.Key, m mind) mind {
	if a.result == nil {
		return m
	}
	named := slices.Contains(a.result.Names, k)
	switch {
	case named && m != no:
		return yes
	case !named && m != yes:
		return no
	}
	return -1 // a contradiction
}

// on applies f to key g of the cells unless the act leaves it alone.
func (a *act) on(list []cell, g int, name offset.Key, base uint64, epochs bool, f func(*cell)) []cell {
	return each(list, func(c cell) (out []cell) {
		m := a.said(name, a.spares(&c[g], epochs, base))
		if m == yes || m == perhaps {
			out = append(out, c)
		}
		if m == no || m == perhaps {
			f(&c)
			out = append(out, c)
		}
		return out
	})
}

// act makes the step that an act is for the part; nil if it does nothing there.
func (p *part) act(a *act, unknown uint64) func(cell) []cell {
	index := unknown
	if a.result != nil {
		if a.result.Code != offset.CodeOK && a.result.Code != offset.CodeSuperseded {
			return nil
		}
		index = a.result.Index
	}
	effect := p.effect(a, index)
	if effect == nil {
		return nil
	}
	switch {
	case a.result == nil:
		return func(c cell) []cell { return append(effect(c), c) }
	case a.result.Code == offset.CodeSuperseded:
		return nil // why it was is left to the replay
	}
	return effect
}

func (p *part) effect(a *act, index uint64) func(cell) []cell {
	switch {
	case a.Reset != nil:
		return p.targets(a.Reset.Targets, func(list []cell, g int, t offset.Target) []cell {
			return a.on(list, g, t.Key, a.Base, true, func(c *cell) { c.write(g, t.Offset, true, index) })
		})
	case a.Remove != nil:
		return p.removal(a, index)
	case a.Clone != nil:
		return p.clone(a, index)
	case a.Expire != nil:
		return p.expiry(a, index)
	case a.Take != nil:
		return p.claim(a, index)
	}
	return p.importing(a, index)
}

// targets applies f for each of the targets that the part has.
func (p *part) targets(all []offset.Target, f func([]cell, int, offset.Target) []cell) func(cell) []cell {
	var mine []offset.Target
	for _, t := range all {
		if p.place(t.Key) >= 0 {
			mine = append(mine, t)
		}
	}
	if mine == nil {
		return nil
	}
	return func(c cell) []cell {
		list := []cell{c}
		for _, t := range mine {
			list = f(list, p.place(t.Key), t)
		}
		return list
	}
}

func (p *part) removal(a *act, index uint64) func(cell) []cell {
	s := a.Remove.Scope
	in := (s.Topic == "" || s.Topic == p.queue.Topic) && (!s.HasBroker || s.Broker == p.queue.Broker) && (!s.HasQueue || s.QueueID == p.queue.QueueID)
	var floors []int
	for g, name := range p.groups {
		if s.Group == name || s.Group == "" && s.Topic == p.queue.Topic {
			floors = append(floors, g)
		}
	}
	if floors == nil {
		return nil
	}
	return func(c cell) []cell {
		list := []cell{c}
		for _, g := range floors {
			list = each(list, func(c cell) []cell {
				one := []cell{c}
				if in && c[g].exists {
					one = a.on(one, g, p.keys()[g], a.Base, true, func(c *cell) { c.remove(g) })
				}
				for i := range one {
					one[i][g].floor = index
				}
				return one
			})
		}
		return list
	}
}

func (p *part) clone(a *act, index uint64) func(cell) []cell {
	from, to := p.group(a.Clone.From), p.group(a.Clone.To)
	if from < 0 || to < 0 || a.Clone.Topic != "" && a.Clone.Topic != p.queue.Topic || a.Clone.HasBroker && a.Clone.Broker != p.queue.Broker {
		return nil
	}
	name := offset.Key{Group: a.Clone.To, MessageQueue: p.queue}
	return func(c cell) []cell {
		if !c[from].exists {
			return []cell{c}
		}
		return a.on([]cell{c}, to, name, a.Base, true, func(c *cell) { c.write(to, c[from].offset, false, index) })
	}
}

// expiry removes keys of groups that have not moved. Whether they have is known
// from the answer; whether a group that has no key here lost one elsewhere is not.
func (p *part) expiry(a *act, index uint64) func(cell) []cell {
	var mine []int
	for _, e := range a.Expire.Groups {
		if g := p.group(e.Group); g >= 0 && (a.result == nil || !slices.Contains(a.result.Names, offset.Key{Group: e.Group})) {
			mine = append(mine, g)
		}
	}
	if mine == nil {
		return nil
	}
	return func(c cell) []cell {
		list := []cell{c}
		for _, g := range mine {
			list = each(list, func(c cell) []cell {
				if c[g].exists {
					out := a.on([]cell{c}, g, p.keys()[g], 0, false, func(c *cell) { c.remove(g); c[g].floor = index })
					if a.result == nil {
						out = append(out, c) // the group had moved
					}
					return out
				}
				moved := c
				moved[g].floor = index
				return []cell{c, moved}
			})
		}
		return list
	}
}

func (p *part) claim(a *act, index uint64) func(cell) []cell {
	t := a.Take
	if t.ByBroker && t.Name != p.queue.Broker || !t.ByBroker && p.group(t.Name) < 0 {
		return nil
	}
	return func(c cell) []cell {
		for g, name := range p.groups {
			if t.ByBroker || t.Name == name {
				c[g].claim = index
			}
		}
		return []cell{c}
	}
}

func (p *part) importing(a *act, index uint64) func(cell) []cell {
	i := a.Import
	switch {
	case i.Step == offset.ImportSwap:
		return p.swap(a, index)
	case i.Step != offset.ImportChunk || a.begun == nil || a.begun.Import.Mode != offset.ImportMerge:
		return nil
	}
	return p.targets(i.Targets, func(list []cell, g int, t offset.Target) []cell {
		return each(list, func(c cell) []cell {
			if c[g].exists && c[g].offset >= t.Offset {
				return []cell{c}
			}
			return a.on([]cell{c}, g, t.Key, a.begun.Base, true, func(c *cell) { c.write(g, t.Offset, false, index) })
		})
	})
}

func (p *part) swap(a *act, index uint64) func(cell) []cell {
	if a.begun == nil {
		return nil
	}
	all := a.begun.Import.Group == ""
	if !all && p.group(a.begun.Import.Group) < 0 {
		return nil
	}
	brings := [maxGroups]int64{}
	for g := range brings {
		brings[g] = math.MinInt64
	}
	for _, t := range a.content {
		if g := p.place(t.Key); g >= 0 {
			brings[g] = t.Offset
		}
	}
	return func(c cell) []cell {
		for g, name := range p.groups {
			if !all && name != a.begun.Import.Group {
				continue
			}
			if brings[g] == math.MinInt64 {
				c.remove(g)
			} else {
				c.write(g, brings[g], false, index)
			}
			c[g].floor = index
		}
		return []cell{c}
	}
}
