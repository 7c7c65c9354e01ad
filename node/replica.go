package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// shutdownTime bounds how long the end of raft is waited for.
const shutdownTime = 5 * time.Second

// replica is one life of raft over the member's disk, with everything that
// needs it. A node has one after another; only the newest is used.
type replica struct {
	config  *Config
	allow   func(p auth.Principal, a auth.Action, s auth.Scope, what string) error // the node's
	id      string
	cluster offset.ClusterID
	counts  *counters
	began   time.Time

	disk    *store.Store
	stored  marks // when entries were on this disk
	peer    *peer.Peer
	machine *machine
	stream  *stream
	trans   *transport
	acks    *acks
	log     *raftLog
	raft    *raft.Raft

	lead        *leadership
	proposer    *proposer
	here, there *rounds
	lastCommand lastCommand // of here's goroutine
	notes       *notes
	watch       *transferWatch
	snap        snapshotState
	space       space

	// alarm: states differ and none has a majority.
	alarm atomic.Bool
	// caughtUp is closed once this life has applied what its first contact
	// with a leader named.
	caughtUp chan struct{}

	transferring sync.Mutex // held during a transfer
	changing     sync.Mutex // held during a change of the members
	reloading    sync.Mutex // held while raft's configuration is changed

	failing sync.Once
	failed  chan struct{} // closed by fail
	cause   error         // set before failed is closed

	cancel context.CancelFunc // ends all goroutines of group
	group  sync.WaitGroup
}

// openReplica starts raft, which restores the newest snapshot and reads the
// log; nothing of ours runs yet.
func openReplica(n *Node, disk *store.Store) (*replica, error) {
	c := &n.config
	r := &replica{
		config: c, allow: n.allow, id: n.identity.Load().id(), cluster: n.identity.Load().cluster(), counts: &n.counts, began: time.Now(),
		disk: disk, peer: n.peer, acks: newAcks(), log: newRaftLog(c.Logger.Named("raft")), notes: newNotes(c.Unsafe.Digest),
		caughtUp: make(chan struct{}), failed: make(chan struct{}),
	}
	r.machine = &machine{FSM: fsm.New(fsm.Config{
		Cluster: r.cluster, Audit: n.auditing.Offer, Checkpoint: r.notes.note, Logger: c.Logger.Named("fsm"),
	})}
	r.stream = newStream(n.peer, c.AdvertisePeer)
	r.trans = newTransport(c, r.stream, r.acks, r.log)
	notify := make(chan bool, 64)
	var err error
	r.raft, err = newRaft(raftConfig(c, r.id, notify, r.log), r.machine, timedLog{disk.Log(), &r.stored}, disk.Stable(), disk.Snapshots(), r.trans)
	if err != nil {
		r.trans.Close()
		return nil, startError(err, r.machine, disk)
	}
	r.trans.raft.Store(r.raft)
	if _, size, err := r.newest(); err == nil {
		r.snap.size.Store(size)
	}
	r.wire(notify)
	return r, nil
}

// newRaft turns raft's panic over an entry that can't be read into an error. It
// happens before raft has started anything of its own.
func newRaft(c *raft.Config, f raft.FSM, l raft.LogStore, s raft.StableStore, snaps raft.SnapshotStore, t raft.Transport) (r *raft.Raft, err error) {
	defer func() {
		if p := recover(); p != nil {
			if e, ok := p.(error); ok {
				err = fmt.Errorf("starting raft: %w", e)
				return
			}
			err = offset.Errorf(offset.ErrDamaged, "starting raft: %v", p)
		}
	}()
	return raft.NewRaft(c, f, l, s, snaps, t)
}

// startError prefers the error of the FSM, which names a level or a damage, and that
// of the store, which names the file of a snapshot that no older one could stand in
// for: raft's own names neither.
func startError(err error, m *machine, disk *store.Store) error {
	if m.Err() != nil {
		return &Stopped{ExitDamaged, m.Err()}
	}
	if why := m.refused.Load(); why != nil && errors.Is(*why, offset.ErrLevel) {
		return &Stopped{ExitDamaged, fmt.Errorf("%w; nothing was changed, start a newer version of tidemarkd here", *why)}
	}
	if damage := disk.Damage(); damage != nil {
		return &Stopped{ExitDamaged, damage}
	}
	return &Stopped{ExitDamaged, offset.Errorf(offset.ErrDamaged, "raft did not start: %v", err)}
}

