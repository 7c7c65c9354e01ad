package client

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/conn"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Callers that ask at the same time share a request: it costs all members much
// the same whether it names one key or a hundred (docs/decisions/0021). What
// each of them is told does not depend on whom it shares with.
const (
	// maxShare is how many share one request at most, maxShareKeys how many keys
	// one that may be shared names. Together they stay far below what one request
	// may have, and what one entry takes.
	maxShare     = 256
	maxShareKeys = 8
	// leastShareMS is the least time, in milliseconds, that a node must have for a
	// request that is shared: one that is to be quick is not waited for by others.
	leastShareMS = 500
	// shareStandBacks is how often the first of them lets others come at most.
	shareStandBacks = 4
	// apartTime is for how long requests go by themselves after a shared one was
	// refused for what one of its callers asked.
	apartTime = time.Second
)

// sharing has requests of one kind share. Q is a request, A what is answered of
// each of its keys.
type sharing[Q, A any] struct {
	keys func(Q) int
	// fit tells whether a request, and one that it is to join, may share.
	fit  func(q, with Q) bool
	join func([]Q) Q
	call func(q Q, ms uint32) *tidemarkv1.Call
	read func(r *tidemarkv1.Reply, keys int) ([]A, offset.Meta, error)

	mu sync.Mutex
	// gathering is the request that others may join; nil for none.
	gathering *shared[Q, A]
	apart     time.Time
}

// shared is a request of several callers.
type shared[Q, A any] struct {
	list []Q
	keys int
	// ms is how long the node may take: as long as it may for each, so that its own
	// word on the outcome comes before the deadline of all.
	ms     uint32
	cancel context.CancelFunc
	// left counts the callers that wait no more; it belongs to sharing.mu, as do
	// list, keys and ms while others may join.
	left int
	// begun: it may have been sent.
	begun atomic.Bool
	// What follows is set before done is closed.
	done    chan struct{}
	answers []A
	meta    offset.Meta
	err     error
}

// ask sends a request once, with those of others if there are any.
func (s *sharing[Q, A]) ask(ctx context.Context, c *Client, q Q, ms uint32) ([]A, offset.Meta, error) {
	b, at, first := s.enter(q, ms)
	if b == nil {
		return s.alone(ctx, c, q, ms)
	}
	if first {
		if s.gather(b); len(b.list) == 1 {
			return s.alone(ctx, c, q, ms)
		}
		s.start(c, b)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		if !s.leave(b) {
			return nil, offset.Meta{}, &conn.Error{Sent: b.begun.Load(), Cause: ctx.Err()}
		}
	}
	switch {
	case b.err == nil:
		return b.answers[at : at+s.keys(q) : at+s.keys(q)], b.meta, nil
	case refused(b.err): // perhaps for what another caller asked
		return s.alone(ctx, c, q, ms)
	}
	return nil, offset.Meta{}, b.err
}

// refused tells of an answer that says no, and would say so again.
func refused(err error) bool {
	return !broken(err) && offset.OutcomeOf(err) != offset.Unknown && !offset.Retriable(err)
}

// enter joins the request that is being gathered, or begins one as its first.
// at is the place of the first answer. b is nil if q is to go by itself.
func (s *sharing[Q, A]) enter(q Q, ms uint32) (b *shared[Q, A], at int, first bool) {
	n := s.keys(q)
	if n > maxShareKeys || ms < leastShareMS || !s.fit(q, q) {
		return nil, 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b = s.gathering
	if b == nil || len(b.list) == maxShare || !s.fit(q, b.list[0]) {
		if !s.apart.IsZero() {
			if time.Now().Before(s.apart) {
				return nil, 0, false
			}
			s.apart = time.Time{}
		}
		b, first = &shared[Q, A]{ms: ms, done: make(chan struct{})}, true
		s.gathering = b
	}
	at = b.keys
	b.list, b.keys, b.ms = append(b.list, q), at+n, min(b.ms, ms)
	return b, at, first
}

// gather waits for others to join, until no more do. Nobody joins from then on.
func (s *sharing[Q, A]) gather(b *shared[Q, A]) {
	for seen, backs := 1, 0; backs < shareStandBacks; backs++ {
		runtime.Gosched()
		n := s.joined(b)
		if n == seen {
			break
		}
		seen = n
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gathering == b {
		s.gathering = nil
	}
}

func (s *sharing[Q, A]) joined(b *shared[Q, A]) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b.list)
}

