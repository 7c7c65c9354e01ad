package node

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/internal/planted"
	"github.com/tidemark-mq/tidemark/offset"
)

// maxWaitingBytes bounds what requests that wait to be proposed hold together.
const maxWaitingBytes = 64 << 20

// errDropped is what a request gets that was never proposed.
var errDropped = offset.Errorf(offset.ErrBusy, "the deadline passed before the request was proposed; nothing was changed, send it again")

// errTooLarge refuses a request before anything of it is proposed.
var errTooLarge = offset.Errorf(offset.ErrInvalid, "the request takes more than %d bytes of the log; send fewer keys at a time", offset.MaxRequest)

// proposal is one request on its way into the log.
type proposal struct {
	request entry.Request
	// asked is what the quota is asked about: the request, or what proposePart says
	// of one that is cut.
	asked *entry.Request
	// size is what it takes of an entry, at most.
	size int
	// came is when it was taken in.
	came time.Time
	// state says who has it; see the constants.
	state atomic.Uint32
	// got is what became of it, once answer says answered.
	got    outcome
	answer atomic.Uint32
	// wake, of one slot, has an element after something was answered: proposals that
	// one goroutine waits for share it.
	wake chan struct{}
}

// tell answers the caller; the first answer counts.
func (o *proposal) tell(got outcome) {
	if !o.answer.CompareAndSwap(unanswered, answering) {
		return
	}
	o.got = got
	o.answer.Store(answered)
	note(o.wake)
}

// The states of an answer.
const (
	unanswered uint32 = iota
	answering
	answered
)

// The states of a proposal. The proposer takes it, or its caller drops it;
// one of the two.
const (
	waiting uint32 = iota
	taken
	dropped
)

// outcome is what became of a proposal. err is nil exactly if it was applied.
type outcome struct {
	answer         fsm.Answer
	index, lastAct uint64
	err            error
}

// flight is an entry that raft has.
type flight struct {
	future raft.ApplyFuture
	parts  []*proposal
	// proposed is when raft got it, bytes its size, and beside how many entries were
	// in flight then, itself included.
	proposed      time.Time
	bytes, beside int
}

// proposer turns waiting requests into entries. Two goroutines: run gathers
// (gather.go), seals and hands to raft; resolve takes the answers in order.
type proposer struct {
	config  *Config
	cluster offset.ClusterID
	machine *machine
	leads   func() bool
	apply   func([]byte) raft.ApplyFuture
	// course says when an applied entry passed the points on its way, if that is
	// known; nil: never.
	course func(index uint64) (course, bool)
	quota  *quota
	watch  *transferWatch

	in           chan *proposal
	waitingBytes atomic.Int64
	// turn holds a token while proposing is allowed; whoever takes it stops that.
	turn chan struct{}
	// window holds a token for each entry that may yet be proposed.
	window  chan struct{}
	flights chan *flight
	// end is closed when nothing waits for raft any longer.
	end chan struct{}
	// flying counts the requests in flight. landed and fewer, of one slot each,
	// notify stop and run that an entry came back.
	flying        atomic.Int64
	landed, fewer chan struct{}
	// unapplied counts those that the state may lack. It falls before callers are
	// answered, so that the quota knows all that they have been told.
	unapplied atomic.Int64

	// Of run alone:
	builder *entry.Builder
	level   uint8
	parts   []*proposal
	carry   *proposal
	check   entry.Decoder

	counts *counters
}

func newProposer(c *Config, cluster offset.ClusterID, state *machine, counts *counters) *proposer {
	window := c.InFlight
	if planted.Is(planted.EarlyAck) { // without waiting for answers, nothing is to bound the window
		window = 1024
	}
	p := &proposer{
		config: c, cluster: cluster, machine: state, counts: counts,
		quota:   newQuota(&c.Limits, state),
		in:      make(chan *proposal, c.Limits.Waiting),
		turn:    make(chan struct{}, 1),
		window:  make(chan struct{}, window),
		flights: make(chan *flight, window),
		end:     make(chan struct{}),
		landed:  make(chan struct{}, 1),
		fewer:   make(chan struct{}, 1),
	}
	p.quota.unapplied = p.notApplied
	p.turn <- struct{}{}
	for range window {
		p.window <- struct{}{}
	}
	return p
}

