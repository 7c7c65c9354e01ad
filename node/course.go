package node

import (
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/offset"
)

// EntryCost is what one log entry carried and took that this member proposed,
// and that was applied.
type EntryCost struct {
	// Requests is how many requests shared the entry, Offsets how many commits
	// and sets they had together, Bytes its size in the log.
	Requests, Offsets, Bytes int
	// InFlight is how many entries were on their way when it was proposed,
	// itself included.
	InFlight int
	// Stages are where the time went.
	Stages offset.Stages
}

// course is when an entry passed the points on its way through the leader.
type course struct {
	// came: the request that waited longest was taken in.
	came time.Time
	// proposed: raft has the entry.
	proposed time.Time
	// stored: it is on the leader's own disk; quorum: on those of a quorum.
	stored, quorum time.Time
	// taken: the state machine has begun with it; free: it had ended what came
	// before.
	taken, free time.Time
	// answered: the callers can be answered.
	answered time.Time
}

// stages divides the time from came to answered into parts that add up to it. An
// entry that a quorum has waits for the state machine while that is busy, and
// otherwise for raft's loop, which writes the leader's log too.
func (c course) stages() offset.Stages {
	quorum := latest(c.stored, c.quorum)
	taken := latest(quorum, c.taken)
	free := latest(quorum, c.free)
	if free.After(taken) {
		free = taken
	}
	return offset.Stages{
		Queue:    c.proposed.Sub(c.came),
		Log:      c.stored.Sub(c.proposed),
		Quorum:   quorum.Sub(c.stored),
		Handover: taken.Sub(free),
		Apply:    free.Sub(quorum) + c.answered.Sub(taken),
	}
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// course looks up when an entry passed the points that this member has noted;
// false if one is not known, as right after a change of leader or members.
func (r *replica) course(index uint64) (c course, ok bool) {
	if c.stored, ok = r.stored.of(index); !ok {
		return c, false
	}
	if c.quorum, ok = r.acks.held(raft.ServerID(r.id), r.servers(), index, c.stored); !ok {
		return c, false
	}
	c.free, _ = r.machine.free.of(index)
	c.taken, ok = r.machine.taken.of(index)
	return c, ok
}

// account reports what an entry has cost.
func (p *proposer) account(f *flight, answered time.Time) {
	answers, ok := f.future.Response().(*fsm.Answers)
	if !ok || p.course == nil {
		return
	}
	c, ok := p.course(f.future.Index())
	if !ok {
		return
	}
	c.came, c.proposed, c.answered = f.parts[0].came, f.proposed, answered
	cost := EntryCost{Requests: len(f.parts), Bytes: f.bytes, InFlight: f.beside, Stages: c.stages()}
	for i := range answers.Requests {
		cost.Offsets += len(answers.Requests[i].Verdicts)
	}
	p.counts.cost(&cost)
	if p.config.OnEntry != nil {
		p.config.OnEntry(cost)
	}
}