// alone sends a request once, by itself.
func (s *sharing[Q, A]) alone(ctx context.Context, c *Client, q Q, ms uint32) (answers []A, meta offset.Meta, err error) {
	reply, addr, err := c.call(ctx, s.call(q, ms), nil)
	if err != nil {
		return nil, offset.Meta{}, err
	}
	answers, meta, err = s.read(reply, s.keys(q))
	return answers, meta, c.answered(addr, meta, err)
}

// start sends a shared request, in a goroutine that Close waits for.
func (s *sharing[Q, A]) start(c *Client, b *shared[Q, A]) {
	ctx, cancel := context.WithCancel(c.life)
	b.cancel = cancel
	if !c.beginShared() {
		cancel()
		b.err = errShut
		close(b.done)
		return
	}
	go func() {
		defer c.sharing.Done()
		defer cancel()
		b.answers, b.meta, b.err = s.send(ctx, c, b)
		if b.err != nil && refused(b.err) {
			s.mu.Lock()
			s.apart = time.Now().Add(apartTime)
			s.mu.Unlock()
		}
		close(b.done)
	}()
}

// beginShared counts a shared request under way; false once the Client is closed.
func (c *Client) beginShared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.sharing.Add(1)
	}
	return !c.closed
}

func (s *sharing[Q, A]) send(ctx context.Context, c *Client, b *shared[Q, A]) (answers []A, meta offset.Meta, err error) {
	reply, addr, err := c.call(ctx, s.call(s.join(b.list), b.ms), &b.begun)
	if err != nil {
		return nil, offset.Meta{}, err
	}
	answers, meta, err = s.read(reply, b.keys)
	return answers, meta, c.answered(addr, meta, err)
}

// leave notes that a caller waits no more. The last one ends the call, and has
// what came of it: true.
func (s *sharing[Q, A]) leave(b *shared[Q, A]) bool {
	s.mu.Lock()
	b.left++
	last := b.left == len(b.list)
	s.mu.Unlock()
	if !last {
		return false
	}
	b.cancel()
	<-b.done
	return true
}

// newCommits are commits that share, each with a verdict of its own. Those of an
// atomic set do not, nor do those whose epochs are of different clusters.
func newCommits() *sharing[*offset.Commits, offset.Verdict] {
	return &sharing[*offset.Commits, offset.Verdict]{
		keys: (*offset.Commits).Count,
		fit:  func(q, with *offset.Commits) bool { return !q.Atomic && q.Cluster == with.Cluster },
		join: func(list []*offset.Commits) *offset.Commits {
			all := &offset.Commits{Cluster: list[0].Cluster, Topics: make([]offset.TopicCommits, 0, len(list))}
			for _, q := range list {
				all.Topics = append(all.Topics, q.Topics...)
			}
			return all
		},
		call: wire.ToCommitCall,
		read: func(r *tidemarkv1.Reply, keys int) ([]offset.Verdict, offset.Meta, error) {
			return wire.FromCommitResponse(r.GetCommit(), keys)
		},
	}
}

// newFetches are linearizable reads that share.
func newFetches() *sharing[*offset.Fetch, offset.KeyState] {
	return &sharing[*offset.Fetch, offset.KeyState]{
		keys: func(q *offset.Fetch) int { return len(q.Keys) },
		fit:  func(q, _ *offset.Fetch) bool { return q.At == offset.ReadAt{} },
		join: func(list []*offset.Fetch) *offset.Fetch {
			all := &offset.Fetch{Keys: make([]offset.Key, 0, len(list))}
			for _, q := range list {
				all.Keys = append(all.Keys, q.Keys...)
			}
			return all
		},
		call: wire.ToFetchCall,
		read: func(r *tidemarkv1.Reply, keys int) ([]offset.KeyState, offset.Meta, error) {
			return wire.FromFetchResponse(r.GetFetch(), keys)
		},
	}
}
