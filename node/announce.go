package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// announce has the state name this member's API address and the levels that it
// reads, until ctx is done: by an entry, through whoever leads, whenever the
// state says otherwise.
func (r *replica) announce(ctx context.Context) {
	const soon, late = 50 * time.Millisecond, 10 * time.Second
	mine := offset.Member{ID: r.id, API: r.config.AdvertiseAPI, MaxLevel: offset.FormatLevel}
	for next := soon; ctx.Err() == nil; {
		wait := time.Second
		if slices.Contains(r.machine.Root().Members(), mine) {
			next = soon
		} else if r.listed(r.id) {
			wait = soon
			if r.tryAnnounce(ctx, mine) { // each is an entry in the log
				wait, next = next, min(2*next, late)
			}
		}
		pause(ctx, wait)
	}
}

// tryAnnounce reports whether it may have led to an entry: not while nobody leads,
// or the leader cannot be reached.
func (r *replica) tryAnnounce(ctx context.Context, m offset.Member) bool {
	ctx, cancel := context.WithTimeout(ctx, 2*r.config.Timers.Election)
	defer cancel()
	if r.lead.leads() {
		_, err := r.proposer.propose(ctx, entry.Request{Member: &m})
		return !errors.Is(err, offset.ErrNotLeader)
	}
	to, err := r.leader()
	if err != nil {
		return false
	}
	switch offset.CodeOf(to.Announce(ctx, m)) {
	case offset.CodeNotLeader, offset.CodeNotReady, offset.CodeUnreachable:
		return false
	}
	return true
}

// listed reports whether the newest configuration has the member.
func (r *replica) listed(id string) bool { return hasServer(r.servers(), raft.ServerID(id)) }

// hasServer reports whether a member is one of the servers.
func hasServer(servers []raft.Server, id raft.ServerID) bool {
	return slices.ContainsFunc(servers, func(s raft.Server) bool { return s.ID == id })
}

// tidy drops, once a tenure has begun, the announcements of former members.
func (r *replica) tidy(ctx context.Context) {
	for _, m := range r.machine.Root().Members() {
		if !r.listed(m.ID) {
			r.proposer.propose(ctx, entry.Request{Forget: m.ID})
		}
	}
}
