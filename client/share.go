package client

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
	"github.com/tidemark-mq/tidemark/transport/conn"
	"github.com/tidemark-mq/tidemark/transport/wire"
)

// Callers that ask at the same time share a request: it costs all members much
// the same whether it names one key or a hundred (docs/decisions/0021). What
// each of them gets does not depend on which others it shares with.
const (
	// maxShareKeys is how many keys a request names that may be shared, and
	// maxSharedKeys how many a shared one does: with the longest names they stay
	// below what a request may have.
	maxShareKeys  = 8
	maxSharedKeys = 512
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
	// fit reports whether a request, and one that it is to join, may share.
	fit  func(q, with Q) bool
	join func([]Q) Q
	call func(q Q, ms uint32) *tidemarkv1.Call
	read func(r *tidemarkv1.Reply, keys int) ([]A, offset.Meta, error)

	clock Clock

	mu sync.Mutex
	// gathering is the request that others may join; nil for none.
	gathering *shared[Q, A]
	// apart is until when requests go by themselves; zero: they need not.
	apart time.Time
}

// shared is a request of several callers.
type shared[Q, A any] struct {
	// The first fields belong to sharing.mu. Nobody sits down once it is gathered,
	// and a caller that leaves before it has begun is not in it.
	seats []*seat[Q]
	keys  int
	left  int
	begun bool
	// ms is how long the node may take: as long as it may for each, so that its own
	// word on the outcome comes before the deadline of all. most is the time of the
	// most patient.
	ms, most uint32
	cancel   context.CancelFunc
	// What follows is set before done is closed.
	done    chan struct{}
	answers []A
	meta    offset.Meta
	err     error
}

// seat is one caller's place in a shared request.
type seat[Q any] struct {
	q    Q
	gone bool
	// at is the place of its first answer, known once the request has begun.
	at int
}

// ask sends a request once, with those of others if there are any.
func (s *sharing[Q, A]) ask(ctx context.Context, c *Client, q Q, ms uint32) ([]A, offset.Meta, error) {
	b, own, first := s.enter(q, ms)
	if b == nil {
		return s.alone(ctx, c, q, ms)
	}
	if first {
		if s.gather(b) == 1 {
			return s.alone(ctx, c, q, ms)
		}
		s.start(c, b)
	}
	select {
	case <-b.done:
	case <-ctx.Done():
		if err := s.leave(ctx, b, own); err != nil {
			return nil, offset.Meta{}, err
		}
	}
	switch {
	case b.err == nil:
		return s.answersOf(b, own), b.meta, nil
	case refused(b.err): // perhaps for what another caller asked
		if ctx.Err() != nil {
			return nil, offset.Meta{}, &conn.Error{Sent: true, Cause: ctx.Err()}
		}
		return s.alone(ctx, c, q, c.patience(ctx, false))
	}
	return nil, offset.Meta{}, b.err
}

// answersOf are the answers to one caller of a shared request.
func (s *sharing[Q, A]) answersOf(b *shared[Q, A], own *seat[Q]) []A {
	at := own.at
	if planted.Is(planted.SharedAnswersMixed) {
		at = 0
	}
	return slices.Clone(b.answers[at : at+s.keys(own.q)])
}

// refused reports whether an error is an answer that says no, and would say so again.
func refused(err error) bool {
	return !broken(err) && offset.OutcomeOf(err) != offset.Unknown && !offset.Retriable(err) && !errors.Is(err, offset.ErrClosed)
}

