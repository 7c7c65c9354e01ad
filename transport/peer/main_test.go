package peer

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	clusterA = offset.ClusterID{0xA}
	clusterB = offset.ClusterID{0xB}
)

// fake answers what a test gives it; what it gives nothing for is ErrNotReady.
type fake struct {
	commit    func(context.Context, auth.Principal, *offset.Commits) ([]offset.Verdict, offset.Meta, error)
	set       func(context.Context, auth.Principal, *offset.Set) (offset.Verdict, offset.Meta, error)
	act       func(context.Context, auth.Principal, *offset.Act) (offset.ActResult, offset.Meta, error)
	status    func(context.Context, auth.Principal) (offset.Status, error)
	member    func(what string, p auth.Principal, id, address string) (offset.Meta, error)
	transfer  func(p auth.Principal, to string) (string, offset.Meta, error)
	level     func(p auth.Principal, level uint8) (offset.Meta, error)
	readIndex func(context.Context) (uint64, error)
	hello     func(from string) (Hello, error)
	found     func(from string, f Founding) error
	announce  func(m offset.Member) error
	digest    func(index uint64) (Checkpoint, error)
}

func (f *fake) Commit(ctx context.Context, p auth.Principal, c *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
	if f.commit == nil {
		return nil, offset.Meta{}, offset.ErrNotReady
	}
	return f.commit(ctx, p, c)
}

func (f *fake) Set(ctx context.Context, p auth.Principal, s *offset.Set) (offset.Verdict, offset.Meta, error) {
	if f.set == nil {
		return offset.Verdict{}, offset.Meta{}, offset.ErrNotReady
	}
	return f.set(ctx, p, s)
}

func (f *fake) Act(ctx context.Context, p auth.Principal, a *offset.Act) (offset.ActResult, offset.Meta, error) {
	if f.act == nil {
		return offset.ActResult{}, offset.Meta{}, offset.ErrNotReady
	}
	return f.act(ctx, p, a)
}

func (f *fake) Status(ctx context.Context, p auth.Principal) (offset.Status, error) {
	if f.status == nil {
		return offset.Status{}, offset.ErrNotReady
	}
	return f.status(ctx, p)
}

func (f *fake) change(what string, p auth.Principal, id, address string) (offset.Meta, error) {
	if f.member == nil {
		return offset.Meta{}, offset.ErrNotReady
	}
	return f.member(what, p, id, address)
}

func (f *fake) AddMember(_ context.Context, p auth.Principal, id, address string) (offset.Meta, error) {
	return f.change("add", p, id, address)
}

func (f *fake) PromoteMember(_ context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return f.change("promote", p, id, "")
}

func (f *fake) RemoveMember(_ context.Context, p auth.Principal, id string) (offset.Meta, error) {
	return f.change("remove", p, id, "")
}

func (f *fake) Transfer(_ context.Context, p auth.Principal, to string) (string, offset.Meta, error) {
	if f.transfer == nil {
		return "", offset.Meta{}, offset.ErrNotReady
	}
	return f.transfer(p, to)
}

func (f *fake) RaiseLevel(_ context.Context, p auth.Principal, level uint8) (offset.Meta, error) {
	if f.level == nil {
		return offset.Meta{}, offset.ErrNotReady
	}
	return f.level(p, level)
}

func (f *fake) ReadIndex(ctx context.Context) (uint64, error) {
	if f.readIndex == nil {
		return 0, offset.ErrNotReady
	}
	return f.readIndex(ctx)
}

func (f *fake) Hello(_ context.Context, from string) (Hello, error) {
	if f.hello == nil {
		return Hello{}, offset.ErrNotReady
	}
	return f.hello(from)
}

func (f *fake) Found(_ context.Context, from string, g Founding) error {
	if f.found == nil {
		return offset.ErrNotReady
	}
	return f.found(from, g)
}

func (f *fake) Announce(_ context.Context, m offset.Member) error {
	if f.announce == nil {
		return offset.ErrNotReady
	}
	return f.announce(m)
}

func (f *fake) Digest(_ context.Context, index uint64) (Checkpoint, error) {
	if f.digest == nil {
		return Checkpoint{}, offset.ErrNotReady
	}
	return f.digest(index)
}

// node is a Peer that runs on a host of its own.
type node struct {
	*Peer
	fake *fake
	stop func()
	// kill ends it as the death of its process does.
	kill func()

	mu      sync.Mutex
	killed  bool
	cluster offset.ClusterID
	level   uint8
}

func (n *node) join(c offset.ClusterID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cluster = c
}

// start runs a Peer on host, as a member of cluster A with the id host+"/1",
// unless change says otherwise. It stops at the end of the test.
func start(t *testing.T, network *memnet.Network, host string, change ...func(*Config, *node)) *node {
	t.Helper()
	l, err := network.Host(host).Listen(":7412")
	if err != nil {
		t.Fatal(err)
	}
	n := &node{fake: &fake{}, cluster: clusterA}
	c := Config{
		Listener: l,
		Dial:     network.Host(host).Dial,
		ID:       host + "/1",
		Cluster: func() offset.ClusterID {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.cluster
		},
		Level: func() uint8 {
			n.mu.Lock()
			defer n.mu.Unlock()
			return n.level
		},
		Handler: n.fake,
	}
	for _, f := range change {
		f(&c, n)
	}
	if n.Peer, err = New(c); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		err := n.Run(ctx)
		n.mu.Lock()
		defer n.mu.Unlock()
		if err != nil && !n.killed {
			t.Errorf("%s: %v", c.ID, err)
		}
	})
	n.kill = func() {
		n.mu.Lock()
		n.killed = true
		n.mu.Unlock()
		network.Host(host).Down()
		n.stop()
	}
	n.stop = sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(n.stop)
	return n
}

// within bounds a test's calls.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// newNetwork makes a network and prints its seed.
func newNetwork(t *testing.T) *memnet.Network {
	t.Helper()
	const seed = 20
	t.Logf("seed %d", seed)
	return memnet.New(seed)
}

// echo sends a line to and fro over a raft connection.
func echo(t *testing.T, from, to net.Conn) {
	t.Helper()
	if _, err := from.Write([]byte("ping")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if _, err := to.Read(got); err != nil || string(got) != "ping" {
		t.Fatalf("read %q, %v", got, err)
	}
}
