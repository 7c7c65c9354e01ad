package verify

import (
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// commit is one commit of a request. Of an atomic one that is not known it is
// either nothing or this: that all of it is so is left to the replay.
func (p *part) commit(o *record.Op, i int, x offset.Commit) func(cell) []cell {
	g := p.place(x.Key)
	foreign := o.Commits.Cluster != p.cluster
	taken := func(c cell) []cell {
		if foreign {
			return nil
		}
		list := c.carrying(g, x.Epoch)
		for j := range list {
			list[j].advance(g, x.Offset, x.Epoch)
		}
		return list
	}
	if !o.Answered() {
		return func(c cell) []cell { return append(taken(c), c) }
	}
	v := &o.Verdicts[i]
	switch {
	case v.Code == offset.CodeOK && v.State.Position.Index == 0: // over the wire
		return func(c cell) []cell {
			return each(taken(c), func(c cell) []cell { return if1(c[g].offset == v.State.Position.Offset, &c) })
		}
	case v.Code == offset.CodeOK:
		return func(c cell) []cell {
			return each(taken(c), func(c cell) []cell { return if1(c.observe(g, &v.State), &c) })
		}
	case v.Code == offset.CodeFenced:
		return func(c cell) []cell { return if1((foreign || x.Epoch != v.State.Epoch) && c.observe(g, &v.State), &c) }
	}
	return func(c cell) []cell { return if1(x.Epoch == v.State.Epoch && c.observe(g, &v.State), &c) } // not applied
}

// set is a Set.
func (p *part) set(o *record.Op) func(cell) []cell {
	s := o.Set
	g := p.place(s.Key)
	taken := func(c cell, index uint64) []cell {
		k := c[g]
		if k.exists != s.Exists || k.exists && k.offset != s.Replaces {
			return nil
		}
		var list []cell
		switch {
		case !s.Operator:
			list = c.carrying(g, s.Epoch)
		case s.Claim > 0 && k.claim&open == 0 && k.claim > s.Claim:
		case c.is(k.own(), s.Epoch):
			list = []cell{c}
		}
		for j := range list {
			list[j].write(g, s.Offset, s.Operator, index)
		}
		return list
	}
	if !o.Answered() {
		index := open | uint64(o.Call)<<8 // one of its own
		return func(c cell) []cell { return append(taken(c, index), c) }
	}
	st := &o.Verdicts[0].State
	if o.Verdicts[0].Code == offset.CodeOK {
		return func(c cell) []cell {
			return each(taken(c, st.Position.Epoch), func(c cell) []cell { return if1(c.observe(g, st), &c) })
		}
	}
	return func(c cell) []cell {
		if !c.observe(g, st) {
			return nil
		}
		return if1(len(taken(c, open)) == 0, &c)
	}
}
