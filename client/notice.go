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
	// answers counts the answers that were heard.
	answers uint64
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

// watch looks for acts that were missed, and tells of the queues they froze;
// since is how many answers there were when this run of the loop began. It
// holds sending meanwhile, so that no own Set is under way.
func (s *RemoteStore) watch(ctx context.Context, since uint64) error {
	if err := s.turn(ctx); err != nil {
		return err
	}
	told, err := s.notice(ctx, since)
	<-s.sending
	s.tell(told)
	return err
}

// notice asks which queues have missed an act, if there was any, and freezes them.
func (s *RemoteStore) notice(ctx context.Context, since uint64) (told []Fence, err error) {
	mq, ok := s.anyRead()
	if !ok {
		return nil, nil
	}
	if err := s.ping(ctx, mq, since); err != nil {
		return nil, err
	}
	list, act := s.concerned()
	for len(list) > 0 {
		n := s.askable(list)
		some, err := s.inquire(ctx, list[:n], act)
		if err != nil {
			s.mu.Lock()
			s.acts.asked = lastAct{} // it has to be asked again
			s.mu.Unlock()
			return told, err
		}
		told, list = append(told, some...), list[n:]
	}
	return told, nil
}

// anyRead gives some queue that an act can concern.
func (s *RemoteStore) anyRead() (offset.MessageQueue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, e := range s.table {
		if e.read && e.fenced == nil {
			return mq, true
		}
	}
	return offset.MessageQueue{}, false
}

// concerned lists the queues that an act can concern, if there was one since
// it was asked last, and notes them as asked: a queue taken over from now on
// is looked at by took.
func (s *RemoteStore) concerned() (list []watched, act uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.acts.heard == s.acts.asked {
		return nil, 0
	}
	s.acts.asked = s.acts.heard
	for mq, e := range s.table {
		if e.read && e.fenced == nil {
			list = append(list, watched{mq, e, e.epoch})
		}
	}
	return list, s.acts.heard.index
}

// ping makes sure that something was heard of the cluster in this run of the
// loop: by a linearizable read of one queue, since a local one could miss an act
// that was answered before, at a node that is behind.
func (s *RemoteStore) ping(ctx context.Context, mq offset.MessageQueue, since uint64) error {
	s.mu.Lock()
	heard := s.acts.answers != since
	s.mu.Unlock()
	if heard {
		return nil
	}
	_, meta, err := s.client.Fetch(ctx, offset.ReadAt{}, s.key(mq))
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts.hear(meta)
	return nil
}

// askable tells how many of a list one request can ask about: it names each
// key in full.
func (s *RemoteStore) askable(list []watched) int {
	bytes := 0
	for i, w := range list {
		bytes += len(s.group) + len(w.mq.Topic) + len(w.mq.Broker) + 24
		if i > 0 && (i == offset.MaxCommits || bytes > offset.MaxMessage/2) {
			return i
		}
	}
	return len(list)
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
