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
		r.proposer.propose(ctx, entry.Request{Member: &m})
		return
	}
	if to, err := r.leader(); err == nil {
		to.Announce(ctx, m)
	}
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
