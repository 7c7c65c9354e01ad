package node

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// A leader that has been replaced has so long to say that it no longer leads;
// then what it was sent is unknown.
const (
	// lastWord is for what may be sent again at no cost.
	lastWord = 100 * time.Millisecond
	// lastWordOnMembers is for transfers and changes of the members, which carry
	// no id, and some of which replace the leader on purpose.
	lastWordOnMembers = time.Second
)

// leader returns the calls on the member that leads as far as raft here knows.
// The error wraps offset.ErrNoLeader, or ErrNotLeader where that is this member.
func (r *replica) leader() (*peer.Remote, error) {
	addr, id := r.raft.LeaderWithID()
	switch id {
	case "":
		return nil, offset.Errorf(offset.ErrNoLeader, "no leader is known here")
	case raft.ServerID(r.id):
		return nil, offset.Errorf(offset.ErrNotLeader, "leadership is changing")
	}
	return r.peer.To(string(id), string(addr)), nil
}

// atLeader has a request done by whoever leads: here, or one hop away. While
// nobody leads, or the one asked does not, it waits within the deadline, or
// until this member has found that it is cut off.
// Nothing else is tried again: a forward that was sent and not answered is
// unknown; word is how long a replaced leader's answer is waited for.
func atLeader[T any](ctx context.Context, n *Node, word time.Duration, here func(context.Context, *replica) (T, error), there func(context.Context, *peer.Remote) (T, error)) (T, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var none T
	began := time.Now()
	for {
		r, err := n.serving()
		if err != nil {
			return none, err
		}
		news := r.lead.news()
		v, err := once(ctx, r, word, here, there)
		if !undone(err) {
			return v, err
		}
		if r.cutOff(began) {
			return none, errCutOff
		}
		if !waitNews(ctx, news) {
			return none, noLeader(err)
		}
	}
}

// errCutOff answers callers once cutOff is true.
var errCutOff = offset.Errorf(offset.ErrNoLeader, "this member knows no leader, and too few of the others answer it for one to be elected here; ask another member, and look at the links between them")

// cutOff reports whether a request that came at began waits here in vain: for two
// election timeouts no leader has been known, and too few voters have answered
// this member for it to be elected. The caller may have other members to ask. While
// votes are answered, an election is under way.
func (r *replica) cutOff(began time.Time) bool {
	patience := 2 * r.config.Timers.Election
	if time.Since(began) < patience {
		return false
	}
	_, leader := r.raft.LeaderWithID()
	return leader == "" && !r.acks.inTouch(raft.ServerID(r.id), r.servers(), time.Now().Add(-patience))
}

func once[T any](ctx context.Context, r *replica, word time.Duration, here func(context.Context, *replica) (T, error), there func(context.Context, *peer.Remote) (T, error)) (T, error) {
	if r.lead.leads() {
		return here(ctx, r)
	}
	to, err := r.leader()
	if err != nil {
		var none T
		return none, err
	}
	r.counts.forwarded.Add(1)
	ctx, done := r.whileLeads(ctx, to.ID(), word)
	defer done()
	v, err := there(ctx, to)
	if word == lastWord {
		err = resendable(err)
	}
	return v, err
}

// undone reports whether the same request may be sent again as if for the first
// time: it has reached no leader.
func undone(err error) bool {
	if planted.Is(planted.ForwardTwice) && errors.Is(err, offset.ErrOutcomeUnknown) {
		return true
	}
	return errors.Is(err, offset.ErrNotLeader) || errors.Is(err, offset.ErrNoLeader) || errors.Is(err, offset.ErrUnreachable)
}

// onlyHere is for requests that another member has forwarded.
func onlyHere[T any](ctx context.Context, n *Node, here func(context.Context, *replica) (T, error)) (T, error) {
	ctx, cancel := n.bounded(ctx)
	defer cancel()
	var none T
	r, err := n.serving()
	if err != nil {
		return none, err
	}
	if !r.lead.leads() {
		return none, &offset.Error{Err: offset.ErrNotLeader, Leader: n.Leader()}
	}
	return here(ctx, r)
}
