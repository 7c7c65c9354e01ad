package client

import (
	"context"

	"github.com/tidemark-mq/tidemark/offset"
)

// acts is what a store knows of the acts in the cluster, so that it learns of
// those on queues it does not commit: when the index of the last act has
// moved, it asks which of its queues are concerned.
type acts struct {
	// heard is the last act that an answer named, asked the one up to which
	// all queues are known to have been looked at.
	heard, asked lastAct
	// answers counts the answers; at the last tick it was ticked.
	answers, ticked uint64
	// stale: the last answer to a ping came from a node out of touch with its leader.
	stale bool
}

type lastAct struct {
	cluster offset.ClusterID
	index   uint64
}

// hear takes what an answer says.
func (a *acts) hear(m offset.Meta) {
	a.answers++
	if m.Cluster != a.heard.cluster || m.LastAct > a.heard.index {
		a.heard = lastAct{m.Cluster, m.LastAct}
	}
}

// took is hear for an answer that a queue was taken over from. If it is older
// than what was asked about before, the queue has to be asked about again.
func (a *acts) took(m offset.Meta) {
	a.hear(m)
	if m.Cluster != a.asked.cluster || m.LastAct < a.asked.index {
		a.asked = lastAct{}
	}
}

// watched is a queue that is asked about, as it was then.
type watched struct {
	mq    offset.MessageQueue
	entry *entry
	epoch uint64
}

// watch looks for acts that were missed, and tells of the queues they froze.
// It holds sending meanwhile, so that no own Set is under way.
func (s *RemoteStore) watch(ctx context.Context) error {
	if err := s.turn(ctx); err != nil {
		return err
	}
	told, err := s.notice(ctx)
	<-s.sending
	s.tell(told)
	return err
}

// notice asks which queues have missed an act, if there was any, and freezes them.
func (s *RemoteStore) notice(ctx context.Context) (told []Fence, err error) {
	list := s.watched()
	if len(list) == 0 {
		return nil, nil
	}
	if err := s.ping(ctx, list[0].mq); err != nil {
		return nil, err
	}
	s.mu.Lock()
	to, moved := s.acts.heard, s.acts.heard != s.acts.asked
	s.mu.Unlock()
	if !moved {
		return nil, nil
	}
	for len(list) > 0 {
		n := min(len(list), offset.MaxCommits)
		some, err := s.inquire(ctx, list[:n], to.index)
		if err != nil {
			return told, err
		}
		told, list = append(told, some...), list[n:]
	}
	s.mu.Lock()
	s.acts.asked = to
	s.mu.Unlock()
	return told, nil
}

// watched lists the queues that an act can concern.
func (s *RemoteStore) watched() (list []watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, e := range s.table {
		if e.read && e.fenced == nil {
			list = append(list, watched{mq, e, e.epoch})
		}
	}
	return list
}

// ping makes sure that something was heard of the cluster since the last tick.
// It costs the node that answers next to nothing; if that turns out to have
// lost touch with its leader, the next one is linearizable.
func (s *RemoteStore) ping(ctx context.Context, mq offset.MessageQueue) error {
	s.mu.Lock()
	quiet, at := s.acts.answers == s.acts.ticked, offset.ReadAt{Level: offset.Local}
	if s.acts.stale {
		at.Level = offset.Linearizable
	}
	s.mu.Unlock()
	var err error
	var meta offset.Meta
	if quiet {
		_, meta, err = s.client.Fetch(ctx, at, s.key(mq))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if quiet && err == nil {
		s.acts.hear(meta)
		s.acts.stale = meta.Age > s.set.interval
	}
	s.acts.ticked = s.acts.answers
	return err
}

// inquire reads some queues at a state that holds the act, and freezes those
// that have a newer epoch, or are in another cluster.
func (s *RemoteStore) inquire(ctx context.Context, list []watched, act uint64) (told []Fence, err error) {
	keys := make([]offset.Key, len(list))
	for i := range list {
		keys[i] = s.key(list[i].mq)
	}
	states, meta, err := s.client.Fetch(ctx, offset.ReadAt{Level: offset.AtLeast, Index: act}, keys...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts.hear(meta)
	for i, w := range list {
		e := w.entry
		if s.table[w.mq] != e || e.fenced != nil || e.epoch != w.epoch {
			continue // removed, or read again, meanwhile
		}
		if meta.Cluster != e.cluster || states[i].Epoch > e.epoch {
			told = append(told, s.fenceLocked(w.mq, e, offset.ErrFenced, states[i]))
		}
	}
	return told, nil
}
