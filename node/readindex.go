package node

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// rounds has reads share confirmations: each waits for a round that begins
// after it came, and one round serves all that wait when it begins. run is
// its one goroutine.
type rounds struct {
	// confirm gives an index such that whoever reads a state of at least that
	// index sees everything that was acknowledged before confirm was called.
	confirm func(ctx context.Context) (uint64, error)
	joining chan *joined
	// limit bounds one round.
	limit time.Duration
	// end is closed when no further round begins.
	end    chan struct{}
	counts *counters
}

// joined is one read that waits.
type joined struct {
	ctx  context.Context
	done chan confirmation // one slot
}

type confirmation struct {
	index uint64
	err   error
}

func newRounds(waiting int, limit time.Duration, counts *counters, confirm func(context.Context) (uint64, error)) *rounds {
	return &rounds{confirm: confirm, joining: make(chan *joined, waiting), limit: limit, end: make(chan struct{}), counts: counts}
}

// join waits for a round that begins from now on.
func (r *rounds) join(ctx context.Context) (uint64, error) {
	j := &joined{ctx: ctx, done: make(chan confirmation, 1)}
	select {
	case r.joining <- j:
	default:
		return 0, offset.Errorf(offset.ErrBusy, "%d reads wait already; read again later", cap(r.joining))
	}
	select {
	case c := <-j.done:
		return c.index, c.err
	case <-ctx.Done():
		return 0, offset.Errorf(offset.ErrNoLeader, "the deadline passed before a leader confirmed that it leads")
	case <-r.end:
		return 0, offset.Errorf(offset.ErrNotReady, "this member is stopping")
	}
}

// run confirms for as long as somebody waits.
func (r *rounds) run(ctx context.Context) {
	defer close(r.end)
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-r.joining:
			all := r.gather(j)
			if len(all) > 0 {
				r.serve(ctx, all)
			}
		}
	}
}

// readStandBacks is how often gather lets other goroutines run before a round: it
// costs its members the same whatever it carries, and callers that the last one
// let go come back with their next reads.
const readStandBacks = 4

// gather takes all that wait and still want to.
func (r *rounds) gather(first *joined) []*joined {
	all := make([]*joined, 0, len(r.joining)+1)
	all = r.take(all, first)
	for range readStandBacks {
		runtime.Gosched()
		all = r.take(all, nil)
	}
	return all
}

// take adds j, unless it is nil, and all that wait now.
func (r *rounds) take(all []*joined, j *joined) []*joined {
	for n := len(r.joining); ; n-- {
		if j != nil && j.ctx.Err() == nil {
			all = append(all, j)
		}
		if n == 0 {
			return all
		}
		j = <-r.joining
	}
}

func (r *rounds) serve(ctx context.Context, all []*joined) {
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	r.counts.rounds.Add(1)
	r.counts.roundReads.Add(uint64(len(all)))
	var c confirmation
	c.index, c.err = r.confirm(ctx)
	for _, j := range all {
		j.done <- c
	}
}

// confirmHere is the strict read index of a leader: a majority of the voters
// answered, with success and in this term, a call that was sent after the
// round began. raft's VerifyLeader counts answers to earlier calls, and those
// of members without a vote; it is asked only so that heartbeats go out now.
//
// The index is that of the last command committed when the round began, and this
// member has applied it: a follower may have applied and shown it before. What this
// log no longer has is in the state that it answers from, which is of an index, too:
// a follower may lack that still.
func (r *replica) confirmHere(ctx context.Context) (uint64, error) {
	term := r.lead.readyTerm()
	if term == 0 {
		if r.lead.leads() {
			return 0, offset.Errorf(offset.ErrNotReady, "this member has just been elected and has not applied what came before")
		}
		return 0, offset.ErrNotLeader
	}
	if planted.Is(planted.ReadUnconfirmed) {
		return r.machine.Index(), nil
	}
	if r.config.Unsafe.LibraryVerify {
		if err := await(ctx, r.raft.VerifyLeader()); err != nil {
			return 0, offset.Errorf(offset.ErrNotLeader, "%v", err)
		}
		return r.machine.Index(), nil
	}
	command, err := r.lastCommand.at(r.disk.Log(), r.raft.CommitIndex())
	if err != nil { // which ends this member; the next leader answers
		return 0, offset.Errorf(offset.ErrNotReady, "this member can't read its log: %v", err)
	}
	if !planted.Is(planted.ReadIndexOfLog) {
		command = max(command, r.machine.Index())
	}
	if err := r.majority(ctx, term); err != nil {
		return 0, err
	}
	if r.lead.readyTerm() != term {
		return 0, offset.Errorf(offset.ErrNotLeader, "leadership was lost while it was confirmed")
	}
	return command, r.reach(ctx, command)
}

// majority waits until the voters have confirmed the term since now.
func (r *replica) majority(ctx context.Context, term uint64) error {
	t0 := time.Now()
	r.kick()
	err := r.awaitAcks(ctx, term, func() bool { return r.acks.confirmed(raft.ServerID(r.id), r.servers(), term, t0) })
	if err == nil || errors.Is(err, offset.ErrNotLeader) {
		return err
	}
	return offset.Errorf(offset.ErrNoLeader, "no majority confirmed that this member still leads")
}

// kick has raft send heartbeats now. Its future is not waited for.
func (r *replica) kick() { r.raft.VerifyLeader() }

// servers are the members of the newest configuration.
func (r *replica) servers() []raft.Server {
	return r.raft.GetConfiguration().Configuration().Servers
}

// confirmThere asks the leader. It stops asking as soon as another one leads.
func (r *replica) confirmThere(ctx context.Context) (uint64, error) {
	to, err := r.leader()
	if err != nil {
		return 0, err
	}
	ctx, done := r.whileLeads(ctx, to.ID(), 0)
	defer done()
	index, err := to.ReadIndex(ctx)
	if errors.Is(err, offset.ErrOutcomeUnknown) {
		return 0, offset.Errorf(offset.ErrNoLeader, "the leader did not answer: %v", err)
	}
	return index, err
}

// whileLeads returns a context that ends a grace after another than id leads,
// or once nobody has led for an election timeout, so that no call waits for one
// that is gone or does not answer. done must be called.
func (r *replica) whileLeads(ctx context.Context, id string, grace time.Duration) (_ context.Context, done func()) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		defer cancel()
		r.awaitReplaced(ctx, id, grace)
	})
	return ctx, func() {
		cancel()
		watching.Wait()
	}
}

// awaitReplaced returns then, or once ctx is done.
func (r *replica) awaitReplaced(ctx context.Context, id string, grace time.Duration) {
	for {
		news := r.lead.news()
		var over <-chan time.Time
		switch _, now := r.raft.LeaderWithID(); string(now) {
		case id:
		case "":
			over = time.After(max(grace, r.config.Timers.Election))
		default:
			over = time.After(grace)
		}
		select {
		case <-news:
		case <-over:
			return
		case <-ctx.Done():
			return
		}
	}
}
