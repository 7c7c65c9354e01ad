package verify

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// sight is what one answer says of one key.
type sight struct {
	op *record.Op
	// epoch is what a commit must carry, value the offset, -1 for none. Together
	// they never go back: an act moves the epoch, all else only raises the offset.
	epoch uint64
	value int64
	// state is all that the answer says; nil where it is an offset alone.
	state *offset.KeyState
	// strict: a linearizable read, or a write that was done.
	strict bool
}

func (s sight) before(o sight) bool {
	return cmp.Or(cmp.Compare(s.epoch, o.epoch), cmp.Compare(s.value, o.value)) < 0
}

// sights lists what answers say, by key.
func sights(ops []*record.Op) map[offset.Key][]sight {
	all := map[offset.Key][]sight{}
	see := func(o *record.Op, k offset.Key, st *offset.KeyState, strict bool) {
		s := sight{op: o, epoch: st.Epoch, value: -1, state: st, strict: strict}
		if st.Exists {
			s.value = st.Position.Offset
		}
		all[k] = append(all[k], s)
	}
	for _, o := range ops {
		switch {
		case !o.Answered():
		case o.Commits != nil:
			record.Each(o.Commits, func(i int, x offset.Commit) {
				if v := &o.Verdicts[i]; v.Code == offset.CodeOK && v.State.Position.Index == 0 {
					all[x.Key] = append(all[x.Key], sight{op: o, epoch: x.Epoch, value: v.State.Position.Offset, strict: true})
				} else {
					see(o, x.Key, &v.State, true)
				}
			})
		case o.Set != nil:
			see(o, o.Set.Key, &o.Verdicts[0].State, true)
		case o.Fetch != nil:
			for i, k := range o.Fetch.Keys {
				see(o, k, &o.States[i], o.Fetch.At.Level == offset.Linearizable)
			}
		case o.List != nil:
			for i := range o.Page.Keys {
				see(o, o.Page.Keys[i].Key, &o.Page.Keys[i].KeyState, o.List.At.Level == offset.Linearizable)
			}
		}
	}
	return all
}

// Plain holds the plain promises against each other's answers, without a log and
// without a model: what was acknowledged is never lost and never lowered but by an
// act, which moves the epoch; states at all levels follow one another as their
// indexes do, and are equal at equal indexes; no node answers a local read from
// an older state than it has answered from before; a fenced commit is never seen.
func Plain(h *record.History, c *Counts) error {
	all := sights(h.Ops)
	for k, list := range all {
		c.Answers += len(list)
		if err := neverBack(k, list); err != nil {
			return err
		}
		if err := oneHistory(k, list); err != nil {
			return err
		}
	}
	if err := onwards(h.Ops); err != nil {
		return err
	}
	return fencedForEver(h.Ops, all)
}

// neverBack: who asks after somebody else was answered sees no less than that one.
func neverBack(k offset.Key, list []sight) error {
	var calls []sight
	for _, s := range list {
		if s.strict {
			calls = append(calls, s)
		}
	}
	returns := slices.Clone(calls)
	slices.SortFunc(calls, func(a, b sight) int { return cmp.Compare(a.op.Call, b.op.Call) })
	slices.SortFunc(returns, func(a, b sight) int { return cmp.Compare(a.op.Return, b.op.Return) })
	var most *sight
	for _, s := range calls {
		for len(returns) > 0 && returns[0].op.Return < s.op.Call {
			if most == nil || most.before(returns[0]) {
				most = &returns[0]
			}
			returns = returns[1:]
		}
		if most != nil && s.before(*most) {
			return &Violation{
				Check: "never lost, never lowered", Keys: []offset.Key{k},
				Text: violation("", "%s was %d under epoch %d, as %s said at index %d; %v later %s was asked and said at index %d that it is %d under epoch %d (%s)",
					k, most.value, most.epoch, most.op.Node, most.op.Meta.Index, (s.op.Call - most.op.Return).Round(time.Microsecond),
					s.op.Node, s.op.Meta.Index, s.value, s.epoch, describe(s.op)).Text,
			}
		}
	}
	return nil
}

// oneHistory: whatever the level and the node, states follow their indexes.
func oneHistory(k offset.Key, list []sight) error {
	var states []sight
	for _, s := range list {
		// Several requests share an entry, so that a verdict need not be the last word at its index.
		if s.state != nil && !s.op.Writes() {
			states = append(states, s)
		}
	}
	slices.SortStableFunc(states, func(a, b sight) int { return cmp.Compare(a.op.Meta.Index, b.op.Meta.Index) })
	for i := 1; i < len(states); i++ {
		a, b := states[i-1], states[i]
		if b.before(a) || a.op.Meta.Index == b.op.Meta.Index && *a.state != *b.state {
			return &Violation{
				Check: "committed states", Keys: []offset.Key{k},
				Text: violation("", "%s says at index %d that %s is %s, and %s at index %d that it is %s",
					a.op.Node, a.op.Meta.Index, k, text(*a.state), b.op.Node, b.op.Meta.Index, text(*b.state)).Text,
			}
		}
	}
	return nil
}

// onwards: whom a node has answered a read by a state, nobody who asks that node
// locally later is answered by an older one, also after it was started again.
func onwards(ops []*record.Op) error {
	reads := map[string][]*record.Op{}
	for _, o := range ops {
		if o.Answered() && !o.Writes() {
			reads[o.Node] = append(reads[o.Node], o)
		}
	}
	for node, calls := range reads {
		returns := slices.Clone(calls)
		slices.SortFunc(calls, func(a, b *record.Op) int { return cmp.Compare(a.Call, b.Call) })
		slices.SortFunc(returns, func(a, b *record.Op) int { return cmp.Compare(a.Return, b.Return) })
		newest := &record.Op{}
		for _, o := range calls {
			for ; len(returns) > 0 && returns[0].Return < o.Call; returns = returns[1:] {
				if returns[0].Meta.Index > newest.Meta.Index {
					newest = returns[0]
				}
			}
			if o.Level().Level == offset.Local && o.Meta.Index < newest.Meta.Index {
				return violation("no node goes back", "%s answered a read at index %d; %v later it was asked locally, and answered at index %d (%s)",
					node, newest.Meta.Index, (o.Call - newest.Return).Round(time.Microsecond), o.Meta.Index, describe(o))
			}
		}
	}
	return nil
}

// fencedForEver: an offset that was refused in each send of it is never seen.
func fencedForEver(ops []*record.Op, all map[offset.Key][]sight) error {
	type one struct {
		key   offset.Key
		value int64
	}
	refused, others := map[one]*record.Op{}, map[one]bool{}
	for _, o := range ops {
		switch {
		case o.Commits != nil:
			record.Each(o.Commits, func(i int, x offset.Commit) {
				if v := (one{x.Key, x.Offset}); o.Unknown() || o.Answered() && o.Verdicts[i].Code == offset.CodeOK {
					others[v] = true
				} else {
					refused[v] = o
				}
			})
		case o.Set != nil:
			if v := (one{o.Set.Key, o.Set.Offset}); o.Unknown() || o.Answered() && o.Verdicts[0].Code == offset.CodeOK {
				others[v] = true
			} else {
				refused[v] = o
			}
		}
	}
	for k, list := range all {
		for _, s := range list {
			if v := (one{k, s.value}); refused[v] != nil && !others[v] {
				return &Violation{
					Check: "a fenced commit is never applied", Keys: []offset.Key{k},
					Text: violation("", "%s says that %s is %d, and all that was said to who sent it is: %s", s.op.Node, k, s.value, describe(refused[v])).Text,
				}
			}
		}
	}
	return nil
}
