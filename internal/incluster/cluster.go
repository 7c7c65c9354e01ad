// Package incluster starts clusters inside a test: members over an in-memory
// network, with real files in temporary folders. It is for tests of this
// module; tidemarktest is what users get.
package incluster

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
)

// Operator is the principal that the cluster's own calls use.
var Operator = auth.Principal{Name: "operator", From: "test"}

// Patience is how long a condition may take before the test fails.
const Patience = 20 * time.Second

// Cluster is a set of members on one network. It is stopped with the test.
type Cluster struct {
	TB      testing.TB
	Net     *memnet.Network
	Members []*Member

	// Outside are hosts of the network that are no members: a kill of a member
	// cuts it off from them too, and heals that at its end.
	Outside []string

	logs *logs
	tcp  bool
}

// Member is one member, running or not.
type Member struct {
	// Name is its name, and its host's: members are n1, n2, and so on.
	Name string
	// Host is the host of the network that it listens on; its name at first.
	Host string
	// Dir is its data folder, which stays when it stops.
	Dir string
	// Config is what the next start uses, but for the listener.
	Config node.Config
	// Edge, if set, serves the member to clients: called at each start, and
	// what it returns at each end, before a clean stop and after a kill.
	Edge func(m *Member) (end func())

	cluster *Cluster
	port    net.Listener         // over TCP, until the first start
	life    atomic.Pointer[life] // nil before the first start
	endEdge func()
}

// life is one run of a member.
type life struct {
	node *node.Node
	done chan struct{} // closed when Run has returned
	err  error         // what Run returned; read after done
}

// Node is the running node, or the one that ran last.
func (m *Member) Node() *node.Node { return m.life.Load().node }

// Option changes the configuration of a member before its first start.
type Option func(m *Member)

// Start founds a cluster of n members and waits until all are ready.
func Start(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := New(tb, n, options...)
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	return c
}

// StartTCP is Start over TCP on the loopback interface: Net has no part in it.
func StartTCP(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	c := create(tb, n, true, options)
	for _, m := range c.Members {
		m.Start()
	}
	c.WaitReady(c.Members...)
	return c
}

// New makes the members of a cluster without starting them.
func New(tb testing.TB, n int, options ...Option) *Cluster {
	tb.Helper()
	return create(tb, n, false, options)
}

func create(tb testing.TB, n int, tcp bool, options []Option) *Cluster {
	tb.Helper()
	seed := time.Now().UnixNano()
	c := &Cluster{TB: tb, Net: memnet.New(seed), logs: &logs{}, tcp: tcp}
	tb.TempDir() // the first call: folders are removed after the members have stopped
	tb.Cleanup(func() {
		c.Stop()
		if tb.Failed() {
			tb.Logf("network seed %d; log of the members:\n%s", seed, c.logs.tail(60_000))
		}
	})
	var founders []node.Founder
	for i := range n {
		m := c.make(fmt.Sprintf("n%d", i+1))
		founders = append(founders, node.Founder{Name: m.Name, Peer: m.Config.AdvertisePeer})
	}
	for _, m := range c.Members {
		m.Config.InitialCluster = founders
		for _, o := range options {
			o(m)
		}
	}
	return c
}

// Add makes a further member, which belongs to no cluster yet, and starts it.
func (c *Cluster) Add(options ...Option) *Member {
	c.TB.Helper()
	m := c.make(fmt.Sprintf("n%d", len(c.Members)+1))
	for _, o := range options {
		o(m)
	}
	m.Start()
	return m
}

func (c *Cluster) make(name string) *Member {
	m := &Member{Name: name, Host: name, Dir: filepath.Join(c.TB.TempDir(), name), cluster: c}
	m.Config = node.Config{
		Name: name, Dir: m.Dir,
		AdvertisePeer: name + ":7412", AdvertiseAPI: name + ":7411",
		Logger:  hclog.New(&hclog.LoggerOptions{Name: name, Level: hclog.Debug, Output: c.logs}),
		Version: "test",
		Dial:    c.Net.Host(name).Dial,
	}
	if c.tcp {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			c.TB.Fatal(err)
		}
		m.port, m.Config.AdvertisePeer, m.Config.Dial = l, l.Addr().String(), nil
	}
	c.Members = append(c.Members, m)
	return m
}

// TB is the test that the member belongs to.
func (m *Member) TB() testing.TB { return m.cluster.TB }

// Listen listens at a port of the member's host (":7411").
func (m *Member) Listen(port string) (net.Listener, error) {
	return m.cluster.Net.Host(m.Host).Listen(port)
}

// listen opens the raft port, over TCP again at the address of the first time.
func (m *Member) listen() (net.Listener, error) {
	if !m.cluster.tcp {
		return m.Listen(":7412")
	}
	if l := m.port; l != nil {
		m.port = nil
		return l, nil
	}
	return net.Listen("tcp", m.Config.AdvertisePeer)
}

