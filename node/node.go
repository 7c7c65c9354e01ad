package node

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/fsm"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// auditQueue is how many audit lines may wait for the disk.
const auditQueue = 4096

// Node is one member. It implements the Service of transport/server; its
// methods may be called from any goroutine, before, during and after Run.
type Node struct {
	config Config
	counts counters

	// Set by run, before anything that may look at them is started.
	peer     *peer.Peer
	auditing *fsm.AuditQueue
	denials  *denials

	identity   atomic.Pointer[identity]
	founding   atomic.Pointer[founding]
	replica    atomic.Pointer[replica]
	quarantine atomic.Pointer[quarantine]
	// phase says what the node does while it has no replica.
	phase atomic.Pointer[string]
	// stopping: the last life of raft is at its end, and no other has begun.
	stopping atomic.Bool
	ended    atomic.Pointer[error] // what Run returned

	mu      sync.Mutex
	running bool               // guarded by mu
	closed  bool               // guarded by mu
	cancel  context.CancelFunc // guarded by mu; set while running
	done    chan struct{}      // closed when Run has returned
}

// New returns a member. It does no I/O. The error wraps offset.ErrInvalid.
func New(c Config) (*Node, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	n := &Node{config: c.withDefaults(), done: make(chan struct{}), auditing: fsm.NewAuditQueue(auditQueue)}
	n.denials = newDenials(n.auditing.Offer, denialEvery)
	n.say("this node has not been started")
	return n, nil
}

func (n *Node) say(phase string) { n.phase.Store(&phase) }

// Run opens the data folder, founds or restarts the member, and serves until
// ctx is done or a cause ends it; then it hands leadership over if it can,
// closes everything, and returns nil or that cause (see ExitCode). It is
// called once.
func (n *Node) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n.mu.Lock()
	if n.running || n.closed {
		n.mu.Unlock()
		return offset.Errorf(offset.ErrClosed, "a node runs once")
	}
	n.running, n.cancel = true, cancel
	n.mu.Unlock()
	defer close(n.done)
	err := n.run(ctx)
	n.ended.Store(&err)
	n.say("this node has stopped")
	return err
}

// Close ends Run, if it runs, as the end of its context would, and waits for it.
func (n *Node) Close() error {
	n.mu.Lock()
	n.closed = true
	running, cancel := n.running, n.cancel
	n.mu.Unlock()
	if !running {
		return n.config.PeerListener.Close()
	}
	cancel()
	<-n.done
	return nil
}

// run starts in the order: folder and identity, disk, audit, peer port,
// founding, raft; and stops in the opposite one.
func (n *Node) run(ctx context.Context) (err error) {
	c := &n.config
	defer c.PeerListener.Close()
	n.say("this node is starting: opening its data folder")
	if err := checkAddresses(c.Name, c.PeerListener.Addr().String(), c.AdvertisePeer, c.InitialCluster); err != nil {
		return err
	}
	id, err := openIdentity(c.Dir, c.Name, raftFolder, auditFile, quarantineFile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, id.close()) }()
	n.identity.Store(id)
	marked, err := readQuarantine(c.Dir)
	if err != nil {
		return err
	}
	lines, err := openAudit(c.Dir, c.Logger, func() { n.counts.auditDropped.Add(1) })
	if err != nil {
		return err
	}
	defer lines.close()
	if marked != nil {
		return n.withPort(ctx, lines, nil, func(ctx context.Context) error { return n.rest(ctx, marked) })
	}
	disk, err := n.openDisk()
	if err != nil {
		return err
	}
	return n.withPort(ctx, lines, disk, func(ctx context.Context) error { return n.serve(ctx, disk) })
}

// raftFolder is where raft's files are, below the data folder.
const raftFolder = "raft"

func (n *Node) openDisk() (*store.Store, error) {
	id := n.identity.Load()
	return store.Open(store.Config{
		Dir: filepath.Join(n.config.Dir, raftFolder), Member: id.id(), MustExist: id.started(), LogStore: n.config.LogStore,
		Logger: n.config.Logger.Named("store"), OnWrite: n.wrote, Unsafe: n.config.Unsafe.Store,
	})
}

