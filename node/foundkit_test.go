package node

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
	"github.com/tidemark-mq/tidemark/transport/peer"
)

// founderNames are those of a trial, in the order in which they are listed:
// not that of their names, which decides who draws.
var founderNames = []string{"b", "a", "c"}

// trial is a set of nodes that found a cluster over an in-memory network, with
// real peers and real folders, and without raft.
type trial struct {
	t    *testing.T
	net  *memnet.Network
	dirs string
	// crash is asked before and after each step of each node, "found b" and
	// "founded b" and so on; true kills the node there. Guarded by mu.
	mu    sync.Mutex
	crash func(name, step string) bool
}

func newTrial(t *testing.T) *trial {
	const seed = 31
	t.Logf("seed %d", seed)
	return &trial{t: t, net: memnet.New(seed), dirs: t.TempDir()}
}

func (tr *trial) initial() (list []Founder) {
	for _, name := range founderNames {
		list = append(list, Founder{Name: name, Peer: name + ":7412"})
	}
	return list
}

// trialNode is one process of a trial.
type trialNode struct {
	*founding
	tr   *trial
	name string
	peer *peer.Peer
	kill context.CancelFunc
	dead atomic.Bool   // it was killed
	done chan struct{} // closed once run has ended
	err  error         // what run returned; after done
	lvl  atomic.Uint32 // what level says, once raft would run
	gone sync.WaitGroup
}

// start runs a node on the host of its name.
func (tr *trial) start(name string, change ...func(*foundingConfig)) *trialNode {
	tr.t.Helper()
	return tr.startOn(name, name, change...)
}

// startOn runs a node over the folder of its name. change may alter what it is
// started with.
func (tr *trial) startOn(host, name string, change ...func(*foundingConfig)) *trialNode {
	tr.t.Helper()
	id, err := openIdentity(filepath.Join(tr.dirs, name), name, "raft")
	if err != nil {
		tr.t.Fatal(err)
	}
	l, err := tr.net.Host(host).Listen(":7412")
	if err != nil {
		tr.t.Fatal(err)
	}
	n := &trialNode{tr: tr, name: name, done: make(chan struct{})}
	c := foundingConfig{
		identity: id, initial: tr.initial(), peer: name + ":7412", api: name + ":7411", empty: true, run: peer.NewRunID(),
		level: func() uint8 { return uint8(n.lvl.Load()) },
		listed: func(id string) bool {
			return slices.ContainsFunc(n.identity.founders(), func(v peer.Founder) bool { return v.ID == id })
		},
		meet: func(addr string) meeter { return stepper{n, addr, n.peer.To("", addr)} },
	}
	for _, f := range change {
		f(&c)
	}
	n.founding = newFounding(c)
	n.peer, err = peer.New(peer.Config{
		Listener: l, Dial: tr.net.Host(host).Dial, ID: c.identity.id(), Cluster: c.identity.cluster, Adopt: n.adopt,
		Level: n.level, Handler: trialHandler{n: n}, Run: c.run,
	})
	if err != nil {
		tr.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	n.kill = sync.OnceFunc(func() { n.dead.Store(true); tr.net.Host(host).Down(); cancel() })
	n.gone.Go(func() { n.peer.Run(ctx) }) // ends with an error where it is killed
	n.gone.Go(func() {
		defer close(n.done)
		n.err = n.run(ctx)
	})
	tr.t.Cleanup(n.stop)
	return n
}

// stop ends the process and frees its folder.
func (n *trialNode) stop() {
	n.kill()
	n.gone.Wait()
	n.identity.close()
}

// at is a step: it kills the process if the trial wants that.
func (n *trialNode) at(step string) error {
	n.tr.mu.Lock()
	kill := n.tr.crash != nil && n.tr.crash(n.name, step)
	n.tr.mu.Unlock()
	if kill {
		n.kill()
		return errors.New("killed")
	}
	return nil
}

// stepper says which step comes.
type stepper struct {
	n    *trialNode
	addr string
	to   meeter
}

func (s stepper) Hello(ctx context.Context) (peer.Hello, error) {
	if err := s.n.at("hello " + s.addr); err != nil {
		return peer.Hello{}, err
	}
	return s.to.Hello(ctx)
}

func (s stepper) Found(ctx context.Context, f peer.Founding) error {
	if err := s.n.at("found " + s.addr); err != nil {
		return err
	}
	if err := s.to.Found(ctx, f); err != nil {
		return err
	}
	return s.n.at("founded " + s.addr)
}

// trialHandler answers Hello and Found; the rest is not there.
type trialHandler struct {
	peer.Handler
	n *trialNode
}

func (h trialHandler) Hello(_ context.Context, from string) (peer.Hello, error) {
	return h.n.hello(from), nil
}

func (h trialHandler) Found(ctx context.Context, from string, f peer.Founding) error {
	if err := h.n.at("store"); err != nil {
		return err
	}
	if err := h.n.founding.found(ctx, from, f); err != nil {
		return err
	}
	return h.n.at("stored")
}

func (h trialHandler) Status(context.Context, auth.Principal) (offset.Status, error) {
	return offset.Status{}, offset.ErrNotReady
}

// stopCrashing lets all steps pass.
func (tr *trial) stopCrashing() {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.crash = nil
}

// allReady waits until all have their cluster, and only then starts raft in name.
func allReady(within time.Duration, nodes ...*trialNode) {
	for _, n := range nodes {
		n.tr.t.Helper()
		select {
		case <-n.done:
		case <-time.After(within):
			n.tr.t.Fatalf("%s waits for longer than %v", n.name, within)
		}
	}
	for _, n := range nodes {
		n.ready(0)
	}
}

// ready waits until run has ended without an error, and starts raft in name.
func (n *trialNode) ready(within time.Duration) {
	n.tr.t.Helper()
	select {
	case <-n.done: // also where there is no time to wait
	default:
		select {
		case <-n.done:
		case <-time.After(within):
			n.tr.t.Fatalf("%s waits for longer than %v", n.name, within)
		}
	}
	if n.err != nil {
		n.tr.t.Fatalf("%s: %v", n.name, n.err)
	}
	if err := n.identity.markStarted(); err != nil {
		n.tr.t.Fatal(err)
	}
	n.lvl.CompareAndSwap(0, 1)
}

// refused waits until run has ended with an error.
func (n *trialNode) refused(within time.Duration) error {
	n.tr.t.Helper()
	select {
	case <-n.done:
	case <-time.After(within):
		n.tr.t.Fatalf("%s waits for longer than %v", n.name, within)
	}
	if n.err == nil {
		n.tr.t.Fatalf("%s belongs to cluster %s", n.name, n.identity.cluster())
	}
	return n.err
}

// waits fails if run ends within the given time.
func (n *trialNode) waits(d time.Duration) {
	n.tr.t.Helper()
	select {
	case <-n.done:
		n.tr.t.Fatalf("%s has ended: %v, cluster %s", n.name, n.err, n.identity.cluster())
	case <-time.After(d):
	}
}
