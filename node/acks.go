package node

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"
)

// acks is what the followers have acknowledged to this member as a leader:
// evidence for the read index, for who has caught up, and for status.
type acks struct {
	mu    sync.Mutex
	peers map[raft.ServerID]ack
	// changed is closed and replaced at each new ack.
	changed chan struct{}

	// largest is the most bytes of entries that one append carried.
	largest atomic.Int64
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
}

func newAcks() *acks {
	return &acks{peers: map[raft.ServerID]ack{}, changed: make(chan struct{})}
}

// sending counts the bytes of an append.
func (a *acks) sending(req *raft.AppendEntriesRequest) {
	var n int64
	for _, e := range req.Entries {
		n += int64(len(e.Data))
	}
	for {
		old := a.largest.Load()
		if n <= old || a.largest.CompareAndSwap(old, n) {
			return
		}
	}
}

// answered takes the answer of a follower. Only success in the same term says
// that it still followed this leader when the call was sent.
func (a *acks) answered(id raft.ServerID, sent time.Time, req *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.peers[id]
	k.heard = time.Now()
	if resp.Success && resp.Term == req.Term && req.Term >= k.term {
		if req.Term > k.term {
			k.term, k.sent, k.match = req.Term, time.Time{}, 0
		}
		if sent.After(k.sent) {
			k.sent = sent
		}
		k.match = max(k.match, matched(req))
		close(a.changed)
		a.changed = make(chan struct{})
	}
	a.peers[id] = k
}

// matched is the index up to which a successful append shows the logs equal;
// a heartbeat shows nothing.
func matched(req *raft.AppendEntriesRequest) uint64 {
	if n := len(req.Entries); n > 0 {
		return req.Entries[n-1].Index
	}
	return req.PrevLogEntry
}

// of returns what is known of a follower in a term, and a channel that is
// closed when anything has changed since.
func (a *acks) of(id raft.ServerID, term uint64) (ack, <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	k := a.peers[id]
	if k.term != term {
		k = ack{heard: k.heard}
	}
	return k, a.changed
}

// confirmed reports whether self and voters with an ack sent at t0 or later in
// the term are a majority of the voters; changed is closed when that may have
// changed.
func (a *acks) confirmed(self raft.ServerID, servers []raft.Server, term uint64, t0 time.Time) (ok bool, changed <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	voters, for_ := 0, 0
	for _, s := range servers {
		if s.Suffrage != raft.Voter {
			continue
		}
		voters++
		k := a.peers[s.ID]
		if s.ID == self || k.term == term && !k.sent.Before(t0) {
			for_++
		}
	}
	return for_ > voters/2, a.changed
}
