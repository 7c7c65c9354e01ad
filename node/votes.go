package node

import (
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// A candidate waits for as many writes as this before it gives an election up,
// and no longer than so many of its election timeouts. Three writes lie between
// its first one, of the term, and the vote of another: that one's term and vote
// too.
const (
	writesOfAVote = 4
	mostPatience  = 10
)

// recentWrites is about how long the last few writes of log, term and vote took:
// each counts half of what the one after it does.
type recentWrites struct{ nanos atomic.Int64 }

func (w *recentWrites) add(took time.Duration) {
	for {
		old := w.nanos.Load()
		if w.nanos.CompareAndSwap(old, (old+int64(took))/2) {
			return
		}
	}
}

func (w *recentWrites) get() time.Duration { return time.Duration(w.nanos.Load()) }

// giveVotesTime has an election last for as long as votes take on disks like
// this member's. With less time every one would be given up just before it is
// won, since the next begins with the same writes. A leader has the election
// timeout that is configured, which bounds transfers too.
func (r *replica) giveVotesTime() {
	configured := r.config.Timers.Election
	want := configured
	if r.raft.State() != raft.Leader && !r.config.Unsafe.ImpatientVotes {
		want = min(max(want, writesOfAVote*r.counts.recent.get()), mostPatience*configured)
	}
	r.reloading.Lock()
	defer r.reloading.Unlock()
	c := r.raft.ReloadableConfig()
	if c.ElectionTimeout == want {
		return
	}
	c.ElectionTimeout = want
	if err := r.raft.ReloadConfig(c); err != nil {
		r.config.Logger.Warn("the election timeout could not be changed", "error", err)
	}
}
