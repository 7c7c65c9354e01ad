package client

import (
	"cmp"
	"context"
	"slices"

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
	// unseen is the entry's.
	unseen uint64
}

// watch looks for acts that were missed, and reports the queues they froze;
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
// The error is that of queues that were not looked at; the others were.
func (s *RemoteStore) notice(ctx context.Context, since uint64) ([]Fence, error) {
	if err := s.ping(ctx, since); err != nil {
		return nil, err
	}
	list, act := s.concerned()
	q := inquiry{s: s, act: act}
	h := halving[watched]{
		send:    func(list []watched) error { return q.ask(ctx, list) },
		refusal: func(w watched) uint64 { return w.unseen },
		cut:     between,
		refused: s.refusedToRead,
		blame: func(_ []watched, err error) {
			if q.denied == nil {
				q.denied = err
			}
		},
		left: maxHalved,
	}
	for len(list) > 0 && q.lost == nil {
		n := s.askable(list)
		h.all(ctx, list[:n])
		list = list[n:]
	}
	if q.lost == nil {
		return q.told, q.denied
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts.asked = lastAct{} // it has to be asked again
	return q.told, q.lost
}

// ping makes sure that something was heard of the cluster in this run of the
// loop: by a linearizable read of one queue, since a local one could miss an act
// that was answered before, at a node that is behind. A queue that may not be read
// is asked about with the others of its kind, and another one is read.
func (s *RemoteStore) ping(ctx context.Context, since uint64) error {
	s.mu.Lock()
	heard := s.acts.answers != since
	s.mu.Unlock()
	if heard {
		return nil
	}
	for range maxHalved {
		mq, ok := s.anyRead()
		if !ok {
			break
		}
		_, meta, err := s.client.Fetch(ctx, offset.ReadAt{}, s.key(mq))
		switch {
		case err == nil:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.acts.hear(meta)
			return nil
		case !refused(err):
			return err
		}
		s.refusedToRead(s.alike(mq))
	}
	return nil
}

// anyRead gives some queue that an act can concern, and that may be read.
func (s *RemoteStore) anyRead() (offset.MessageQueue, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for mq, e := range s.table {
		if e.live() && e.unseen == 0 {
			return mq, true
		}
	}
	return offset.MessageQueue{}, false
}

// alike lists the queues that may be read if this one may, and only then.
func (s *RemoteStore) alike(mq offset.MessageQueue) (list []watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for o, e := range s.table {
		if e.live() && readAlike(o, mq) {
			list = append(list, watched{mq: o, entry: e})
		}
	}
	return list
}

// readAlike reports whether a policy that lets one of two queues be read does so with
// the other: it goes by the names of topics and brokers.
func readAlike(a, b offset.MessageQueue) bool { return a.Topic == b.Topic && a.Broker == b.Broker }

// between says where to halve a list that is in the order of the queues: near its
// middle, between queues of which one may be read and the other not. 0: nowhere.
func between(list []watched) int {
	half := len(list) / 2
	for d := range half + 1 {
		for _, at := range []int{half - d, half + d} {
			if at > 0 && at < len(list) && !readAlike(list[at-1].mq, list[at].mq) {
				return at
			}
		}
	}
	return 0
}

// refusedToRead notes queues of which the cluster refused to say anything. They are
// asked about apart from the others from then on, in each run, until it answers.
func (s *RemoteStore) refusedToRead(list []watched) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusals++
	for _, w := range list {
		w.entry.unseen = s.refusals
	}
}

// concerned lists the queues that an act can concern, if there was one since
// it was asked last, and notes them as asked: a queue taken over from now on
// is looked at by took. Those that were refused come last, in the order of that.
func (s *RemoteStore) concerned() (list []watched, act uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	news := s.acts.heard != s.acts.asked
	s.acts.asked = s.acts.heard
	for mq, e := range s.table {
		if e.live() && (news || e.unseen != 0) {
			list = append(list, watched{mq, e, e.epoch, e.unseen})
		}
	}
	slices.SortFunc(list, func(a, b watched) int {
		return cmp.Or(cmp.Compare(a.unseen, b.unseen), s.key(a.mq).Compare(s.key(b.mq)))
	})
	return list, s.acts.heard.index
}

// askable reports how many of a list one request can ask about: it names each
// key in full. Those that were refused are not asked about with others.
func (s *RemoteStore) askable(list []watched) int {
	bytes := 0
	for i, w := range list {
		bytes += len(s.group) + len(w.mq.Topic) + len(w.mq.Broker) + 24
		full := i == offset.MaxCommits || bytes > offset.MaxMessage/2
		if i > 0 && (full || (w.unseen == 0) != (list[0].unseen == 0)) {
			return i
		}
	}
	return len(list)
}

// inquiry is the questions of one run, and what came of them.
type inquiry struct {
	s *RemoteStore
	// act is what the answers must hold.
	act  uint64
	told []Fence
	// lost is why a question has no answer, denied why one was refused.
	lost, denied error
}

// ask reads some queues at a state that holds the act, and freezes those that have a
// newer epoch, or are in another cluster. The error is that of a refusal. After a
// question that has no answer none is asked.
func (q *inquiry) ask(ctx context.Context, list []watched) error {
	if q.lost != nil {
		return nil
	}
	s := q.s
	keys := make([]offset.Key, len(list))
	for i := range list {
		keys[i] = s.key(list[i].mq)
	}
	states, meta, err := s.client.Fetch(ctx, offset.ReadAt{Level: offset.AtLeast, Index: q.act}, keys...)
	if err != nil && !refused(err) {
		q.lost = err
		return nil
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.acts.hear(meta)
	for i, w := range list {
		e := w.entry
		if s.table[w.mq] != e || e.fenced != nil || e.epoch != w.epoch {
			continue // removed, or read again, meanwhile
		}
		e.unseen = 0
		if meta.Cluster != e.cluster || states[i].Epoch > e.epoch {
			q.told = append(q.told, s.fenceLocked(w.mq, e, offset.ErrFenced, states[i]))
		}
	}
	return nil
}
