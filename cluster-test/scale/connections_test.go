package scale

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/effort"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/local"
	"github.com/tidemark-mq/tidemark/offset"
)

// from dials as another address of this machine than that of everybody else.
func from(ctx context.Context, addr string) (net.Conn, error) {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	return d.DialContext(ctx, "tcp", addr)
}

// TestTenThousandConnections: as many processes, each with a client of its own,
// at one node, whose limits were raised for them. All are served; whoever comes
// beyond the limit is told so at once; commits of others go on; memory stays
// within docs/sizing.md.
func TestTenThousandConnections(t *testing.T) {
	most := effort.Of(1_000, 10_000)
	c := local.Start(t, 1, // so that nobody moves to another leader
		local.Env("TIDEMARK_LIMIT_CONNECTIONS", fmt.Sprint(most+1024)), local.Env("TIDEMARK_LIMIT_PER_ADDRESS", fmt.Sprint(most)))
	n := c.Nodes()[0]
	l := load.Start(t, c.Client, load.Shape{Consumers: 2})
	l.More(3)
	idle := metric(t, n, "process_resident_memory_bytes")
	l.LongestGap()
	crowd := &callers{T: t, addr: n.Addr}
	crowd.join(most)
	open, resident := metric(t, n, "tidemark_api_connections"), metric(t, n, "process_resident_memory_bytes")
	t.Logf("%v connections take %.1f KB each; longest gap for the others: %v", open, (resident-idle)/1e3/open, l.LongestGap().Round(time.Millisecond))
	if open < float64(most)/2 { // on a busy machine clients leave connections that are silent, until their next call
		t.Errorf("%v connections are open of %d", open, most)
	}
	fits(t, n, int(open))
	crowd.beyond(n)
	crowd.all(2)
	l.More(3)
	crowd.leave()
	ask.Until(t, "the connections are gone", func() bool { return metric(t, n, "tidemark_api_connections") < float64(most)/2 })
	l.Check(c.Nodes())
}

// callers are clients, each with a connection and a key of its own.
type callers struct {
	*testing.T
	addr    string
	cluster offset.ClusterID
	clients []*client.Client
}

// join opens connections, each of which commits once.
func (c *callers) join(n int) {
	c.Helper()
	for range n {
		cl, err := client.New([]string{c.addr}, client.WithDialer(from))
		if err != nil {
			c.Fatal(err)
		}
		c.Cleanup(func() { _ = cl.Close() })
		c.clients = append(c.clients, cl)
	}
	_, meta, err := c.clients[0].Fetch(ask.Within(c.T, ask.Patience), ask.Default, c.key(0))
	if err != nil {
		c.Fatal(err)
	}
	c.cluster = meta.Cluster
	c.all(1)
}

func (c *callers) key(i int) offset.Key {
	return offset.Key{Group: fmt.Sprintf("caller-%05d", i), MessageQueue: offset.MessageQueue{Topic: "t"}}
}

// all has every client commit, 256 at a time.
func (c *callers) all(value int64) {
	c.Helper()
	ctx := ask.Within(c.T, 4*ask.Patience)
	var group sync.WaitGroup
	failed := make(chan error, 1)
	turns := make(chan struct{}, 256)
	for i, cl := range c.clients {
		turns <- struct{}{}
		group.Go(func() {
			defer func() { <-turns }()
			if _, _, err := cl.Commit(ctx, c.cluster, []offset.Commit{{Key: c.key(i), Offset: value}}); err != nil {
				select {
				case failed <- err:
				default:
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failed:
		c.Fatalf("of %d callers one failed: %v", len(c.clients), err)
	default:
	}
}

// beyond makes clients until one finds no place. It is told at once what is too
// much, and so is a program without the client library.
func (c *callers) beyond(n *ask.Node) {
	c.Helper()
	before := metric(c.T, n, "tidemark_api_refused_connections_total")
	more := &callers{T: c.T, addr: c.addr}
	defer more.leave()
	var told error
	for i := 0; told == nil && i < len(c.clients); i++ {
		told = more.further()
	}
	if !errors.Is(told, offset.ErrBusy) || !strings.Contains(told.Error(), "--limit-per-address") {
		c.Errorf("a client beyond the limit is told: %v", told)
	}
	other := ask.New(n.Name, n.Addr, from)
	ask.Until(c, "a call beyond the limit is told so", func() bool {
		status, answer, err := other.Post(ask.Within(c.T, ask.Patience), "ClusterService/Status", "{}")
		text, _ := answer["message"].(string)
		return err == nil && status == http.StatusTooManyRequests && strings.Contains(text, "--limit-per-address")
	})
	if after := metric(c.T, n, "tidemark_api_refused_connections_total"); after < before+2 {
		c.Errorf("%v connections are counted as refused, want two or more", after-before)
	}
}

// further makes one client more, and returns what its call was told.
func (c *callers) further() error {
	cl, err := client.New([]string{c.addr}, client.WithDialer(from))
	if err != nil {
		return err
	}
	c.clients = append(c.clients, cl)
	_, _, err = cl.Fetch(ask.Within(c.T, 10*time.Second), ask.Default, c.key(0))
	return err
}

// leave closes all connections.
func (c *callers) leave() {
	var group sync.WaitGroup
	for _, cl := range c.clients {
		group.Go(func() { _ = cl.Close() })
	}
	group.Wait()
}
