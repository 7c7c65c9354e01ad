package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// handed is the answer to a transfer.
type handed struct {
	leader string
	meta   offset.Meta
}

// Transfer hands leadership to a voter ("" for any that has caught up) and returns
// which.
func (n *Node) Transfer(ctx context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	if err := n.allow(p, auth.Administer, auth.Everything, "transfer"); err != nil {
		return "", n.meta(), err
	}
	got, err := atLeader(ctx, n, lastWordOnMembers,
		func(ctx context.Context, r *replica) (handed, error) { return n.transferHere(ctx, p, r, to) },
		func(ctx context.Context, at *peer.Remote) (handed, error) {
			leader, meta, err := at.Transfer(ctx, p, to)
			return handed{leader, meta}, err
		})
	return got.leader, n.orMeta(got.meta), err
}

// transferHere has this leader hand over, and notes its caller.
func (n *Node) transferHere(ctx context.Context, p auth.Principal, r *replica, to string) (handed, error) {
	got, err := r.handOver(ctx, to)
	n.administered(p, "transfer", fmt.Sprintf("to=%q leader=%q", to, got.leader), err)
	return got, err
}

// handOver waits until the target has nearly caught up, stops proposing, waits until
// nothing is in flight and the target holds the whole log, and only then asks
// raft: a transfer to a member that lags leaves raft in transfer for ever if
// leadership is lost meanwhile. What waits to be proposed is kept, and sent to the
// new leader. For a member that is down, or lags far, nothing stops.
func (r *replica) handOver(ctx context.Context, to string) (handed, error) {
	if !r.transferring.TryLock() {
		return handed{}, offset.Errorf(offset.ErrBusy, "another transfer is under way")
	}
	defer r.transferring.Unlock()
	if r.config.Unsafe.RawTransfer {
		return r.handOverRaw(ctx, to)
	}
	if err := r.checkTransferable(ctx, to); err != nil {
		return handed{}, err
	}
	bound, cancel := context.WithTimeout(ctx, r.drainTime())
	defer cancel()
	resume, err := r.proposer.stop(bound)
	defer resume()
	if err != nil {
		return handed{}, offset.Errorf(offset.ErrBusy, "what was proposed did not come to an end within %v; transfer later", r.drainTime())
	}
	target, err := r.caughtUpVoter(bound, to, func(sent time.Time) bool { return time.Since(sent) < r.config.Timers.Election })
	if err != nil {
		return handed{}, err
	}
	err = await(ctx, r.raft.LeadershipTransferToServer(target.ID, target.Address))
	if err == nil {
		return handed{leader: string(target.ID), meta: r.meta()}, nil
	}
	if errors.Is(err, errStopped) {
		return handed{}, offset.Errorf(offset.ErrOutcomeUnknown, "the deadline passed while %s was taking leadership over; ask for the status", target.ID)
	}
	r.settle(ctx)
	if r.lead.leads() {
		return handed{}, offset.Errorf(offset.ErrBusy, "leadership was not taken over by %s: %v; this member leads on", target.ID, err)
	}
	return handed{}, offset.Errorf(offset.ErrOutcomeUnknown, "leadership was lost during the transfer: %v; ask for the status", err)
}

// checkTransferable refuses a transfer unless a voter comes to hold what this member
// holds now, while commits continue.
func (r *replica) checkTransferable(ctx context.Context, to string) error {
	bound, cancel := context.WithTimeout(ctx, r.drainTime())
	defer cancel()
	began := time.Now()
	_, err := r.caughtUpVoter(bound, to, began.Before)
	if !errors.Is(err, offset.ErrBusy) {
		return err
	}
	candidates, gone := r.candidates(to)
	if silent := r.silent(candidates, began); gone == nil && len(silent) == len(candidates) {
		return offset.Errorf(offset.ErrDenied, "%s does not answer, and so cannot take over; see `tidemark cluster status`", strings.Join(silent, ", "))
	}
	return err
}

// drainTime bounds how long requests wait for a transfer to begin.
func (r *replica) drainTime() time.Duration { return 2 * r.config.Timers.Election }

// handOverRaw is the library's transfer alone.
func (r *replica) handOverRaw(ctx context.Context, to string) (handed, error) {
	for _, s := range r.servers() {
		if s.ID != raft.ServerID(r.id) && (to == "" || matches(s, to)) {
			err := await(ctx, r.raft.LeadershipTransferToServer(s.ID, s.Address))
			return handed{leader: string(s.ID)}, err
		}
	}
	return handed{}, offset.ErrNotFound
}

// caughtUpVoter waits until a voter that may take over holds the whole log, and
// has answered what was sent lately enough.
func (r *replica) caughtUpVoter(ctx context.Context, to string, lately func(sent time.Time) bool) (raft.Server, error) {
	candidates, err := r.candidates(to)
	if err != nil {
		return raft.Server{}, err
	}
	term, last := r.raft.CurrentTerm(), r.raft.LastIndex()
	var found raft.Server
	err = r.awaitAcks(ctx, term, func() bool {
		i := slices.IndexFunc(candidates, func(s raft.Server) bool {
			a := r.acks.of(s.ID, term)
			return a.match >= last && lately(a.sent)
		})
		if i >= 0 {
			found = candidates[i]
		}
		return i >= 0
	})
	if err == nil || errors.Is(err, offset.ErrNotLeader) {
		return found, err
	}
	return raft.Server{}, offset.Errorf(offset.ErrBusy, "no voter that may take over has caught up with index %d; transfer later", last)
}

func (r *replica) candidates(to string) ([]raft.Server, error) {
	var found []raft.Server
	for _, s := range r.servers() {
		if to != "" && !matches(s, to) {
			continue
		}
		if s.ID == raft.ServerID(r.id) {
			if to != "" {
				return nil, offset.Errorf(offset.ErrInvalid, "%s leads already", to)
			}
			continue
		}
		if s.Suffrage == raft.Voter {
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		if to == "" {
			return nil, offset.Errorf(offset.ErrNotFound, "there is no voter beside the leader")
		}
		return nil, offset.Errorf(offset.ErrNotFound, "no voter other than the leader is %q; `tidemark cluster status` lists the members", to)
	}
	return found, nil
}

// matches reports whether who is the id or the name of the server.
func matches(s raft.Server, who string) bool {
	return string(s.ID) == who || memberName(string(s.ID)) == who
}

// settle waits until raft takes proposals again after a transfer that failed,
// or no longer leads. If it stays in transfer, the watch has raft restarted.
func (r *replica) settle(ctx context.Context) {
	for r.lead.leads() && ctx.Err() == nil {
		err := await(ctx, r.raft.Barrier(0))
		r.watch.saw(err)
		if !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
			return
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// transferWatch notices that raft stays in a transfer that never ends, so that
// this member would lead and refuse everything for ever.
type transferWatch struct {
	// limit is how long a transfer may take: three election timeouts.
	limit time.Duration
	// stuck is called once it has taken longer. May be called again.
	stuck func(since time.Duration)
	// began is when the first refusal of the present transfer was seen, Unix
	// nanoseconds; 0 for none.
	began atomic.Int64
}

// saw takes what raft said of something proposed.
func (w *transferWatch) saw(err error) {
	if !errors.Is(err, raft.ErrLeadershipTransferInProgress) {
		w.began.Store(0)
		return
	}
	now := time.Now().UnixNano()
	if w.began.CompareAndSwap(0, now) {
		return
	}
	if since := time.Duration(now - w.began.Load()); since > w.limit {
		w.stuck(since)
	}
}
