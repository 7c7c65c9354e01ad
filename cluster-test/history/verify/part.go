package verify

import (
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// part is the share of a history that one queue has, in all groups that use its
// topic: what porcupine looks at at once.
type part struct {
	cluster offset.ClusterID
	queue   offset.MessageQueue
	groups  []string
	steps   []*placed
	// begin and last are when the first operation that names the queue was called,
	// and when the last one was answered. What was done before is in the open
	// floors and claims of the first state; nobody saw what was done after.
	begin, last time.Duration
}

// placed is a step with its place in time.
type placed struct {
	step
	client         int
	call, returned time.Duration
	open           bool // it may take effect at any time after call, or never
}

// first is the state before the first operation: no key, and floors and claims
// that are not known.
func (p *part) first() cell {
	var c cell
	for i := range p.groups {
		c[i] = one{floor: open | uint64(2*i), claim: open | uint64(2*i+1)}
	}
	return c
}

// group is the place of a group in the cell, -1 if the part does not have it.
func (p *part) group(name string) int { return slices.Index(p.groups, name) }

func (p *part) has(k offset.Key) bool { return k.MessageQueue == p.queue && p.group(k.Group) >= 0 }

// place is the place of a key in the cell, -1 if it is not of this part.
func (p *part) place(k offset.Key) int {
	if k.MessageQueue != p.queue {
		return -1
	}
	return p.group(k.Group)
}

func (p *part) keys() (list []offset.Key) {
	for _, g := range p.groups {
		list = append(list, offset.Key{Group: g, MessageQueue: p.queue})
	}
	return list
}

// named lists the keys that a request names one by one.
func named(o *record.Op) (list []offset.Key) {
	targets := func(all []offset.Target) {
		for _, t := range all {
			list = append(list, t.Key)
		}
	}
	switch {
	case o.Commits != nil:
		record.Each(o.Commits, func(_ int, x offset.Commit) { list = append(list, x.Key) })
	case o.Set != nil:
		list = append(list, o.Set.Key)
	case o.Fetch != nil:
		list = append(list, o.Fetch.Keys...)
	case o.Act != nil && o.Act.Reset != nil:
		targets(o.Act.Reset.Targets)
	case o.Act != nil && o.Act.Import != nil:
		targets(o.Act.Import.Targets)
	}
	return list
}

// split makes the parts of a history.
func split(h *record.History) ([]*part, error) {
	ops := h.Ops
	at := map[offset.MessageQueue]*part{}
	var list []*part
	for _, o := range ops {
		for _, k := range named(o) {
			p := at[k.MessageQueue]
			if p == nil {
				p = &part{cluster: h.Cluster, queue: k.MessageQueue, begin: o.Call}
				at[k.MessageQueue] = p
				list = append(list, p)
			}
			if p.group(k.Group) < 0 {
				p.groups = append(p.groups, k.Group)
			}
			if len(p.groups) > maxGroups {
				return nil, fmt.Errorf("%s is used by more than %d groups: a part can't have so many", k, maxGroups)
			}
			p.begin, p.last = min(p.begin, o.Call), max(p.last, o.Return)
		}
	}
	for _, o := range ops {
		calls(at, o)
	}
	for i, a := range acts(ops) {
		for _, p := range list {
			if from := p.act(a, open|uint64(1000+i)); from != nil {
				p.add(&placed{step{a.sends, a.what(), from}, a.client, a.call, a.returned, a.result == nil})
			}
		}
	}
	return list, nil
}

// add adds an operation that took place while the part did. The part lasts until it
// has been answered: what it saw may be that of an act which was called meanwhile,
// as a listing sees that a key is gone, which it does not name. Acts come last.
func (p *part) add(s *placed) {
	if s.call > p.last || !s.open && s.returned < p.begin {
		return
	}
	if !s.open {
		p.last = max(p.last, s.returned)
	}
	p.steps = append(p.steps, s)
}

// calls adds a request that is no act to the parts that it touches.
func calls(at map[offset.MessageQueue]*part, o *record.Op) {
	if o.Act != nil || !o.Answered() && (!o.Unknown() || !o.Writes()) {
		return // acts come by themselves; what was refused changed nothing
	}
	steps := map[*part]func(cell) []cell{}
	and := func(p *part, f func(cell) []cell) {
		before := steps[p]
		if before == nil {
			steps[p] = f
			return
		}
		steps[p] = func(c cell) []cell { return each(before(c), f) }
	}
	switch {
	case o.Commits != nil:
		record.Each(o.Commits, func(i int, x offset.Commit) { p := at[x.Key.MessageQueue]; and(p, p.commit(o, i, x)) })
	case o.Set != nil:
		p := at[o.Set.Key.MessageQueue]
		and(p, p.set(o))
	case o.Fetch != nil && o.Fetch.At.Level == offset.Linearizable:
		for i, k := range o.Fetch.Keys {
			p := at[k.MessageQueue]
			g := p.place(k)
			and(p, func(c cell) []cell { return if1(c.observe(g, &o.States[i]), &c) })
		}
	case o.List != nil && o.List.At.Level == offset.Linearizable && !o.List.Pending:
		listing(at, o, and)
	}
	for p, f := range steps {
		p.add(&placed{step{[]*record.Op{o}, describe(o), f}, o.Client, o.Call, o.Return, !o.Answered()})
	}
}

// listing has a listing of a group's keys say of each queue what it is there, or
// that it is not.
func listing(at map[offset.MessageQueue]*part, o *record.Op, and func(*part, func(cell) []cell)) {
	rows := map[offset.Key]*offset.KeyState{}
	for i := range o.Page.Keys {
		rows[o.Page.Keys[i].Key] = &o.Page.Keys[i].KeyState
	}
	for queue, p := range at {
		g := p.group(o.List.Group)
		if g < 0 {
			continue
		}
		st := rows[offset.Key{Group: o.List.Group, MessageQueue: queue}]
		and(p, func(c cell) []cell {
			if st == nil {
				return if1(!c[g].exists, &c)
			}
			return if1(c.observe(g, st), &c)
		})
	}
}

// each is what f makes of each of the cells.
func each(list []cell, f func(cell) []cell) (out []cell) {
	for _, c := range list {
		out = append(out, f(c)...)
	}
	return out
}

func if1(ok bool, c *cell) []cell {
	if ok {
		return []cell{*c}
	}
	return nil
}
