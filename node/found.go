package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// founding brings a member to its cluster: it founds one, is founded, finds
// that it is listed, or waits to be added. FOUNDING.md says how.
//
// The peer must run meanwhile: its Handler's Hello and Found, and its Adopt,
// are those of founding.
type founding struct {
	foundingConfig
	// joined has a token once the identity has got its cluster, or failed.
	joined chan struct{}

	mu     sync.Mutex // guards what follows, and orders found, adopt and draw
	failed error      // why this member can never belong to its cluster

	// Of the goroutine of run alone.
	acknowledged map[string]bool // founders, by id, that hold the draw
	met          time.Time       // since when there has been a cluster that does not list this member
	reported     time.Time
	pause        time.Duration
	alone        bool      // nobody else is at the own address
	looked       time.Time // when that was asked last
}

// foundingConfig is what founding needs. All is required unless a default is named.
type foundingConfig struct {
	identity *identity
	// initial is Config.InitialCluster; empty: wait to be added.
	initial []Founder
	// peer and api are the advertised addresses.
	peer, api string
	// empty says that log, vote store and snapshots hold nothing.
	empty bool
	// run is the peer's RunID.
	run peer.RunID
	// meet returns the calls on whoever answers at addr: peer.Peer.To("", addr).
	meet func(addr string) meeter
	// listed reports, once raft runs, whether its configuration lists id, and
	// level gives the state's, 0 until then. Nil before: the draw counts.
	listed func(id string) bool
	level  func() uint8
	// retry is how long to wait between two rounds, at first (it grows to eight
	// times that, and restarts when something has changed), patience how long one call
	// may take, grace how long a cluster must not list this member until that
	// is final, report how long between two lines of the log. Default: 250 ms,
	// 2 s, 3 s, 10 s.
	retry, patience, grace, report time.Duration
	// logger takes what an operator should know. Default: none.
	logger hclog.Logger
}

// meeter is what can be asked of a node that belongs to no cluster yet; a
// *peer.Remote is one.
type meeter interface {
	Hello(ctx context.Context) (peer.Hello, error)
	Found(ctx context.Context, f peer.Founding) error
}

// newFounding returns a founding; it does no I/O.
func newFounding(c foundingConfig) *founding {
	def(&c.retry, 250*time.Millisecond)
	def(&c.patience, 2*time.Second)
	def(&c.grace, 3*time.Second)
	def(&c.report, 10*time.Second)
	if c.logger == nil {
		c.logger = hclog.NewNullLogger()
	}
	if c.listed == nil {
		c.listed = func(string) bool { return false }
	}
	if c.level == nil {
		c.level = func() uint8 { return 0 }
	}
	return &founding{foundingConfig: c, joined: make(chan struct{}, 1), acknowledged: make(map[string]bool)}
}

