package node

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

// acks is what the followers have acknowledged to this member as a leader:
// evidence for the read index, for who has caught up, and for status.
type acks struct {
	mu    sync.Mutex
	peers map[raft.ServerID]ack
	// changed is closed and replaced at each new ack.
	changed chan struct{}

	// largest is the most bytes of entries that one append carried.
	largest atomic.Uint64
}

// ack is the newest of one follower.
type ack struct {
	// Term is that of the appends; an ack of an older term counts for nothing.
	term uint64
	// sent is when the newest append that was answered with success was sent.
	sent time.Time
	// match is the last index that a successful append showed it to hold.
	match uint64
	// heard is when it answered last.
	heard time.Time
	// held is when its acknowledgements of the newest entries came; nil before
	// the first.
	held *marks
}

func newAcks() *acks {
	return &acks{peers: map[raft.ServerID]ack{}, changed: make(chan struct{})}
}

// sending counts the bytes of an append.
func (a *acks) sending(req *raft.AppendEntriesRequest) {
	var n uint64
	for _, e := range req.Entries {
		n += uint64(len(e.Data))
	}
	raise(&a.largest, n)
}

// answered takes the answer of a follower. Only success in the same term says
// that it still followed this leader when the call was sent.
func (a *acks) answered(id raft.ServerID, sent time.Time, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.heardLocked(id)
	if resp.Success && resp.Term == req.Term && req.Term >= k.term {
		if req.Term > k.term {
			k.term, k.sent, k.match, k.held = req.Term, time.Time{}, 0, &marks{}
		}
		if sent.After(k.sent) {
			k.sent = sent
		}
		if match := matched(req); match > k.match {
			k.held.note(k.match+1, match, k.heard)
			k.match = match
		}
		close(a.changed)
		a.changed = make(chan struct{})
	}
	a.peers[id] = k
}

// spoke notes that a member answered something that acknowledges nothing, such as a
// vote.
func (a *acks) spoke(id raft.ServerID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.peers[id] = a.heardLocked(id)
}

// maxPeers bounds what is remembered, members that have left among them.
const maxPeers = 2 * offset.MaxMembers

// heardLocked notes that a member has answered. If there are too many, the one that
// was heard longest ago is forgotten.
func (a *acks) heardLocked(id raft.ServerID) ack {
	k, known := a.peers[id]
	if !known && len(a.peers) >= maxPeers {
		var oldest raft.ServerID
		for other, o := range a.peers {
			if oldest == "" || o.heard.Before(a.peers[oldest].heard) {
				oldest = other
			}
		}
		delete(a.peers, oldest)
	}
	k.heard = time.Now()
	return k
}

// matched is the index up to which a successful append shows the logs equal;
// a heartbeat shows nothing.
func matched(req *raft.AppendEntriesRequest) uint64 {
	if n := len(req.Entries); n > 0 {
		return req.Entries[n-1].Index
	}
	return req.PrevLogEntry
}

// news returns a channel that is closed at the next ack.
func (a *acks) news() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.changed
}

// of returns what is known of a follower in a term.
func (a *acks) of(id raft.ServerID, term uint64) ack {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.peers[id]
	if k.term != term {
		k = ack{heard: k.heard}
	}
	return k
}

// awaitAcks waits until done, which is asked again after each ack, is true. The error
// wraps offset.ErrNotLeader once this member no longer leads in the term, and is that
// of ctx once it is done.
func (r *replica) awaitAcks(ctx context.Context, term uint64, done func() bool) error {
	for {
		acked, lost := r.acks.news(), r.lead.news()
		if done() {
			return nil
		}
		if !r.lead.leads() || r.raft.CurrentTerm() != term {
			return offset.Errorf(offset.ErrNotLeader, "leadership was lost meanwhile")
		}
		select {
		case <-acked:
		case <-lost:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// confirmed reports whether self and voters with an ack sent at t0 or later in
// the term are a majority of the voters.
func (a *acks) confirmed(self raft.ServerID, servers []raft.Server, term uint64, t0 time.Time) bool {
	return a.majority(self, servers, func(k ack) bool { return k.term == term && !k.sent.Before(t0) })
}

// inTouch reports whether self and voters that have answered anything since t0
// are a majority of the voters.
func (a *acks) inTouch(self raft.ServerID, servers []raft.Server, t0 time.Time) bool {
	return a.majority(self, servers, func(k ack) bool { return !k.heard.Before(t0) })
}

// majority reports whether self and those whose ack counts are a majority of
// the voters.
func (a *acks) majority(self raft.ServerID, servers []raft.Server, counts func(ack) bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	voters, agreeing := 0, 0
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if s.ID == self || counts(a.peers[s.ID]) {
			agreeing++
		}
	}
	return agreeing > voters/2
}

// held returns when a quorum of the voters had the entry at index on their disks, as
// this leader learned it; own is when it had it itself. False: a quorum has not
// acknowledged it, or that is no longer remembered.
func (a *acks) held(self raft.ServerID, servers []raft.Server, index uint64, own time.Time) (time.Time, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	voters, times := 0, []time.Time{}
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		if s.ID == self {
			times = append(times, own)
		} else if k := a.peers[s.ID]; k.held != nil {
			if at, ok := k.held.of(index); ok {
				times = append(times, at)
			}
		}
	}
	if len(times) <= voters/2 {
		return time.Time{}, false
	}
	slices.SortFunc(times, time.Time.Compare)
	return times[voters/2], true
}
