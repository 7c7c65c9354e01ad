package node

import (
	"context"
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
		if announced(r.machine.Root().Members(), mine) {
			next = soon
		} else if r.listed(r.id) {
			wait, next = next, min(2*next, late) // each is an entry in the log
			r.tryAnnounce(ctx, mine)
		}
		pause(ctx, wait)
	}
}

func (r *replica) tryAnnounce(ctx context.Context, m offset.Member) {
	ctx, cancel := context.WithTimeout(ctx, 2*r.config.Timers.Election)
	defer cancel()
	if r.lead.leads() {
		r.proposeMember(ctx, m)
		return
	}
	if to, err := r.leader(); err == nil {
		to.Announce(ctx, m)
	}
}

// proposeMember has the state name a member. The table keeps no more than
// offset.MaxMembers, as many as a cluster may have; where it is full, what it has
// of members that are none any more makes room.
func (r *replica) proposeMember(ctx context.Context, m offset.Member) error {
	if len(r.machine.Root().Members()) >= offset.MaxMembers {
		r.tidy(ctx)
	}
	_, err := r.proposer.propose(ctx, entry.Request{Member: &m})
	return err
}

func announced(members []offset.Member, m offset.Member) bool {
	for _, have := range members {
		if have == m {
			return true
		}
	}
	return false
}

// listed reports whether the newest configuration has the member.
func (r *replica) listed(id string) bool {
	for _, s := range r.servers() {
		if s.ID == raft.ServerID(id) {
			return true
		}
	}
	return false
}

// tidy drops, once a tenure has begun, what members announced that are none
// any more.
func (r *replica) tidy(ctx context.Context) {
	for _, m := range r.machine.Root().Members() {
		if !r.listed(m.ID) {
			r.proposer.propose(ctx, entry.Request{Forget: m.ID})
		}
	}
}
