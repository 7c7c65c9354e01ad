package verify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/fsm/rule"
	"github.com/tidemark-mq/tidemark/offset"
)

// identity is what makes a request, and its resends, different from all others.
type identity struct {
	key   offset.Key
	value int64

	act   offset.ActID
	step  offset.ImportStep
	chunk uint32
	base  uint64 // of a swap, which has a new one each time
}

func identityOf(c *offset.Commits, s *offset.Set, a *offset.Act) (id identity) {
	switch {
	case c != nil:
		record.Each(c, func(i int, x offset.Commit) {
			if i == 0 {
				id.key, id.value = x.Key, x.Offset
			}
		})
	case s != nil:
		id.key, id.value = s.Key, s.Offset
	case a != nil:
		id.act = a.ID
		if i := a.Import; i != nil {
			id.step, id.chunk = i.Step, i.Chunk
			if i.Step == offset.ImportSwap {
				id.base = a.Base
			}
		}
	}
	return id
}

// applied is a request as the rule has it, at one place of the log.
type applied struct {
	index    uint64
	verdicts []offset.Verdict
	result   offset.ActResult
}

// replay plays the log through the rule and holds answers against it.
type replay struct {
	state  *rule.State
	counts *Counts
	log    map[identity][]*applied
	sent   map[identity][]*record.Op
	reads  []*record.Op // not checked yet, by index
}

// Replay plays the log through fsm/rule, and demands that every answer is what
// it gives at the index that the answer names: verdicts, results, states and
// listings at every level, to the byte; that what was acknowledged is there, what
// was refused is not, each send at most once and nothing that nobody sent; and
// that indexes follow the order in which calls were made and answered. It needs
// the log from its first entry, and does nothing without.
func Replay(h *record.History, c *Counts) error {
	if h.Cut || len(h.Log) == 0 {
		return nil
	}
	r := &replay{state: rule.New(h.Cluster), counts: c, log: map[identity][]*applied{}, sent: map[identity][]*record.Op{}}
	for _, o := range h.Ops {
		switch {
		case o.Writes():
			id := identityOf(o.Commits, o.Set, o.Act)
			r.sent[id] = append(r.sent[id], o)
		case o.Answered():
			r.reads = append(r.reads, o)
		}
	}
	slices.SortStableFunc(r.reads, func(a, b *record.Op) int { return cmp.Compare(a.Meta.Index, b.Meta.Index) })
	d := new(entry.Decoder)
	for _, e := range h.Log {
		if err := r.entry(d, e); err != nil {
			return err
		}
	}
	if len(r.reads) > 0 {
		o := r.reads[0]
		return violation("committed states", "%s answered %s at index %d, and the log ends at %d", o.Node, describe(o), o.Meta.Index, r.state.Index)
	}
	for id, sends := range r.sent {
		if err := r.sends(id, sends); err != nil {
			return err
		}
	}
	return order(h)
}

// entry applies one entry; before that it looks at the reads of what was there.
func (r *replay) entry(d *entry.Decoder, e record.Entry) error {
	if !e.Command {
		return nil
	}
	if err := r.look(e.Index); err != nil {
		return err
	}
	x, err := d.Decode(e.Data)
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.Index, err)
	}
	r.counts.Entries++
	r.state.Begin(e.Index, x.Time)
	for i := range x.Requests {
		if err := r.request(e.Index, &x.Requests[i]); err != nil {
			return err
		}
	}
	return r.look(e.Index + 1)
}

func (r *replay) request(index uint64, q *entry.Request) error {
	a := &applied{index: index}
	switch {
	case q.Commits != nil:
		a.verdicts = r.state.Commit(q.Commits)
	case q.Set != nil:
		a.verdicts = []offset.Verdict{r.state.Set(q.Set)}
	case q.Act != nil:
		a.result = r.state.Act(q.Act, q.Step)
	default:
		return nil // of the cluster itself
	}
	id := identityOf(q.Commits, q.Set, q.Act)
	if r.sent[id] == nil {
		return violation("nothing of nobody's", "entry %d holds a request that nobody sent: %+v", index, id)
	}
	r.log[id] = append(r.log[id], a)
	return nil
}

// look checks the reads of indexes below next.
func (r *replay) look(next uint64) error {
	for len(r.reads) > 0 && r.reads[0].Meta.Index < next {
		o := r.reads[0]
		r.reads = r.reads[1:]
		r.counts.Answers += o.Answers()
		if err := r.read(o); err != nil {
			return err
		}
	}
	return nil
}

func (r *replay) read(o *record.Op) error {
	if at := o.Level(); at.Level == offset.AtLeast && o.Meta.Index < at.Index {
		return violation("at least an index", "%s was asked for index %d and answered at %d", o.Node, at.Index, o.Meta.Index)
	}
	if o.Meta.LastAct != r.state.LastAct {
		return violation("committed states", "%s says at index %d that the last act was at %d; it was at %d", o.Node, o.Meta.Index, o.Meta.LastAct, r.state.LastAct)
	}
	if o.List != nil {
		return r.listing(o)
	}
	for i, k := range o.Fetch.Keys {
		if want := r.state.Get(k); o.States[i] != want {
			v := violation("committed states", "%s answered (%v) at index %d that %s is %s; there it is %s",
				o.Node, o.Fetch.At.Level, o.Meta.Index, k, text(o.States[i]), text(want))
			v.Keys = []offset.Key{k}
			return v
		}
	}
	return nil
}

