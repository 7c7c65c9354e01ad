package node

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// keptNotes is how many checkpoints a member remembers its digest of.
const keptNotes = 64

// notes are the digests that this member noted at checkpoints. The FSM's
// goroutine writes them and never waits.
type notes struct {
	mu      sync.Mutex
	digests map[uint64]offset.Digest
	order   []uint64
	// fresh has one slot: the newest checkpoint that has not been compared.
	fresh chan uint64
	// wrong is Unsafe.Digest; nil for none.
	wrong func(offset.Digest) offset.Digest
}

func newNotes(wrong func(offset.Digest) offset.Digest) *notes {
	return &notes{wrong: wrong, digests: map[uint64]offset.Digest{}, fresh: make(chan uint64, 1)}
}

// note is fsm.Config's Checkpoint.
func (n *notes) note(index uint64, d offset.Digest) {
	if n.wrong != nil {
		d = n.wrong(d)
	}
	n.mu.Lock()
	n.digests[index] = d
	n.order = append(n.order, index)
	if len(n.order) > keptNotes {
		delete(n.digests, n.order[0])
		n.order = n.order[1:]
	}
	n.mu.Unlock()
	select {
	case <-n.fresh:
	default:
	}
	n.fresh <- index
}

func (n *notes) at(index uint64) (offset.Digest, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d, ok := n.digests[index]
	return d, ok
}

// ballot is what one member noted at a checkpoint.
type ballot struct {
	voter, known bool
	digest       offset.Digest
}

// ruling is what follows from the ballots for the member that counts them.
type ruling uint8

const (
	// undecided: too few digests are known, and none differ.
	undecided ruling = iota
	// agreed: the majority has this member's digest.
	agreed
	// outvoted: the majority has another digest.
	outvoted
	// split: digests differ and none has a majority.
	split
)

// rule counts the ballots, own first. A majority is one of all voters, known
// or not: a member never gives itself up to fewer.
func rule(own ballot, others []ballot) (ruling, offset.Digest) {
	voters := 0
	votes := map[offset.Digest]int{}
	differ := false
	for _, b := range append([]ballot{own}, others...) {
		if b.voter {
			voters++
		}
		if !b.known {
			continue
		}
		differ = differ || b.digest != own.digest
		if b.voter {
			votes[b.digest]++
		}
	}
	for d, n := range votes {
		if n > voters/2 {
			if d == own.digest {
				return agreed, d
			}
			return outvoted, d
		}
	}
	if differ {
		return split, offset.Digest{}
	}
	return undecided, offset.Digest{}
}

// compare judges this member's digest at each checkpoint, until ctx is done.
func (r *replica) compare(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case index := <-r.notes.fresh:
			if closed(r.caughtUp) && !planted.Is(planted.CheckpointNotCompared) {
				r.judge(ctx, index)
			}
		}
	}
}

// judge asks the others until a majority is known or the wait is over, and acts on
// it: an outvoted member gives itself up; without a majority nobody does, but the log
// is no longer cut, since it holds what went wrong.
func (r *replica) judge(ctx context.Context, index uint64) {
	own, ok := r.notes.at(index)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.config.Checkpoints.Wait)
	defer cancel()
	for {
		mine, others := r.ballots(ctx, index, own)
		verdict, majority := rule(mine, others)
		switch verdict {
		case agreed:
			r.alarm.Store(false)
			r.counts.checkpoints.Add(1)
			return
		case outvoted:
			r.giveUp(index, own, majority)
			return
		}
		pause(ctx, 100*time.Millisecond)
		if ctx.Err() != nil {
			if verdict == split && !r.alarm.Swap(true) {
				r.config.Logger.Error("the members' states differ and no state has a majority: nobody stops, but no snapshots are taken and the log is no longer cut; see \"Members disagree\" in docs/operations.md", "checkpoint", index, "digest", own.String())
			}
			return
		}
	}
}

// ballots asks all other members at once.
func (r *replica) ballots(ctx context.Context, index uint64, own offset.Digest) (ballot, []ballot) {
	mine := ballot{known: true, digest: own}
	servers := r.servers()
	others := make([]ballot, 0, len(servers))
	var asking sync.WaitGroup
	for _, s := range servers {
		if s.ID == raft.ServerID(r.id) {
			mine.voter = s.Suffrage == raft.Voter
			continue
		}
		others = append(others, ballot{voter: s.Suffrage == raft.Voter})
		b := &others[len(others)-1]
		asking.Go(func() {
			got, err := r.peer.To(string(s.ID), string(s.Address)).Digest(ctx, index)
			if err == nil && got.Known {
				b.known, b.digest = true, got.Digest
			}
		})
	}
	asking.Wait()
	return mine, others
}

// checkpoint logs a checkpoint, if this member leads.
func (r *replica) checkpoint(ctx context.Context) (uint64, offset.Digest, error) {
	got, err := r.proposer.propose(ctx, checkpointAt(r.machine.Root().Level()))
	return got.index, got.answer.Digest, err
}

// checkpoints logs one whenever enough has been proposed since the last.
func (r *replica) checkpoints(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	entries, bytes := r.counts.entries.Load(), r.counts.entryBytes.Load()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e, b := r.counts.entries.Load(), r.counts.entryBytes.Load()
		if e-entries < r.config.Checkpoints.Entries && b-bytes < r.config.Checkpoints.Bytes {
			continue
		}
		if _, _, err := r.checkpoint(ctx); err == nil {
			entries, bytes = e, b
		}
	}
}

// digest answers another member.
func (r *replica) digest(index uint64) peer.Checkpoint {
	d, ok := r.notes.at(index)
	return peer.Checkpoint{Known: ok, Digest: d}
}

// Checkpoint has all members note and compare their digests now. Only the
// leader can; the answer gives the index and the leader's own digest there. It is
// for tests, asks no policy, and is not part of Service: members do so by
// themselves (Config.Checkpoints).
func (n *Node) Checkpoint(ctx context.Context) (uint64, offset.Digest, error) {
	type noted struct {
		index  uint64
		digest offset.Digest
	}
	got, err := onlyHere(ctx, n, func(ctx context.Context, r *replica) (noted, error) {
		index, d, err := r.checkpoint(ctx)
		return noted{index, d}, err
	})
	return got.index, got.digest, err
}
