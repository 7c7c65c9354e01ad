package node

import (
	"context"
	"sort"
	"time"

	"github.com/hashicorp/raft"
)

// stagger keeps voters from standing for election at the same moment.
const stagger = 25 * time.Millisecond

// noticeSilence has this member notice in time that the leader is silent,
// until ctx is done. raft looks only when a timer of one to two heartbeat
// timeouts happens to end, and resets it if the leader was heard in the last
// one: so it takes up to three of them, and as the others vote for nobody while
// they remember a leader, the slowest decides. Here each voter looks one timeout
// after it last heard the leader, in an order that all know; raft's own
// conditions for standing, pre-vote among them, are unchanged. The last of the
// majority to look finds the others ready to vote for it.
func (r *replica) noticeSilence(ctx context.Context) {
	var looked time.Time
	for ctx.Err() == nil {
		r.giveVotesTime()
		_, leader := r.raft.LeaderWithID()
		heard := r.raft.LastContact()
		turn, votes := r.turn(leader)
		if leader == "" || !votes || r.raft.State() != raft.Follower || heard.IsZero() || heard.Equal(looked) {
			pause(ctx, stagger)
			continue
		}
		if wait := time.Until(heard.Add(r.config.Timers.Heartbeat + time.Duration(turn)*stagger)); wait > 0 {
			pause(ctx, wait)
			continue
		}
		looked = heard
		r.lookNow()
	}
}

// turn is this member's place among the voters that the leader leaves.
func (r *replica) turn(leader raft.ServerID) (turn int, votes bool) {
	var ids []string
	for _, s := range r.servers() {
		if s.Suffrage == raft.Voter && s.ID != leader {
			ids = append(ids, string(s.ID))
			votes = votes || string(s.ID) == r.id
		}
	}
	sort.Strings(ids)
	return sort.SearchStrings(ids, r.id), votes
}

// lookNow has raft's timer end: a heartbeat timeout that gets shorter does.
func (r *replica) lookNow() {
	r.reloading.Lock()
	defer r.reloading.Unlock()
	c := r.raft.ReloadableConfig()
	longer := c
	longer.HeartbeatTimeout += time.Millisecond
	longer.ElectionTimeout = max(longer.ElectionTimeout, longer.HeartbeatTimeout)
	for _, step := range []raft.ReloadableConfig{longer, c} {
		if err := r.raft.ReloadConfig(step); err != nil {
			r.config.Logger.Warn("raft's timer could not be ended", "error", err)
			return
		}
	}
}
