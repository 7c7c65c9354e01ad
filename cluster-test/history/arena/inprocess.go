package arena

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// ErrCannot: this arena has no such fault.
var ErrCannot = errors.New("not in this arena")

// Clients is the host of the network inside a process that clients are on.
const Clients = "clients"

// inProcess is a cluster inside this process, over a network in memory. Its
// nodes are asked over their API.
type inProcess struct {
	c     *served.Cluster
	knobs sync.Map // of *knobs by name

	mu      sync.Mutex
	nodes   map[string]*wired // guarded by mu, as is members, which a fault can add to
	members []*incluster.Member
}

// InProcess founds a cluster of n members inside this process, which is ended
// with the test. options change their configuration.
func InProcess(tb testing.TB, n int, options ...incluster.Option) Arena {
	tb.Helper()
	a := &inProcess{nodes: map[string]*wired{}}
	a.c = served.Start(tb, n, append(options, a.fit)...)
	a.c.Outside = append(a.c.Outside, Clients)
	a.members = slices.Clone(a.c.Members)
	tb.Cleanup(a.hangUp)
	return a
}

// knobs are what can be made wrong with a member from outside.
type knobs struct {
	skew   atomic.Int64 // of its clock
	astray atomic.Bool  // its digests
}

// digestsEvery is how many entries lie between two comparisons of digests.
const digestsEvery = 100

// fit gives a member knobs.
func (a *inProcess) fit(m *incluster.Member) {
	k := new(knobs)
	m.Config.Clock = func() time.Time { return time.Now().Add(time.Duration(k.skew.Load())) }
	m.Config.Checkpoints.Entries = digestsEvery
	m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
		if k.astray.Load() {
			d[0]++
		}
		return d
	}
	a.knobs.Store(m.Name, k)
}

func (a *inProcess) Skew(name string, d time.Duration) error {
	return a.turn(name, func(k *knobs) { k.skew.Store(int64(d)) })
}

func (a *inProcess) Astray(name string, on bool) error {
	return a.turn(name, func(k *knobs) { k.astray.Store(on) })
}

func (a *inProcess) turn(name string, f func(*knobs)) error {
	k, ok := a.knobs.Load(name)
	if !ok {
		return ErrCannot
	}
	f(k.(*knobs))
	return nil
}

func (a *inProcess) hangUp() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.nodes {
		n.close()
	}
}

func (a *inProcess) member(name string) *incluster.Member {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.members {
		if m.Name == name {
			return m
		}
	}
	panic("no member " + name) // a mistake of the caller
}

func (a *inProcess) Names() (list []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, m := range a.members {
		list = append(list, m.Name)
	}
	return list
}

func (a *inProcess) Node(name string) Node {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.nodes[name]
	if n == nil {
		n = newWired(name+":7411", a.c.Net.Host(Clients).Dial)
		a.nodes[name] = n
	}
	return n
}

func (a *inProcess) Running(name string) bool { return a.member(name).Running() }

func (a *inProcess) Kill(name string) error {
	a.member(name).Kill()
	return nil
}

func (a *inProcess) Stop(name string) error { return a.member(name).Stop() }

func (a *inProcess) Start(name string) error {
	a.member(name).Start()
	return nil
}

func (a *inProcess) Pause(string) error  { return ErrCannot }
func (a *inProcess) Resume(string) error { return ErrCannot }

func (a *inProcess) Add() (string, error) {
	m := a.c.Add(a.fit)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.members = append(a.members, m)
	return m.Name, nil
}

func (a *inProcess) API(name string) string { return a.member(name).Config.AdvertiseAPI }

func (a *inProcess) Peer(name string) string { return a.member(name).Config.AdvertisePeer }

func (a *inProcess) Wipe(name string) error {
	if a.Running(name) {
		return fmt.Errorf("wiping %s: it runs", name)
	}
	a.member(name).Config.InitialCluster = nil
	return os.RemoveAll(a.member(name).Dir)
}

func (a *inProcess) Folder(name string) string { return a.member(name).Dir }
func (a *inProcess) Net() *memnet.Network      { return a.c.Net }

func (a *inProcess) Close() error {
	a.hangUp()
	a.c.Stop()
	return nil
}

// Inside makes each node of an arena inside this process be asked without its
// API, which is several times as fast; network faults between clients and
// nodes do not show then. Elsewhere it returns the arena as it is.
func Inside(a Arena) Arena {
	if in, ok := a.(*inProcess); ok {
		return direct{in}
	}
	return a
}

type direct struct{ *inProcess }

func (d direct) Node(name string) Node { return inside{d.inProcess, name} }

// inside is a member asked by its methods.
type inside struct {
	a    *inProcess
	name string
}

// caller is who asks.
var caller = auth.Principal{Name: "history", From: "inside"}

var errGone = offset.Errorf(offset.ErrUnreachable, "the member does not run")

func (i inside) member() (*incluster.Member, error) {
	m := i.a.member(i.name)
	if !m.Running() {
		return nil, errGone
	}
	return m, nil
}

func (i inside) Commit(ctx context.Context, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	m, err := i.member()
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return m.Node().Commit(ctx, caller, c)
}

func (i inside) Set(ctx context.Context, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	m, err := i.member()
	if err != nil {
		return offset.Verdict{}, offset.Meta{}, err
	}
	return m.Node().Set(ctx, caller, s)
}

func (i inside) Act(ctx context.Context, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	m, err := i.member()
	if err != nil {
		return offset.ActResult{}, offset.Meta{}, err
	}
	return m.Node().Act(ctx, caller, a)
}

func (i inside) Fetch(ctx context.Context, f *offset.Fetch) ([]offset.KeyState, offset.Meta, error) {
	m, err := i.member()
	if err != nil {
		return nil, offset.Meta{}, err
	}
	return m.Node().Fetch(ctx, caller, f)
}

func (i inside) List(ctx context.Context, l *offset.List) (offset.Page, error) {
	m, err := i.member()
	if err != nil {
		return offset.Page{}, err
	}
	return m.Node().List(ctx, caller, l)
}

func (i inside) Status(ctx context.Context) (offset.Status, error) {
	m, err := i.member()
	if err != nil {
		return offset.Status{}, err
	}
	return m.Node().Status(ctx, caller, false)
}

func (i inside) AddMember(ctx context.Context, id, address string) error {
	m, err := i.member()
	if err == nil {
		_, err = m.Node().AddMember(ctx, caller, id, address)
	}
	return err
}

func (i inside) PromoteMember(ctx context.Context, id string) error {
	m, err := i.member()
	if err == nil {
		_, err = m.Node().PromoteMember(ctx, caller, id)
	}
	return err
}

func (i inside) RemoveMember(ctx context.Context, id string) error {
	m, err := i.member()
	if err == nil {
		_, err = m.Node().RemoveMember(ctx, caller, id)
	}
	return err
}

func (i inside) Transfer(ctx context.Context, to string) (string, error) {
	m, err := i.member()
	if err != nil {
		return "", err
	}
	leader, _, err := m.Node().Transfer(ctx, caller, to)
	return leader, err
}

func (i inside) Snapshot(ctx context.Context) (uint64, error) {
	m, err := i.member()
	if err != nil {
		return 0, err
	}
	index, _, _, err := m.Node().Snapshot(ctx, caller)
	return index, err
}