// notApplied is how many of the requests admitted last the state may lack. It
// belongs to run.
func (p *proposer) notApplied() int {
	n := int(p.unapplied.Load()) + len(p.parts)
	if p.carry != nil {
		n++
	}
	return n
}

// propose has a request decided. ctx bounds the wait: what was not proposed by
// then is not done, anything else is unknown. It does not authorize.
func (p *proposer) propose(ctx context.Context, r entry.Request) (outcome, error) {
	o := &proposal{request: r, wake: make(chan struct{}, 1)}
	o.asked = &o.request
	return p.decide(ctx, o)
}

// proposePart has one part of a cut request decided. The whole comes with the first
// part, and nil with the others: the quota is asked once, about all of it, so that
// it refuses no part after another was applied.
func (p *proposer) proposePart(ctx context.Context, part entry.Request, whole *entry.Request) (outcome, error) {
	return p.decide(ctx, &proposal{request: part, asked: whole, wake: make(chan struct{}, 1)})
}

// decide is the way of one proposal.
func (p *proposer) decide(ctx context.Context, o *proposal) (outcome, error) {
	p.enqueue(o, time.Now())
	return p.wait(ctx, o)
}

// wait gives what became of a proposal that was enqueued.
func (p *proposer) wait(ctx context.Context, o *proposal) (outcome, error) {
	for o.answer.Load() != answered {
		select {
		case <-o.wake:
			continue
		case <-ctx.Done():
		case <-p.stopped():
		}
		return p.abandon(o)
	}
	return o.got, o.got.err
}

// stopped is closed when no answer can come any more.
func (p *proposer) stopped() <-chan struct{} {
	if p.config.Unsafe.BlindFutures {
		return nil
	}
	return p.end
}

// enqueue has a proposal wait for its turn, or answers at once why it may not.
func (p *proposer) enqueue(o *proposal, now time.Time) {
	o.came, o.size = now, entry.Size(&o.request)
	if err := p.queue(o); err != nil {
		o.tell(outcome{err: err})
	}
}

func (p *proposer) queue(o *proposal) error {
	if o.size > offset.MaxRequest {
		return errTooLarge
	}
	if p.waitingBytes.Add(int64(o.size)) > maxWaitingBytes {
		p.waitingBytes.Add(-int64(o.size))
		return offset.Errorf(offset.ErrBusy, "%d bytes of requests wait already; send it again later", maxWaitingBytes)
	}
	select {
	case p.in <- o:
		return nil
	default:
		p.waitingBytes.Add(-int64(o.size))
		return offset.Errorf(offset.ErrBusy, "%d requests wait already; send it again later", cap(p.in))
	}
}

// abandon ends the wait of a caller.
func (p *proposer) abandon(o *proposal) (outcome, error) {
	if o.state.CompareAndSwap(waiting, dropped) {
		if closed(p.end) {
			return outcome{}, offset.Errorf(offset.ErrNotLeader, "this member stopped before the request was proposed")
		}
		return outcome{}, errDropped
	}
	if planted.Is(planted.DeadlineAsRefusal) {
		return outcome{}, errDropped
	}
	if o.answer.Load() == answered {
		return o.got, o.got.err
	}
	return outcome{}, offset.Errorf(offset.ErrOutcomeUnknown, "the deadline passed after the request was proposed; sending the same again is safe")
}

// run proposes until ctx is done.
func (p *proposer) run(ctx context.Context) {
	defer close(p.flights)
	for p.gather(ctx) && p.acquire(ctx) {
		p.seal()
		p.turn <- struct{}{}
	}
	if p.carry != nil {
		p.parts = append(p.parts, p.carry)
	}
	p.refuse(offset.Errorf(offset.ErrNotLeader, "this member is stopping"))
}