// run blocks until the member belongs to a cluster and raft may start. The
// identity says how: if it has founders and was not started, BootstrapCluster
// with them as voters, then markStarted; otherwise markStarted alone. If the
// member has been started before, run only checks that no other process has its
// identity. Errors end the node: they name the option or command that is the way
// out.
func (f *founding) run(ctx context.Context) error {
	if err := f.checkData(); err != nil {
		return err
	}
	if err := f.lookBehind(ctx); err != nil {
		return err
	}
	for {
		if err := f.lookForTwin(ctx); err != nil || f.identity.started() {
			return err
		}
		done, err := f.round(ctx)
		if done || err != nil {
			return err
		}
		f.wait(ctx)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
}

// checkData compares what the folder holds with what the identity says.
func (f *founding) checkData() error {
	id := f.identity
	switch {
	case !f.empty && id.cluster().IsZero():
		return offset.Errorf(offset.ErrDamaged,
			"raft's files in %s hold data, but %s says that %s belongs to no cluster: put the %s that belongs to them back, or start with an empty data folder", id.dir, memberFile, id.id(), memberFile)
	case f.empty && id.started() && len(id.founders()) > 0:
		return offset.Errorf(offset.ErrDamaged,
			"raft's files in %s hold nothing, but %s says that %s has run: its data is lost, and it must not vote as if it had never voted. %s", id.dir, memberFile, id.id(), f.wayBack(true))
	}
	return nil
}

// wayBack names the commands that bring in a member whose data is gone; it must
// run while it is added. emptied says that the folder must be emptied, so that
// its id will be another.
func (f *founding) wayBack(emptied bool) string {
	remove := fmt.Sprintf("A member without its data comes back as a new one. Run on any member that is up:\n  tidemark cluster remove %s --execute\n", f.name())
	if emptied {
		return remove + "then start this node again with an empty data folder, and run the command that its log names:\n  tidemark cluster add"
	}
	return remove + fmt.Sprintf("  tidemark cluster add %s %s --execute\nand have this node run, with its data folder as it is, while it is added: where nothing starts it again by itself, start it without --initial-cluster.", f.identity.id(), f.peer)
}

// lookForTwin asks who is at this member's advertised address, again until it has
// been reached once. Anyone but this process ends the start; nobody at all is
// not fatal, since a name may not be known yet.
func (f *founding) lookForTwin(ctx context.Context) error {
	if f.alone || f.peer == nowhere || !f.looked.IsZero() && time.Since(f.looked) < f.report {
		return nil
	}
	f.looked = time.Now()
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	h, err := f.meet(f.peer).Hello(ctx)
	switch {
	case err != nil:
		f.logger.Warn("this node does not reach itself at its advertised address; going on", "address", f.peer, "error", err)
		return nil
	case h.Run == f.foundingConfig.run:
		f.alone = true
		return nil
	case h.ID == f.identity.id():
		return copied(
			"another process runs at %s with the identity %s: two nodes were started with copies of one data folder; give this one an empty folder (--data) and a name of its own (--name)", f.peer, h.ID)
	}
	return offset.Errorf(offset.ErrInvalid,
		"the advertised address %s reaches %q, not this node, %s: correct --peer-advertise", f.peer, h.ID, f.identity.id())
}

// lookBehind asks the addresses that this member was at, at the founding and at
// its last start, if it is at another now: whoever answers there with its
// identity is the original of a copied data folder, or a copy. Without a network
// nobody can be asked, and what is noted stays for the next start with one.
func (f *founding) lookBehind(ctx context.Context) error {
	if f.peer == nowhere {
		return nil
	}
	for _, was := range f.identity.addresses() {
		if was == f.peer {
			continue
		}
		look, cancel := context.WithTimeout(ctx, f.patience)
		h, err := f.meet(was).Hello(look)
		cancel()
		if err == nil && h.ID == f.identity.id() && h.Run != f.foundingConfig.run {
			return copied(
				"another process runs at %s with the identity %s, and this one is at %s: two nodes were started with copies of one data folder; stop the other if this is the one that moved, or give this one an empty folder (--data) and a name of its own (--name)", was, h.ID, f.peer)
		}
	}
	return f.identity.noteAddress(f.peer)
}

// copied ends a node whose data folder, or that of another, is a copy.
func copied(format string, args ...any) error {
	return &Stopped{Code: ExitDamaged, Err: offset.Errorf(offset.ErrDenied, format, args...)}
}

// round does what can be done now; done says that raft may start.
func (f *founding) round(ctx context.Context) (done bool, err error) {
	f.mu.Lock()
	err = f.failed
	f.mu.Unlock()
	switch {
	case err != nil:
		return false, err
	case f.identity.drawing():
		return f.spread(ctx)
	case !f.identity.cluster().IsZero():
		return true, nil
	case len(f.initial) == 0:
		f.tell("waiting to be added; on any member of the cluster run: tidemark cluster add "+f.identity.id()+" "+f.peer+" --execute", nil)
		return false, nil
	}
	return f.find(ctx)
}

// wait ends after the time between two rounds, or as soon as something has
// changed from outside.
func (f *founding) wait(ctx context.Context) {
	f.pause = min(max(f.retry, 2*f.pause), 8*f.retry)
	t := time.NewTimer(f.pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-f.joined:
		f.pause = 0
	case <-ctx.Done():
	}
}

// wake has run look again at once.
func (f *founding) wake() {
	select {
	case f.joined <- struct{}{}:
	default:
	}
}

// tell writes a line to the log, once per report.
func (f *founding) tell(line string, missing []string) {
	if !f.reported.IsZero() && time.Since(f.reported) < f.report {
		return
	}
	f.reported = time.Now()
	if len(missing) == 0 {
		f.logger.Info(line)
	} else {
		f.logger.Info(line, "missing", missing)
	}
}

// others are the founders but this one.
func (f *founding) others() []Founder {
	name := f.name()
	return slices.DeleteFunc(slices.Clone(f.initial), func(o Founder) bool { return o.Name == name })
}

func (f *founding) name() string { return memberName(f.identity.id()) }

// first is the founder that draws: the first by name, so that the order in
// which each node lists them does not matter.
func (f *founding) first() string {
	return slices.MinFunc(f.initial, func(a, b Founder) int { return strings.Compare(a.Name, b.Name) }).Name
}

// reply is what one founder said in a round.
type reply struct {
	founder Founder
	hello   peer.Hello
	err     error // it said nothing
}

// ask says hello to all other founders at once.
func (f *founding) ask(ctx context.Context) []reply {
	ctx, cancel := context.WithTimeout(ctx, f.patience)
	defer cancel()
	others := f.others()
	replies := make([]reply, len(others))
	var asking sync.WaitGroup
	for i, o := range others {
		asking.Go(func() {
			h, err := f.meet(o.Peer).Hello(ctx)
			replies[i] = reply{o, h, err}
		})
	}
	asking.Wait()
	return replies
}

// check refuses a reply that no retry makes right.
func (f *founding) check(r reply) error {
	h := r.hello
	switch {
	case errors.Is(r.err, offset.ErrLevel):
		return r.err
	case r.err != nil:
		return nil
	case h.Run == f.foundingConfig.run:
		return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): the address %s of %s reaches this node itself, %s", r.founder.Peer, r.founder.Name, f.identity.id())
	case memberName(h.ID) != r.founder.Name:
		return offset.Errorf(offset.ErrInvalid, "initial cluster (--initial-cluster): the address %s of %s reaches %q", r.founder.Peer, r.founder.Name, h.ID)
	case h.Level > offset.FormatLevel:
		return tooOld(h.Level)
	case h.Cluster.IsZero() && !h.Empty:
		return offset.Errorf(offset.ErrDamaged, "%q at %s holds data but belongs to no cluster: see its own log", h.ID, r.founder.Peer)
	}
	return nil
}

// tooOld is why a node cannot be in a cluster of a newer level.
func tooOld(level uint8) error {
	return offset.Errorf(offset.ErrLevel, "the cluster uses format level %d, this build reads up to %d: start a newer version of tidemarkd", level, offset.FormatLevel)
}