// Start runs the member over what its folder holds.
func (m *Member) Start() {
	tb := m.cluster.TB
	tb.Helper()
	cfg := m.Config
	if cfg.Alone {
		cfg.Dial, cfg.AdvertisePeer, cfg.InitialCluster = nil, "", nil
	} else {
		listener, err := m.listen()
		if err != nil {
			tb.Fatalf("%s can't listen: %v", m.Name, err)
		}
		cfg.PeerListener = listener
	}
	n, err := node.New(cfg)
	if err != nil {
		tb.Fatalf("%s: %v", m.Name, err)
	}
	l := &life{node: n, done: make(chan struct{})}
	m.life.Store(l)
	go func() { // Stop waits for it
		defer close(l.done)
		l.err = n.Run(context.Background())
	}()
	if m.Edge != nil {
		m.endEdge = sync.OnceFunc(m.Edge(m))
	}
}

// Stop ends the member as SIGTERM does, and returns what Run returned.
func (m *Member) Stop() error {
	l := m.life.Load()
	if l == nil {
		return nil
	}
	if m.endEdge != nil {
		m.endEdge()
	}
	l.node.Close()
	<-l.done
	return l.err
}

// Kill ends the member so that nobody hears of it any more; what it would
// still have sent is lost. Over TCP it is a clean stop.
func (m *Member) Kill() {
	m.cluster.Net.Host(m.Host).Down()
	m.cluster.Net.Isolate(m.Host)
	m.Stop()
	others := append([]string(nil), m.cluster.Outside...)
	for _, o := range m.cluster.Members {
		others = append(others, o.Host)
	}
	for _, o := range others {
		m.cluster.Net.Heal(m.Host, o)
		m.cluster.Net.Heal(o, m.Host)
	}
}

// Wipe removes the data folder of a stopped member.
func (m *Member) Wipe() {
	m.cluster.TB.Helper()
	if err := os.RemoveAll(m.Dir); err != nil {
		m.cluster.TB.Fatal(err)
	}
}

// Wait waits until the member's Run has returned, and returns that.
func (m *Member) Wait() error {
	m.cluster.TB.Helper()
	l := m.life.Load()
	select {
	case <-l.done:
		return l.err
	case <-time.After(Patience):
		m.cluster.TB.Fatalf("%s has not ended", m.Name)
		return nil
	}
}

// Running reports whether the member's Run has not returned.
func (m *Member) Running() bool {
	l := m.life.Load()
	if l == nil {
		return false
	}
	select {
	case <-l.done:
		return false
	default:
		return true
	}
}

// ID is the member's id, "name/member-id".
func (m *Member) ID() string { return m.Status().NodeID }

// Status is what the member says of itself.
func (m *Member) Status() offset.Status {
	s, err := m.Node().Status(context.Background(), Operator, false)
	if err != nil {
		m.cluster.TB.Errorf("status of %s: %v", m.Name, err)
	}
	return s
}

// Stop ends all members that run.
func (c *Cluster) Stop() {
	c.Net.HealAll()
	var all sync.WaitGroup
	for _, m := range c.Members {
		all.Go(func() { m.Stop() })
	}
	all.Wait()
}

// WaitReady waits until each of the members serves.
func (c *Cluster) WaitReady(members ...*Member) {
	c.TB.Helper()
	for _, m := range members {
		c.Until(m.Name+" is ready", func() bool {
			if !m.Running() {
				c.TB.Fatalf("%s has ended: %v", m.Name, m.Wait())
			}
			return m.Node().Ready() == nil
		})
	}
}

// Until waits for a condition.
func (c *Cluster) Until(what string, ok func() bool) {
	c.TB.Helper()
	deadline := time.Now().Add(Patience)
	for !ok() {
		if time.Now().After(deadline) {
			c.TB.Fatalf("not within %v: %s", Patience, what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// Leader waits until one of the running members leads and has proved it by a
// read, and returns it.
func (c *Cluster) Leader() *Member {
	c.TB.Helper()
	var leader *Member
	c.Until("a member leads", func() bool {
		for _, m := range c.Members {
			if m.Running() && m.Status().State == "leader" && m.reads() {
				leader = m
				return true
			}
		}
		return false
	})
	return leader
}

func (m *Member) reads() bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := m.Node().List(ctx, Operator, &offset.List{Limit: 1})
	return err == nil && m.Status().State == "leader"
}

// Followers are the running members but for one.
func (c *Cluster) Followers(leader *Member) []*Member {
	var list []*Member
	for _, m := range c.Members {
		if m != leader && m.Running() {
			list = append(list, m)
		}
	}
	return list
}

// logs keeps what the members log, for a test that fails.
type logs struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps p.
func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logs) tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf.Bytes()
	if len(b) > n {
		b = b[len(b)-n:]
	}
	return string(b)
}