// enter joins the request that is being gathered, or begins one as its first.
// b is nil if q is to go by itself.
func (s *sharing[Q, A]) enter(q Q, ms uint32) (b *shared[Q, A], own *seat[Q], first bool) {
	n := s.keys(q)
	if n > maxShareKeys || ms < leastShareMS || !s.fit(q, q) {
		return nil, nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if b = s.gathering; b == nil || !s.takes(b, q, ms) {
		if s.apartLocked() {
			return nil, nil, false
		}
		first = true
		b = &shared[Q, A]{ms: ms, most: ms, done: make(chan struct{})}
		s.gathering = b
	}
	own = &seat[Q]{q: q}
	b.seats, b.keys, b.ms, b.most = append(b.seats, own), b.keys+n, min(b.ms, ms), max(b.most, ms)
	return b, own, first
}

// takes reports whether a request has room for another one, whose caller is about
// as patient as the others are: the hurried must not make them fail.
func (s *sharing[Q, A]) takes(b *shared[Q, A], q Q, ms uint32) bool {
	return b.keys+s.keys(q) <= maxSharedKeys && s.fit(q, b.seats[0].q) && ms >= b.most/4*3 && ms <= b.ms/4*5
}

// apartLocked reports whether requests go by themselves now.
func (s *sharing[Q, A]) apartLocked() bool {
	if s.apart.IsZero() {
		return false
	}
	if s.clock.Now().Before(s.apart) {
		return true
	}
	s.apart = time.Time{}
	return false
}

// gather waits for others to join, until no more do, and reports how many are
// there. Nobody joins from then on.
func (s *sharing[Q, A]) gather(b *shared[Q, A]) int {
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
	return len(b.seats)
}

func (s *sharing[Q, A]) joined(b *shared[Q, A]) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b.seats)
}

// alone sends a request once, by itself.
func (s *sharing[Q, A]) alone(ctx context.Context, c *Client, q Q, ms uint32) ([]A, offset.Meta, error) {
	return s.send(ctx, c, c.link, func() (*tidemarkv1.Call, int) { return s.call(q, ms), s.keys(q) })
}

// send sends one request once, over the connection that link gives; request makes
// it, just before it is sent.
func (s *sharing[Q, A]) send(ctx context.Context, c *Client, link linking, request func() (*tidemarkv1.Call, int)) (answers []A, meta offset.Meta, err error) {
	keys := 0
	reply, addr, err := c.call(ctx, link, func() (m *tidemarkv1.Call) {
		m, keys = request()
		return m
	})
	if err != nil {
		return nil, offset.Meta{}, err
	}
	answers, meta, err = s.read(reply, keys)
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
		defer c.background.Done()
		defer cancel()
		b.answers, b.meta, b.err = s.send(ctx, c, c.linkNow, func() (*tidemarkv1.Call, int) { return s.begin(b) })
		if b.err != nil && refused(b.err) {
			s.goApart()
		}
		close(b.done)
	}()
}

// beginShared counts a shared request under way; false once the Client is closed.
func (c *Client) beginShared() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.background.Add(1)
	}
	return !c.closed
}

// begin makes the request of those who are there still; nil if nobody is. From
// now on it may be sent.
func (s *sharing[Q, A]) begin(b *shared[Q, A]) (*tidemarkv1.Call, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, keys := make([]Q, 0, len(b.seats)), 0
	for _, own := range b.seats {
		if !own.gone {
			own.at = keys
			list, keys = append(list, own.q), keys+s.keys(own.q)
		}
	}
	if len(list) == 0 {
		return nil, 0
	}
	b.begun = true
	return s.call(s.join(list), b.ms), keys
}

func (s *sharing[Q, A]) goApart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.apart = s.clock.Now().Add(apartTime)
}

// leave ends the wait of a caller whose context has ended. Before the request has
// begun it takes what the caller asked out of it. The last one to leave ends the
// call; nil means that what came of it is there.
func (s *sharing[Q, A]) leave(ctx context.Context, b *shared[Q, A], own *seat[Q]) error {
	s.mu.Lock()
	own.gone = true
	b.left++
	last, begun := b.left == len(b.seats), b.begun
	s.mu.Unlock()
	if last {
		if b.cancel(); begun {
			<-b.done
		}
	}
	select {
	case <-b.done:
		if begun {
			return nil
		}
	default:
	}
	return &conn.Error{Sent: begun, Cause: ctx.Err()}
}

// newCommits are commits that share, each with a verdict of its own. Those of an
// atomic set do not, nor do those whose epochs are of different clusters.
func newCommits(clock Clock) *sharing[*offset.Commits, offset.Verdict] {
	return &sharing[*offset.Commits, offset.Verdict]{
		clock: clock,
		keys:  (*offset.Commits).Count,
		fit:   func(q, with *offset.Commits) bool { return !q.Atomic && q.Cluster == with.Cluster },
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
func newFetches(clock Clock) *sharing[*offset.Fetch, offset.KeyState] {
	return &sharing[*offset.Fetch, offset.KeyState]{
		clock: clock,
		keys:  func(q *offset.Fetch) int { return len(q.Keys) },
		fit:   func(q, _ *offset.Fetch) bool { return q.At == offset.ReadAt{} },
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
