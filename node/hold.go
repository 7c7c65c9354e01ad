package node

import (
	"time"

	"github.com/hashicorp/raft"
)

// hold delays the failure of an append to a member that cannot be reached
// until it answers heartbeats again, this member no longer leads in that term,
// or the transport closes. raft waits twice as long after each failure, up to
// ten seconds, so that a member that comes back would be left alone for as
// long; heartbeats are tried several times a second throughout.
func (t *transport) hold(id raft.ServerID, term uint64) {
	failed := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for t.leads(term) {
		a, changed := t.acks.of(id, term)
		if a.heard.After(failed) {
			return
		}
		select {
		case <-changed:
		case <-tick.C:
		case <-t.end:
			return
		}
	}
}

// leads reports whether raft still leads in the term.
func (t *transport) leads(term uint64) bool {
	r := t.raft.Load()
	return r != nil && r.State() == raft.Leader && r.CurrentTerm() == term
}

// isHeartbeat tells heartbeats from appends, which name a previous entry, a
// commit index, or entries.
func isHeartbeat(req *raft.AppendEntriesRequest) bool {
	return req.PrevLogEntry == 0 && req.LeaderCommitIndex == 0 && len(req.Entries) == 0
}