// acquire waits for the turn, which the caller gives back.
func (p *proposer) acquire(ctx context.Context) bool {
	select {
	case <-p.turn:
		return true
	case <-ctx.Done():
		return false
	}
}

// seal proposes the entry. It holds the turn and a token of the window, which
// resolve gives back.
func (p *proposer) seal() {
	parts := p.parts
	if !p.leads() {
		p.window <- struct{}{}
		p.refuse(offset.ErrNotLeader)
		return
	}
	data := p.builder.Seal(p.config.Clock().UnixMilli())
	if _, err := p.check.Decode(data); err != nil {
		p.window <- struct{}{}
		p.config.Logger.Error("an entry could not be read back and was not proposed", "requests", len(parts), "error", err)
		p.refuse(offset.Errorf(offset.ErrInvalid, "the request can't be read back from its entry: %v", err))
		return
	}
	p.counts.proposed(len(parts), len(data))
	if planted.Is(planted.EarlyAck) {
		p.acknowledge(parts)
	}
	p.flying.Add(int64(len(parts)))
	p.unapplied.Add(int64(len(parts)))
	f := &flight{parts: parts, proposed: time.Now(), bytes: len(data), beside: cap(p.window) - len(p.window)}
	f.future = p.apply(data)
	p.flights <- f
	p.parts = nil
}

// refuse answers the whole of the entry being built.
func (p *proposer) refuse(err error) {
	for _, o := range p.parts {
		o.tell(outcome{err: err})
	}
	p.parts = nil
}

// resolve answers the callers of each entry in the order of the log, until run
// has ended and nothing is in flight.
func (p *proposer) resolve() {
	for f := range p.flights {
		err := p.await(f)
		answered := time.Now()
		p.unapplied.Add(-int64(len(f.parts)))
		p.answer(f, err)
		p.flying.Add(-int64(len(f.parts)))
		p.window <- struct{}{}
		note(p.landed)
		note(p.fewer)
		if err == nil {
			p.account(f, answered)
		}
	}
}

// note fills a slot, unless it is full.
func note(slot chan<- struct{}) {
	select {
	case slot <- struct{}{}:
	default:
	}
}

func (p *proposer) await(f *flight) error {
	if p.config.Unsafe.BlindFutures {
		return f.future.Error()
	}
	return awaitUntil(p.end, f.future)
}

func (p *proposer) answer(f *flight, err error) {
	p.watch.saw(err)
	if err = proposed(err); err != nil {
		p.fail(f, err)
		return
	}
	got, ok := f.future.Response().(*fsm.Answers)
	switch {
	case !ok:
		p.fail(f, offset.Errorf(offset.ErrOutcomeUnknown, "the entry was committed, and this member has no answer to it"))
	case got.Err != nil:
		p.fail(f, offset.Errorf(offset.ErrOutcomeUnknown, "the entry was committed, but this member could not apply it: %v", got.Err))
	case len(got.Requests) != len(f.parts):
		p.fail(f, offset.Errorf(offset.ErrOutcomeUnknown, "the entry was committed, but has %d answers for %d requests", len(got.Requests), len(f.parts)))
	default:
		for i, o := range f.parts {
			o.tell(outcome{answer: got.Requests[i], index: got.Index, lastAct: got.LastAct})
		}
	}
}

func (p *proposer) fail(f *flight, err error) {
	for _, o := range f.parts {
		o.tell(outcome{err: err})
	}
}

// stop takes the turn, so that nothing is proposed, and waits until nothing is
// in flight. resume undoes it; it must be called even after an error. One
// caller at a time.
func (p *proposer) stop(ctx context.Context) (resume func(), err error) {
	if !p.acquire(ctx) {
		return func() {}, ctx.Err()
	}
	resume = func() { p.turn <- struct{}{} }
	for p.flying.Load() > 0 {
		select {
		case <-p.landed:
		case <-ctx.Done():
			return resume, ctx.Err()
		}
	}
	return resume, nil
}
