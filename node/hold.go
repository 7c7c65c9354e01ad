package node

import (
	"time"

	"github.com/hashicorp/raft"
)

// hold delays the failure of an append to a member that cannot be reached until
// the member answers heartbeats again or has been removed, this one no longer
// leads in that term, or the transport closes. raft doubles its pause after each
// failure, up to ten seconds, and would leave a member that comes back alone for
// as long; heartbeats are tried several times a second throughout.
func (t *transport) hold(id raft.ServerID, term uint64) {
	failed := time.Now()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for t.leads(term) && t.lists(id) {
		changed := t.acks.news()
		if t.acks.of(id, term).heard.After(failed) {
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

// lists reports whether the newest configuration has the member. raft ends what
// it runs for one that was removed only between two appends.
func (t *transport) lists(id raft.ServerID) bool {
	return hasServer(t.raft.Load().GetConfiguration().Configuration().Servers, id)
}
