package client

import (
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// fakeState is what a fake cluster keeps: the rule of writing, in the plainest form.
type fakeState struct {
	mu      sync.Mutex
	cluster offset.ClusterID
	index   uint64
	lastAct uint64
	keys    map[offset.Key]offset.Position
	floor   uint64
	// commits and sets count what was applied, whatever the verdict.
	commits, sets int
}

func newFakeState(id byte) *fakeState {
	return &fakeState{cluster: offset.ClusterID{id}, index: 10, keys: make(map[offset.Key]offset.Position)}
}

func (s *fakeState) stateLocked(k offset.Key) offset.KeyState {
	p, ok := s.keys[k]
	if !ok {
		return offset.KeyState{Position: offset.Position{Epoch: s.floor}, Epoch: s.floor}
	}
	return offset.KeyState{Exists: true, Position: p, Epoch: p.Epoch}
}

func (s *fakeState) meta(leader string) offset.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	return offset.Meta{Cluster: s.cluster, Index: s.index, LastAct: s.lastAct, Leader: leader}
}

func (s *fakeState) commit(c *offset.Commits) []offset.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	var out []offset.Verdict
	for _, t := range c.Topics {
		for _, q := range t.Queues {
			s.commits++
			k := offset.Key{Group: t.Group, MessageQueue: offset.MessageQueue{Topic: t.Topic, Broker: t.Broker, QueueID: q.QueueID}}
			st := s.stateLocked(k)
			if c.Cluster != s.cluster || st.Epoch != q.Epoch {
				out = append(out, offset.Verdict{Code: offset.CodeFenced, State: st})
				continue
			}
			if !st.Exists || q.Offset > st.Position.Offset {
				s.keys[k] = offset.Position{Offset: q.Offset, Index: s.index, Epoch: q.Epoch}
			}
			out = append(out, offset.Verdict{State: s.stateLocked(k)})
		}
	}
	return out
}

func (s *fakeState) set(q *offset.Set) offset.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	s.sets++
	st := s.stateLocked(q.Key)
	if q.Cluster != s.cluster || st.Epoch != q.Epoch || st.Exists != q.Exists || st.Exists && st.Position.Offset != q.Replaces {
		return offset.Verdict{Code: offset.CodeFenced, State: st}
	}
	s.keys[q.Key] = offset.Position{Offset: q.Offset, Index: s.index, Epoch: s.index}
	s.lastAct = s.index
	return offset.Verdict{State: s.stateLocked(q.Key)}
}

// reset is an operator's act on one key.
func (s *fakeState) reset(k offset.Key, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	s.lastAct = s.index
	s.keys[k] = offset.Position{Offset: to, Index: s.index, Epoch: s.index, Pending: true}
}

// remove is an operator's removal of one key.
func (s *fakeState) remove(k offset.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	s.lastAct, s.floor = s.index, s.index
	delete(s.keys, k)
}

// otherAct is an act that concerns none of the keys of the test.
func (s *fakeState) otherAct() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.index++
	s.lastAct = s.index
}

func (s *fakeState) fetch(keys []offset.Key) []offset.KeyState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []offset.KeyState
	for _, k := range keys {
		out = append(out, s.stateLocked(k))
	}
	return out
}

// at gives the offset of a key, -1 for none.
func (s *fakeState) at(k offset.Key) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.keys[k]; ok {
		return p.Offset
	}
	return -1
}

func (s *fakeState) applied() (commits, sets int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.commits, s.sets
}

// replace makes the state that of a new cluster without offsets.
func (s *fakeState) replace(id offset.ClusterID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cluster, s.index, s.lastAct, s.floor = id, 3, 0, 0
	clear(s.keys)
}

// late applies a commit that was sent long ago.
func (s *fakeState) late(k offset.Key, to int64, epoch uint64) {
	topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: to, Epoch: epoch}})
	s.commit(&offset.Commits{Cluster: s.meta("").Cluster, Topics: topics})
}