// wire makes the parts that work for raft.
func (r *replica) wire(notify chan bool) {
	limit := 3 * r.config.Timers.Election
	r.watch = &transferWatch{limit: limit, stuck: func(since time.Duration) {
		if !r.config.Unsafe.RawTransfer {
			r.fail(errRestart{"a transfer of leadership has not come to an end for " + since.String()})
		}
	}}
	r.lead = newLeadership(notify)
	r.lead.raft, r.lead.duty, r.lead.barrier = r.raft, r.duty, r.watch.saw
	r.proposer = newProposer(r.config, r.cluster, r.machine, r.counts)
	r.proposer.watch, r.proposer.leads, r.proposer.course = r.watch, r.lead.leads, r.course
	r.proposer.quota.term = r.lead.readyTerm
	r.proposer.apply = func(data []byte) raft.ApplyFuture { return r.raft.Apply(data, 0) }
	r.here = newRounds(r.config.Limits.Reads, limit, r.counts, r.confirmHere)
	r.there = newRounds(r.config.Limits.Reads, limit, r.counts, r.confirmThere)
}

// fail ends this life with a cause; the first one counts.
func (r *replica) fail(cause error) {
	r.failing.Do(func() {
		r.cause = cause
		close(r.failed)
	})
}

// start runs what works for raft.
func (r *replica) start() {
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	for _, run := range []func(context.Context){
		r.lead.drain, r.lead.follow, r.proposer.run, func(context.Context) { r.proposer.resolve() },
		r.here.run, r.there.run, r.catchUp, r.announce, r.compare, r.snapshots, r.watchSpace, r.guard, r.noticeSilence,
	} {
		r.group.Go(func() { run(ctx) })
	}
}

// duty is what a leader does for as long as its tenure lasts.
func (r *replica) duty(ctx context.Context, term uint64) {
	r.config.Logger.Info("this member leads and is ready", "term", term)
	r.moveHere(ctx)
	r.tidy(ctx)
	r.checkpoints(ctx)
}

// catchUp waits until this life has applied what a leader had when it was
// first reached. From then on its state may be read locally.
func (r *replica) catchUp(ctx context.Context) {
	for ctx.Err() == nil {
		if r.caught(ctx) {
			close(r.caughtUp)
			return
		}
		pause(ctx, 20*time.Millisecond)
	}
}

func (r *replica) caught(ctx context.Context) bool {
	bound, cancel := context.WithTimeout(ctx, 5*r.config.Timers.Election)
	defer cancel()
	join := r.there.join
	if r.lead.leads() {
		join = r.here.join
	}
	index, err := join(bound)
	return err == nil && r.machine.Wait(ctx, index) == nil
}

// run serves until ctx is done, when it hands leadership over if it can, or
// until the life fails, whose cause it returns. stop must follow.
func (r *replica) run(ctx context.Context) error {
	r.start()
	if err := r.fitsAlone(); err != nil {
		return err
	}
	r.tellMisplaced()
	select {
	case <-ctx.Done():
		r.leave()
		return nil
	case <-r.failed:
		return r.cause
	}
}

// leave hands leadership over, and has what was proposed come to its end.
func (r *replica) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*r.drainTime())
	defer cancel()
	if !r.lead.leads() {
		return
	}
	if _, err := r.candidates(""); errors.Is(err, offset.ErrNotFound) {
		r.config.Logger.Debug("there is nobody to hand leadership over to")
	} else if _, err := r.handOver(ctx, ""); err != nil {
		r.config.Logger.Info("leadership is not handed over", "reason", err)
	}
	if _, err := r.proposer.stop(ctx); err != nil {
		r.config.Logger.Warn("what was proposed did not come to an end; its outcome is unknown", "error", err)
	}
}

// stop ends raft and all goroutines: first the snapshot that is being written, which
// raft would wait for, and the connections, then raft, then whoever waits for it. A
// disk that hangs does not hold it up for ever.
func (r *replica) stop() {
	r.cancel()
	r.log.quiet.Store(true)
	r.disk.Abandon()
	down := r.raft.Shutdown()
	r.trans.Close()
	end := make(chan struct{})
	timer := time.AfterFunc(shutdownTime, func() { close(end) })
	if err := awaitUntil(end, down); err != nil {
		r.config.Logger.Error("raft did not end", "within", shutdownTime)
	}
	timer.Stop()
	close(r.proposer.end)
	r.group.Wait()
	r.snap.mu.Lock() // until the snapshot that was being taken has ended; there is no other
}
