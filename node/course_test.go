package node

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// Whatever order the points come in, the stages add up to the whole.
func TestStagesOfACourse(t *testing.T) {
	start := time.Now()
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	ms := func(list ...int) (s offset.Stages) {
		for i, to := range []*time.Duration{&s.Queue, &s.Log, &s.Quorum, &s.Handover, &s.Apply} {
			*to = time.Duration(list[i]) * time.Millisecond
		}
		return s
	}
	for name, c := range map[string]struct {
		// came is 0; the others in the order of the way.
		proposed, stored, quorum, taken, free, answered int
		want                                            offset.Stages
	}{
		"one after another":                      {1, 3, 7, 7, 5, 8, ms(1, 2, 4, 0, 1)},
		"raft's loop is busy":                    {1, 3, 7, 10, 5, 11, ms(1, 2, 4, 3, 1)},
		"the state machine is busy":              {1, 3, 7, 10, 10, 11, ms(1, 2, 4, 0, 4)},
		"both, one behind the other":             {1, 3, 7, 10, 9, 11, ms(1, 2, 4, 1, 3)},
		"a member alone":                         {1, 3, 3, 4, 0, 5, ms(1, 2, 0, 1, 1)},
		"followers were faster than the leader":  {1, 9, 5, 9, 0, 10, ms(1, 8, 0, 0, 1)},
		"the state machine was free at any time": {1, 3, 7, 9, -50, 9, ms(1, 2, 4, 2, 0)},
	} {
		got := course{at(0), at(c.proposed), at(c.stored), at(c.quorum), at(c.taken), at(c.free), at(c.answered)}.stages()
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if got.Total() != at(c.answered).Sub(at(0)) {
			t.Errorf("%s: the stages add up to %v of %d ms", name, got.Total(), c.answered)
		}
	}
}

func TestMarksRememberTheNewest(t *testing.T) {
	var m marks
	if _, ok := m.of(7); ok {
		t.Error("an entry is known that was never noted")
	}
	first := time.Now()
	m.note(5, 7, first)
	m.note(8, 8, first.Add(time.Second))
	for index, want := range map[uint64]time.Time{5: first, 7: first, 8: first.Add(time.Second)} {
		if at, ok := m.of(index); !ok || !at.Equal(want) {
			t.Errorf("entry %d: %v, %v, want %v", index, at, ok, want)
		}
	}
	m.note(100, 1000, first)
	for index, want := range map[uint64]bool{8: false, 1000 - keptMarks: false, 1001 - keptMarks: true, 1000: true, 1001: false} {
		if _, ok := m.of(index); ok != want {
			t.Errorf("entry %d is known: %v, want %v", index, ok, want)
		}
	}
}

// A quorum holds an entry once as many voters do; nonvoters, and what was
// acknowledged in an earlier term, do not count.
func TestWhenAQuorumHeldAnEntry(t *testing.T) {
	own := time.Now()
	servers := []raft.Server{{ID: "self"}, {ID: "a"}, {ID: "b"}, {ID: "watcher", Suffrage: raft.Nonvoter}}
	a := newAcks()
	held := func() (time.Time, bool) { return a.held("self", servers, 7, own) }
	if _, ok := held(); ok {
		t.Error("one of three is said to be a quorum")
	}
	answer := func(id raft.ServerID, term, index uint64) {
		req := &raft.AppendEntriesRequest{Term: term, PrevLogEntry: index}
		a.answered(id, own, req, &raft.AppendEntriesResponse{Term: term, Success: true})
	}
	answer("watcher", 2, 9)
	answer("a", 1, 7)
	answer("a", 2, 6)
	if _, ok := held(); ok {
		t.Error("a nonvoter, or one of an earlier term, is counted")
	}
	answer("b", 2, 6)
	answer("b", 2, 8)
	at, ok := held()
	if !ok || at.Before(own) {
		t.Errorf("two of three: %v, %v", at, ok)
	}
	answer("a", 2, 7)
	if later, ok := held(); !ok || !later.Equal(at) {
		t.Errorf("the third has moved it from %v to %v", at, later)
	}
	if at, ok := a.held("self", servers[:1], 7, own); !ok || !at.Equal(own) {
		t.Errorf("a member alone: %v, %v, want %v", at, ok, own)
	}
}
