package incluster

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

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

// TB is the test that the member belongs to.
func (m *Member) TB() testing.TB { return m.cluster.TB }

// Listen listens at a port of the member's host (":7411").
func (m *Member) Listen(port string) (net.Listener, error) {
	return m.cluster.Net.Host(m.Host).Listen(port)
}

// listen opens the raft port.
func (m *Member) listen() (net.Listener, error) {
	if !m.cluster.tcp {
		return m.Listen(":7412")
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

func (m *Member) reads(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := m.Node().List(ctx, Operator, &offset.List{Limit: 1})
	return err == nil && m.Status().State == "leader"
}