// wrote is store.Config's OnWrite.
func (n *Node) wrote(took time.Duration, bytes int) {
	n.counts.wrote(took, bytes)
	if n.config.OnWrite != nil {
		n.config.OnWrite(took, bytes)
	}
}

// withPort runs do, which closes disk, while the peer port and the audit log work. The
// port ends first, so that nobody is answered by a member that has failed.
func (n *Node) withPort(ctx context.Context, lines *audit, disk *store.Store, do func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := n.openPort(disk); err != nil {
		if disk != nil {
			err = errors.Join(err, disk.Close())
		}
		return err
	}
	background, end := context.WithCancel(context.Background())
	var group sync.WaitGroup
	defer group.Wait()
	defer end()
	group.Go(func() { n.auditing.Run(background, lines.write) })
	var failed error
	group.Go(func() {
		if err := n.peer.Run(background); err != nil && ctx.Err() == nil {
			failed = err
			cancel()
		}
	})
	group.Go(func() { n.accept() })
	err := do(ctx)
	n.denials.close()
	end()
	group.Wait()
	return errors.Join(err, failed)
}

// openPort makes the peer port and the founding that answers on it.
func (n *Node) openPort(disk *store.Store) error {
	c, id := &n.config, n.identity.Load()
	run := peer.NewRunID()
	empty := false
	if disk != nil {
		has, err := raft.HasExistingState(disk.Log(), disk.Stable(), disk.Snapshots())
		if err != nil {
			return err
		}
		empty = !has
	}
	f := newFounding(foundingConfig{
		identity: id, initial: c.InitialCluster, peer: c.AdvertisePeer, api: c.AdvertiseAPI, empty: empty, run: run,
		meet:   func(addr string) meeter { return n.peer.To("", addr) },
		listed: n.lists, level: n.level, logger: c.Logger.Named("founding"),
	})
	p, err := peer.New(peer.Config{
		Listener: c.PeerListener, Dial: c.Dial, TLS: c.PeerTLS,
		Stranger: func(from string, err error) { n.Refused(from, "connection of a member", err) },
		ID:       id.id(), Cluster: id.cluster, Adopt: f.adopt, Level: n.level,
		Handler: port{n}, Logger: c.Logger.Named("peer"), Run: run, KeepAlive: peerKeepAlive(c.Timers),
	})
	if err != nil {
		return err
	}
	n.peer = p
	n.founding.Store(f)
	return nil
}

// peerKeepAlive is after how long a silent connection for calls is asked for a
// sign of life, and how long that is waited for: what raft takes for silence,
// twice, so that one that died unnoticed keeps no call for much longer than an
// election takes.
func peerKeepAlive(t Timers) time.Duration { return max(2*t.Election, 500*time.Millisecond) }

// lists reports whether the newest configuration here has the member.
func (n *Node) lists(id string) bool {
	r := n.replica.Load()
	return r != nil && r.listed(id)
}

// level is the format level of the state, 0 while there is none.
func (n *Node) level() uint8 {
	if r := n.replica.Load(); r != nil {
		return r.machine.Root().Level()
	}
	return 0
}

// accept hands raft's connections to the life of raft that there is.
func (n *Node) accept() {
	for {
		c, err := n.peer.AcceptRaft()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			n.config.Logger.Warn("no connection was accepted", "error", err)
			continue
		}
		if r := n.replica.Load(); r != nil {
			r.stream.offer(c)
		} else {
			c.Close()
		}
	}
}

// rest is all that a member under quarantine does: it says why it does nothing, and
// marks its folder, if that could not be done before.
func (n *Node) rest(ctx context.Context, q *quarantine) error {
	n.quarantine.Store(q)
	n.config.Logger.Error("under quarantine", "reason", q)
	n.mark(ctx, q)
	<-ctx.Done()
	return nil
}

