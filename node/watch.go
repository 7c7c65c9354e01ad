package node

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

// applyHang is how many ticks of the watch one entry may take to apply.
const applyHang = 10

// guardTick is the time between two looks. Tests make it shorter.
var guardTick = time.Second

// progress is how far the state machine is: when the call that runs now began, 0 for
// none, and the entry that it is at.
type progress struct {
	began int64
	entry uint64
}

// hang counts the ticks for which the state machine has been at one entry. Raft hands
// over several at once, which may take long together.
type hang struct {
	at    progress
	ticks int
}

// saw takes one look, and reports whether the entry hangs.
func (h *hang) saw(now progress) bool {
	if now.began == 0 || now != h.at {
		*h = hang{at: now}
		return false
	}
	h.ticks++
	return h.ticks >= applyHang
}

// guard ends the replica with its cause when it cannot go on: the disk, the
// FSM, or raft has ended, an entry hangs, or the member has been removed.
// Ticks are its own, so that a pause of the whole process is not taken for a hang.
func (r *replica) guard(ctx context.Context) {
	tick := time.NewTicker(guardTick)
	defer tick.Stop()
	var apply hang
	var gone absence
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.disk.Failed():
			r.fail(r.disk.Err())
			return
		case <-r.machine.Failed():
			r.fail(&Stopped{ExitLatched, r.machine.Err()})
			return
		case <-tick.C:
		}
		if apply.saw(progress{r.machine.busy.Load(), r.machine.Applying()}) {
			r.fail(&Stopped{ExitHang, offset.Errorf(offset.ErrDamaged, "applying an entry has not come to an end for %d s", applyHang)})
			return
		}
		if r.raft.State() == raft.Shutdown {
			r.fail(&Stopped{ExitFailed, offset.Errorf(offset.ErrClosed, "raft has shut down by itself; its log says why")})
			return
		}
		if r.wasRemoved(ctx, &gone) {
			r.fail(&Stopped{ExitRemoved, offset.Errorf(offset.ErrClosed, "this member, %s, has been removed from the cluster; to bring it back, start it with an empty data folder and add it", r.id)})
			return
		}
	}
}

// wasRemoved asks the members, once this one has not heard of a leader for long:
// nobody tells a removed member so. Only the leader is believed, and only once the
// removal is committed.
func (r *replica) wasRemoved(ctx context.Context, gone *absence) bool {
	if r.lead.leads() || time.Since(r.raft.LastContact()) < 5*r.config.Timers.Election || time.Since(r.began) < 5*r.config.Timers.Election {
		*gone = absence{}
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	for _, s := range r.servers() {
		if s.ID == raft.ServerID(r.id) {
			continue
		}
		status, err := r.peer.To(string(s.ID), string(s.Address)).Status(ctx, auth.Principal{})
		if err == nil && gone.confirmed(&status, r.id) {
			return true
		}
	}
	return false
}

// absence is what a member has heard of its removal: which leader does not list it. A
// leader names its newest configuration, which may not be committed, and may come to
// nothing. Its log only grows while it leads; so once a second look has shown where
// the log ends, all that the first one showed is committed when that index is. Every
// build reports these.
type absence struct {
	leader string
	term   uint64
	// upTo is the end of the leader's log; 0 before the second look.
	upTo uint64
}

// confirmed takes what one member says, and reports whether this one was removed.
func (a *absence) confirmed(s *offset.Status, id string) bool {
	switch {
	case s.State != "leader" || len(s.Members) == 0:
		return false
	case slices.ContainsFunc(s.Members, func(m offset.MemberStatus) bool { return m.ID == id }):
		*a = absence{}
		return false
	case s.NodeID != a.leader || s.Term != a.term:
		*a = absence{leader: s.NodeID, term: s.Term}
		return false
	case a.upTo == 0:
		a.upTo = s.LastIndex
	}
	return s.CommitIndex >= a.upTo
}
