package main

import (
	"cmp"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// What a look may cost and keep. A page has up to offset.MaxPage rows.
const (
	// knownPages is how many pages of offsets are read at the start, so that
	// what they move by is known from the first look on; movedPages is how many
	// of what has moved each look reads.
	knownPages = 5
	movedPages = 3
	// mostKnown is how many offsets are remembered, to tell what they move by,
	// mostMovers how many groups (or queues of one) that have moved.
	mostKnown  = 500_000
	mostMovers = 100_000
)

// watch looks at a cluster again and again. Each look asks each member for its
// status, and the cluster for the offsets that are newer than the look before.
type watch struct {
	*session
	group string
	// since is the index up to which everything was seen, at when.
	since uint64
	at    time.Time
	// members is what each member said last, by id.
	members map[string]offset.Vitals
	known   map[offset.Key]int64
	rows    map[offset.Key]*movement
}

// movement is what one row has done: of a group, whose key has no topic, or a queue.
type movement struct {
	offset         int64
	moves, unknown int
	messages       int64
	acts           int
	// last is the time of the last move, by the clock of who led then.
	last int64
}

func newWatch(s *session, group string) *watch {
	return &watch{session: s, group: group, members: map[string]offset.Vitals{}, known: map[offset.Key]int64{}, rows: map[offset.Key]*movement{}}
}

// begin reads what there is, as far as it is bounded.
func (w *watch) begin() error {
	l := offset.List{What: offset.ListKeys, Group: w.group}
	for range knownPages {
		p, err := w.listPage(l)
		if err != nil {
			return err
		}
		if w.since == 0 {
			w.since = p.Meta.Index
		}
		for _, k := range p.Keys {
			w.known[k.Key] = k.Position.Offset
			w.row(&k)
		}
		if !p.More {
			break
		}
		l.After = after(p)
	}
	_, seen, err := w.ask()
	if err != nil {
		return err
	}
	w.at = time.Now()
	for _, x := range seen {
		if x.err == nil {
			w.members[x.NodeID] = x.Vitals
		}
	}
	return nil
}

// ask asks one node who there is, and all of them how they are.
func (w *watch) ask() (offset.Status, []seen, error) {
	st, err := w.statusOf("", w.timeout)
	if err != nil {
		return st, nil, err
	}
	list := w.see(&st)
	for _, x := range list {
		if x.err == nil && x.State == "leader" && x.Term >= st.Term && x.Meta.Cluster == st.Meta.Cluster {
			st = x.Status // it knows more of the others, and they are the same
		}
	}
	if len(st.Members) != len(list) {
		list = w.see(&st)
	}
	return st, list, nil
}

// look gives what has moved since the look before.
func (w *watch) look(limit int) (*topResult, error) {
	st, seen, err := w.ask()
	if err != nil {
		return nil, err
	}
	for _, m := range w.rows {
		m.moves, m.messages, m.unknown, m.acts = 0, 0, 0, 0
	}
	before := w.since
	partial, err := w.moved()
	if err != nil {
		return nil, err
	}
	now := time.Now()
	r := &topResult{
		Seconds: now.Sub(w.at).Seconds(), Leader: st.Meta.Leader, Term: st.Term, Index: w.since, Groups: st.Groups, Queues: st.Queues,
		Members: []topMember{}, Total: len(w.rows), Partial: partial,
	}
	w.at = now
	r.Entries = float64(w.since-before) / r.Seconds
	w.membersOf(r, &st, seen)
	w.rowsOf(r, clockOf(&st), limit)
	return r, nil
}

// clockOf is the time by the node that answered, since that of positions is the
// cluster's.
func clockOf(st *offset.Status) int64 {
	if st.Vitals.Clock > 0 {
		return st.Vitals.Clock
	}
	return time.Now().UnixMilli()
}

// moved reads the offsets that are newer than since, and moves that on.
func (w *watch) moved() (partial bool, err error) {
	l := offset.List{What: offset.ListKeys, Group: w.group, NewerThan: max(w.since, 1)}
	next := w.since
	for n := range movedPages {
		p, err := w.listPage(l)
		if err != nil {
			return false, err
		}
		if n == 0 {
			next = max(next, p.Meta.Index) // what the pages behind have beyond it comes again
		}
		for _, k := range p.Keys {
			if i := k.Position.Index; i > w.since && i <= next {
				w.move(&k)
			}
		}
		if partial = p.More; !partial {
			break
		}
		l.After = after(p)
	}
	w.since = next
	return partial, nil
}

// row gives the row that an offset belongs to, with what it has now.
func (w *watch) row(k *offset.KeyedState) *movement {
	key := offset.Key{Group: k.Key.Group}
	if w.group != "" {
		key = k.Key
	}
	m := w.rows[key]
	if m == nil {
		if len(w.rows) >= mostMovers {
			clear(w.rows)
		}
		m = &movement{}
		w.rows[key] = m
	}
	m.offset, m.last = k.Position.Offset, max(m.last, k.Position.Time)
	return m
}

// move notes one offset that has moved.
func (w *watch) move(k *offset.KeyedState) {
	m, p := w.row(k), &k.Position
	m.moves++
	old, has := w.known[k.Key]
	switch {
	case p.Index == k.Epoch:
		m.acts++
	case has:
		m.messages += max(p.Offset-old, 0)
	default:
		m.unknown++
	}
	if !has && len(w.known) >= mostKnown {
		clear(w.known)
	}
	w.known[k.Key] = p.Offset
}

// membersOf gives the members' part of a look.
func (w *watch) membersOf(r *topResult, st *offset.Status, list []seen) {
	base := resultOf(st)
	for i, m := range base.Members {
		x := &list[i]
		t := topMember{ID: m.ID, Role: m.Role, State: "unreachable", Lag: -1, ContactMS: m.ContactMS}
		if m.Match >= 0 {
			t.Lag = max(int64(st.LastIndex)-m.Match, 0)
		}
		if x.err == nil {
			t.State = x.State
			if old, ok := w.members[m.ID]; ok && old.DiskWrites <= x.Vitals.DiskWrites { // else it has started anew
				t.since(&old, &x.Vitals, r.Seconds)
			}
			w.members[m.ID] = x.Vitals
		}
		r.Commits += t.Commits
		r.Members = append(r.Members, t)
	}
}

// since gives rates between two looks.
func (t *topMember) since(old, now *offset.Vitals, seconds float64) {
	t.Commits = float64(now.Commits-min(old.Commits, now.Commits)) / seconds
	writes := now.DiskWrites - old.DiskWrites
	t.Writes = float64(writes) / seconds
	if writes > 0 {
		t.Mean = us(max(now.DiskTime-old.DiskTime, 0) / time.Duration(writes))
	}
}

// rowsOf gives the rows that move most, and among those that do not the youngest.
func (w *watch) rowsOf(r *topResult, now int64, limit int) {
	r.Rows = []topRow{}
	for k, m := range w.rows {
		row := topRow{Group: k.Group, Moves: float64(m.moves) / r.Seconds, Messages: float64(m.messages) / r.Seconds,
			Unknown: m.unknown, Acts: m.acts, AgeMS: max(now-m.last, 0)}
		if w.group != "" {
			row.Topic, row.Broker, row.Queue, row.Offset = k.Topic, k.Broker, &k.QueueID, m.offset
		}
		r.Rows = append(r.Rows, row)
	}
	slices.SortFunc(r.Rows, func(a, b topRow) int {
		return cmp.Or(cmp.Compare(b.Moves, a.Moves), cmp.Compare(b.Messages, a.Messages), cmp.Compare(a.AgeMS, b.AgeMS),
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Broker, b.Broker), comparePtr(a.Queue, b.Queue))
	})
	r.Rows = r.Rows[:min(limit, len(r.Rows))]
}

// comparePtr compares what two point at; nil is equal to all.
func comparePtr(a, b *int32) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(*a, *b)
}