// serve brings the member to its cluster, and lives one life of raft after
// another until ctx is done or a cause ends it.
func (n *Node) serve(ctx context.Context, disk *store.Store) error {
	n.say("this node is starting: it waits for its cluster")
	if err := n.found(ctx, disk); err != nil {
		err = errors.Join(err, disk.Close())
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	for {
		err := n.live(ctx, disk)
		var q *quarantine
		switch {
		case err == nil:
			return nil
		case errors.As(err, &q):
			return n.rest(ctx, q)
		case !again(err):
			return err
		}
		n.config.Logger.Warn("starting raft anew", "reason", err)
		n.counts.restarts.Add(1)
		pause(ctx, 100*time.Millisecond)
		if disk, err = n.openDisk(); err != nil {
			return err
		}
	}
}

// again reports whether a new life of raft cures the cause.
func again(err error) bool {
	var failure *store.Failure
	return errors.As(err, new(errRestart)) || errors.As(err, &failure) && failure.Cause == store.CauseConflict
}

// found waits until the member belongs to a cluster, and gives raft its first
// configuration where this member is a founder.
func (n *Node) found(ctx context.Context, disk *store.Store) error {
	if err := n.founding.Load().run(ctx); err != nil {
		return err
	}
	id := n.identity.Load()
	if id.started() {
		return nil
	}
	if founders := id.founders(); len(founders) > 0 {
		var first raft.Configuration
		for _, f := range founders {
			first.Servers = append(first.Servers, raft.Server{Suffrage: raft.Voter, ID: raft.ServerID(f.ID), Address: raft.ServerAddress(f.Peer)})
		}
		if err := bootstrap(raftConfig(&n.config, id.id(), nil, n.config.Logger.Named("raft")), disk, first); err != nil {
			return err
		}
	}
	return id.markStarted()
}

// bootstrap gives raft its first configuration, also after a process was killed
// while it did so: the library writes the term and then the entry, and takes the
// term alone for a member that has run, which would be without a configuration and
// wait for ever. Raft has not run in this folder, so nothing else is there.
func bootstrap(c *raft.Config, disk *store.Store, first raft.Configuration) error {
	err := raft.BootstrapCluster(c, disk.Log(), disk.Stable(), disk.Snapshots(), nil, first)
	if !errors.Is(err, raft.ErrCantBootstrap) {
		return err
	}
	last, err := disk.Log().LastIndex()
	if err != nil || last > 0 {
		return err
	}
	return disk.Log().StoreLog(&raft.Log{Index: 1, Term: 1, Type: raft.LogConfiguration, Data: raft.EncodeConfiguration(first)})
}

// live is one life of raft. It closes disk.
func (n *Node) live(ctx context.Context, disk *store.Store) error {
	n.say("this node is starting: it restores its state")
	r, err := openReplica(n, disk)
	if err != nil {
		return errors.Join(err, disk.Close())
	}
	n.stopping.Store(false)
	n.replica.Store(r)
	err = r.run(ctx)
	n.say("this node is stopping")
	n.stopping.Store(true)
	n.replica.Store(nil) // before all else: a member that has failed answers nobody
	r.stop()
	if closing := disk.Close(); err == nil {
		err = closing
	}
	return err
}

// bounded gives a context without a deadline the default one.
func (n *Node) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, n.config.Timeout)
}

// serving returns the present life of raft, or why there is none.
func (n *Node) serving() (*replica, error) {
	if r := n.replica.Load(); r != nil {
		return r, nil
	}
	if q := n.quarantine.Load(); q != nil {
		return nil, offset.Errorf(offset.ErrNotReady, "%v", q)
	}
	return nil, offset.Errorf(offset.ErrNotReady, "%s", *n.phase.Load())
}

// Ready returns nil, or why this node does not serve; it never touches the
// disk and never waits.
func (n *Node) Ready() error {
	r, err := n.serving()
	if err != nil {
		return err
	}
	if !closed(r.caughtUp) {
		return offset.Errorf(offset.ErrNotReady, "this node has applied index %d and has not caught up with a leader since it started", r.machine.Index())
	}
	if _, id := r.raft.LeaderWithID(); id == "" {
		return offset.Errorf(offset.ErrNoLeader, "this node knows no leader")
	}
	return nil
}

// Live returns nil, or why this process should be replaced; likewise.
func (n *Node) Live() error {
	if err := n.ended.Load(); err != nil && *err != nil {
		return *err
	}
	return nil
}
