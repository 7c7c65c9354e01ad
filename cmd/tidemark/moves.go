package main

import (
	"cmp"
	"fmt"

	"github.com/tidemark-mq/tidemark/offset"
)

// move is what becomes of one queue.
type move struct {
	Topic  string `json:"topic"`
	Broker string `json:"broker"`
	Queue  int32  `json:"queue"`
	// Before is nil where there is no offset.
	Before *int64 `json:"before,string"`
	After  int64  `json:"after,string"`
	// Difference is how far it moves; nil where there was no offset.
	Difference *int64 `json:"difference,string"`
	Note       string `json:"note,omitempty"`
	// Outcome is "moved" or "left alone"; empty where nothing was done.
	Outcome string `json:"outcome,omitempty"`
}

// moveOf is the move of a key to an offset.
func moveOf(st offset.KeyedState, to int64, note string) move {
	m := move{Topic: st.Key.Topic, Broker: st.Key.Broker, Queue: st.Key.QueueID, After: to, Note: note}
	if st.Exists {
		before, difference := st.Position.Offset, to-st.Position.Offset
		m.Before, m.Difference = &before, &difference
	}
	return m
}

// movesResult is what an act on many queues of a group did or would do.
type movesResult struct {
	Group string `json:"group"`
	What  string `json:"what"`
	// Index is that of the state that was read before.
	Index uint64 `json:"index,string"`
	// Queues counts those that are moved; Keys lists the first of them.
	Queues   int    `json:"queues"`
	Keys     []move `json:"keys"`
	Executed bool   `json:"executed"`
	// Of an act that was done: its id, the index of its entry, how many queues
	// it moved, and how many it left alone since another act moved them meanwhile.
	ActID     string `json:"actId,omitempty"`
	ActIndex  uint64 `json:"actIndex,string,omitempty"`
	Moved     uint64 `json:"moved,string"`
	LeftAlone uint64 `json:"leftAlone,string"`

	// verb is what is done to queues, in the past tense; empty: "moved".
	verb string
}

func (r *movesResult) table(t *table) {
	t.line("group %s, %s, as of index %d", shown(r.Group), r.What, r.Index)
	t.row("TOPIC", "BROKER", "QUEUE", "BEFORE", "AFTER", "DIFFERENCE", "")
	for i := range r.Keys {
		m := &r.Keys[i]
		before, difference := "-", "new"
		if m.Before != nil {
			before, difference = num(*m.Before), fmt.Sprintf("%+d", *m.Difference)
		}
		t.row(shown(m.Topic), shown(m.Broker), num(m.Queue), before, num(m.After), difference, m.remark())
	}
	if more := r.Queues - len(r.Keys); more > 0 {
		t.line("and %d more", more)
	}
	verb := cmp.Or(r.verb, moved)
	if r.Executed {
		t.line("%s %d of %s at index %d by act %s", verb, r.Moved, plural(r.Queues, "queue", "queues"), r.ActIndex, r.ActID)
		return
	}
	t.line("%s would be %s; nothing was done yet, add --execute, and --expect-index %d to do it only if none of this moves before", plural(r.Queues, "queue", "queues"), verb, r.Index)
}

// remark is what the table says of a queue beside the numbers.
func (m *move) remark() string {
	if m.Outcome == leftAlone {
		return "LEFT ALONE: another act came first"
	}
	return m.Note
}

// The outcomes of a move.
const (
	moved     = "moved"
	leftAlone = "left alone"
)

// done notes the answer to the act.
func (r *movesResult) done(id offset.ActID, res offset.ActResult) {
	r.Executed, r.ActID, r.ActIndex, r.Moved, r.LeftAlone = true, id.String(), res.Index, res.Changed, res.Kept
}

// moves moves queues of one group by one act: shows what it would do, or does it.
type moves struct {
	acting
	group string
	what  string
	// states are the keys as they are, at index in cluster; targets what they
	// become, in the same order, and notes what there is to say of some.
	states  []offset.KeyedState
	meta    offset.Meta
	targets []offset.Target
	notes   map[offset.Key]string
}

// move shows the moves, and with --execute does them.
func (s *session) move(m *moves) error {
	a := offset.Act{ID: newID(), Base: m.meta.Index, Cluster: m.meta.Cluster, Reset: &offset.Reset{Targets: m.targets}}
	if err := a.Validate(); err != nil {
		return err
	}
	if err := m.expect(m.meta.Index, m.states); err != nil {
		return err
	}
	if err := s.expectNoneGone(m.acting, m.group, topicsOf(m.states)); err != nil {
		return err
	}
	r := &movesResult{Group: m.group, What: m.what, Index: m.meta.Index, Queues: len(m.targets), Keys: []move{}}
	for i, st := range m.states {
		r.Keys = append(r.Keys, moveOf(st, m.targets[i].Offset, m.notes[st.Key]))
	}
	if !m.Execute {
		return s.print(r)
	}
	res, err := s.actOn(a)
	if err != nil {
		return narrower(err, "move fewer queues at a time, with --topic, --broker or --queue")
	}
	r.done(a.ID, res)
	if err := s.outcomes(r, m.states, res); err != nil {
		return err
	}
	return s.printPartial(r, res.Kept)
}

// outcomes notes of each key whether the act moved it. An answer names only the
// first that it left alone; of more, the epochs tell.
func (s *session) outcomes(r *movesResult, states []offset.KeyedState, res offset.ActResult) error {
	left := make(map[offset.Key]bool, len(res.Names))
	for _, k := range res.Names {
		left[k] = true
	}
	if uint64(len(left)) < res.Kept {
		keys := make([]offset.Key, len(states))
		for i := range states {
			keys[i] = states[i].Key
		}
		now, _, err := s.fetchAll(keys...)
		if err != nil {
			return fmt.Errorf("the act is done; reading which %d queues it left alone: %w", res.Kept, err)
		}
		for i, st := range now {
			left[keys[i]] = left[keys[i]] || st.Position.Epoch != res.Index
		}
	}
	for i := range r.Keys {
		r.Keys[i].Outcome = moved
		if left[states[i].Key] {
			r.Keys[i].Outcome = leftAlone
		}
	}
	return nil
}

// printPartial prints a result; exit code 6 if some of it was left alone.
func (s *session) printPartial(r result, kept uint64) error {
	if err := s.print(r); err != nil {
		return err
	}
	if kept > 0 {
		return exitf(exitPartial, "%s left alone, since another act came first; look at the group again", plural(kept, "queue was", "queues were"))
	}
	return nil
}

// fetchAll reads keys linearizably, all from one root.
func (s *session) fetchAll(keys ...offset.Key) ([]offset.KeyState, offset.Meta, error) {
	ctx, cancel := s.call()
	defer cancel()
	return s.Fetch(ctx, offset.ReadAt{}, keys...)
}

// movesTo are the moves of keys to explicit offsets, whether they exist or not.
func (s *session) movesTo(group, what string, targets []offset.Target) (*moves, error) {
	if len(targets) > offset.MaxCommits {
		return nil, errTooMany(group)
	}
	keys := make([]offset.Key, len(targets))
	for i := range targets {
		keys[i] = targets[i].Key
	}
	states, meta, err := s.fetchAll(keys...)
	if err != nil {
		return nil, err
	}
	m := &moves{group: group, what: what, meta: meta, targets: targets}
	for i, st := range states {
		m.states = append(m.states, offset.KeyedState{Key: keys[i], KeyState: st})
	}
	return m, nil
}
