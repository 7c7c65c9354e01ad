package table

import (
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// Set applies one compare-and-set; what it changed is added to ch, which may be
// nil. CodeFenced: nothing changed.
func (t *Table) Set(s *offset.Set, ch *Changes) offset.Verdict {
	t.busy = true
	r := &t.hand
	defer r.close()
	st := t.state(r, &s.Key)
	if s.Cluster != t.cluster || !replaces(s, &st) {
		return offset.Verdict{Code: offset.CodeFenced, State: st}
	}
	pending := s.Operator || st.Position.Pending
	if pending != st.Position.Pending {
		t.mirror(&s.Key, pending)
	}
	epoch := t.index
	if planted.Is(planted.SetKeepsEpoch) {
		epoch = st.Position.Epoch
	}
	r.store(pack(fields{offset: s.Offset, index: t.index, epoch: epoch, time: t.time, id: s.Key.QueueID, pending: pending}))
	if !planted.Is(planted.ActUnheard) {
		t.lastAct = t.index
	}
	t.note(ch, r, &s.Key, st)
	return offset.Verdict{Code: offset.CodeOK, State: t.state(r, &s.Key)}
}

// replaces reports whether the position is the one that the Set is to replace. A
// consumer compares what a commit must carry; an operator the key's own epoch.
func replaces(s *offset.Set, st *offset.KeyState) bool {
	epoch := st.Epoch
	if s.Operator {
		epoch = st.Position.Epoch
		if s.Claim > 0 && st.Claim > s.Claim {
			return false
		}
	}
	return s.Epoch == epoch && s.Exists == st.Exists && (!s.Exists || s.Replaces == st.Position.Offset)
}