func (r *replay) listing(o *record.Op) error {
	var want []offset.KeyedState
	for k := range r.state.Keys {
		st := r.state.Get(k)
		if (o.List.Group == "" || k.Group == o.List.Group) && (!o.List.Pending || st.Position.Pending) {
			want = append(want, offset.KeyedState{Key: k, KeyState: st})
		}
	}
	slices.SortFunc(want, func(a, b offset.KeyedState) int { return a.Key.Compare(b.Key) })
	if !slices.Equal(o.Page.Keys, want) {
		return violation("committed states", "%s lists at index %d (%v, group %q, pending %v)\n%v\nthere it is\n%v",
			o.Node, o.Meta.Index, o.List.At.Level, o.List.Group, o.List.Pending, o.Page.Keys, want)
	}
	return nil
}

// sends holds the sends of one request against the places where it is in the log.
func (r *replay) sends(id identity, sends []*record.Op) error {
	places, unknown, answered := r.log[id], 0, 0
	for _, o := range sends {
		if o.Unknown() {
			unknown++
		}
		if !o.Answered() {
			continue
		}
		answered++
		r.counts.Answers += o.Answers()
		if err := found(o, places); err != nil {
			return err
		}
	}
	if len(places) > answered+unknown {
		return violation("each send at most once", "%s is in the log %d times (first at %d, last at %d); of %d sends %d were answered, and of %d the outcome is unknown",
			describe(sends[0]), len(places), places[0].index, places[len(places)-1].index, len(sends), answered, unknown)
	}
	return nil
}

// found looks for the place of a send in the log. There may be several in one
// entry, where it was sent again, and what stands between them may tell them apart.
func found(o *record.Op, places []*applied) error {
	var there *applied
	for _, a := range places {
		if a.index != o.Meta.Index {
			continue
		}
		if fits(o, a) {
			return nil
		}
		there = a
	}
	if there == nil {
		return violation("acknowledged is never lost", "%s answered %s at index %d, which does not hold it", o.Node, describe(o), o.Meta.Index)
	}
	return violation("answers are what happened", "%s answered %s at index %d; by the rule it is %s", o.Node, describe(o), o.Meta.Index, there)
}

// String says what the rule gives.
func (a *applied) String() string { return fmt.Sprintf("%s %+v", verdicts(a.verdicts), a.result) }

// fits tells whether an answer is what the rule gives. Over the wire a commit
// that is done is answered by its offset alone.
func fits(o *record.Op, a *applied) bool {
	if o.Act != nil {
		got := *o.Result
		return got.Code == a.result.Code && got.Index == a.result.Index && got.Done == a.result.Done && got.Next == a.result.Next &&
			got.Changed == a.result.Changed && got.Kept == a.result.Kept && slices.Equal(got.Names, a.result.Names)
	}
	return slices.EqualFunc(o.Verdicts, a.verdicts, func(got, want offset.Verdict) bool {
		if got.Code == offset.CodeOK && o.Commits != nil && got.State.Position.Index == 0 {
			return want.Code == offset.CodeOK && got.State.Exists && got.State.Position.Offset == want.State.Position.Offset
		}
		return got == want
	})
}

// order demands that who was answered before another called has the lower
// index: that of its entry for what writes, that of the state for a
// linearizable read. A state may also have the index of a configuration that
// made it forget a member. Reads wait for commands alone, so one that comes after
// such a state holds all commands up to it, at least.
func order(h *record.History) error {
	var calls, returns []*record.Op
	for _, o := range h.Ops {
		if o.Answered() && (o.Writes() || o.Level().Level == offset.Linearizable) {
			calls = append(calls, o)
		}
	}
	returns = slices.Clone(calls)
	slices.SortFunc(calls, func(a, b *record.Op) int { return cmp.Compare(a.Call, b.Call) })
	slices.SortFunc(returns, func(a, b *record.Op) int { return cmp.Compare(a.Return, b.Return) })
	var newest *record.Op
	for _, o := range calls {
		for len(returns) > 0 && returns[0].Return < o.Call {
			if newest == nil || returns[0].Meta.Index > newest.Meta.Index {
				newest = returns[0]
			}
			returns = returns[1:]
		}
		if newest == nil {
			continue
		}
		least := commandUpTo(h.Log, newest.Meta.Index)
		if o.Meta.Index < least || o.Writes() && o.Meta.Index == least {
			return violation("no stale answer", "%s answered %s at index %d, called at %v; %v before, %s had answered %s at index %d",
				o.Node, describe(o), o.Meta.Index, o.Call, (o.Call - newest.Return).Round(time.Microsecond), newest.Node, describe(newest), least)
		}
	}
	return nil
}

// commandUpTo is the index of the last command at or below one; 0 if there is none.
func commandUpTo(log []record.Entry, index uint64) uint64 {
	at, found := slices.BinarySearchFunc(log, index, func(e record.Entry, i uint64) int { return cmp.Compare(e.Index, i) })
	if found {
		at++
	}
	for at--; at >= 0; at-- {
		if log[at].Command {
			return log[at].Index
		}
	}
	return 0
}
