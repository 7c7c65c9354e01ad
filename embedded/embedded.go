package embedded

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/client"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/memnet"
	"github.com/tidemark-mq/tidemark/transport/server"
)

// Node is a node that runs in this process. Its methods may be called from any
// goroutine.
type Node struct {
	node   *node.Node
	server *server.Server
	client *client.Client
	inside *memnet.Host // where the node is, for its own client
	ports  ports

	running sync.WaitGroup // the member, and the edges
	closing sync.Once
	closed  chan struct{} // closed when Close begins
	done    chan struct{} // closed when the member has ended
	err     error         // why it did; read after done
}

// home is where the node's own client reaches it, on a network of its own.
const home = "embedded:7411"

// Open starts a node over a folder, and returns once it serves. A folder that
// does not exist is made (its parent must exist), and becomes a cluster of one
// member; see WithJoin. Of a cluster of several, the node serves once enough
// of the others run.
//
// When ctx ends before, everything is closed again and the error says what the
// node was waiting for. Others wrap offset.ErrInvalid or offset.ErrDamaged and
// say what to do; nothing has been written with the former. A folder that is in
// use by another process, or by this one, is refused.
func Open(ctx context.Context, dir string, opts ...Option) (*Node, error) {
	n := &Node{
		closed: make(chan struct{}), done: make(chan struct{}),
		inside: memnet.New(0).Host("embedded"),
	}
	if err := n.start(dir, opts); err != nil {
		n.ports.close()
		return nil, fmt.Errorf("opening %q: %w", dir, err)
	}
	if err := n.ready(ctx); err != nil {
		_ = n.Close() // what is worth telling is err
		return nil, fmt.Errorf("opening %q: %w", dir, err)
	}
	return n, nil
}

// start makes all parts, and runs them.
func (n *Node) start(dir string, opts []Option) error {
	s, err := settle(dir, opts)
	if err != nil {
		return err
	}
	config, err := n.configure(dir, s)
	if err != nil {
		return err
	}
	if n.node, err = node.New(config); err != nil {
		return err
	}
	n.server = server.New(server.Config{Service: n.node, Logger: config.Logger.Named("api"), Version: config.Version})
	own, err := n.inside.Listen(home)
	if err != nil {
		return err
	}
	if n.client, err = client.New([]string{home}, client.WithDialer(n.dial), client.WithLogger(s.logger)); err != nil {
		return err
	}
	n.running.Go(n.run)
	n.serve(own)
	if n.ports.api != nil {
		n.serve(n.ports.api)
	}
	return nil
}

// configure opens the ports, if there are to be any, and says what the member is.
func (n *Node) configure(dir string, s *settings) (c node.Config, err error) {
	c = node.Config{Name: s.name, Dir: dir, Alone: s.alone(), Logger: toHclog(s.logger), Version: version()}
	if c.Timers, err = s.timers(); err != nil || c.Alone {
		return c, err
	}
	if err := n.ports.open(s); err != nil {
		return c, err
	}
	c.PeerListener, c.AdvertisePeer, c.AdvertiseAPI = n.ports.peer, n.ports.peerAddr, n.ports.apiAddr
	if !s.join {
		c.InitialCluster = []node.Founder{{Name: s.name, Peer: c.AdvertisePeer}}
	}
	return c, nil
}

// run is the member.
func (n *Node) run() {
	defer close(n.done)
	err := n.node.Run(context.Background())
	select {
	case <-n.closed:
	default:
		if err == nil {
			err = offset.Errorf(offset.ErrClosed, "the member has ended by itself")
		}
		n.err = err
	}
}

// serve serves the API at a listener, until Close.
func (n *Node) serve(l net.Listener) {
	n.running.Go(func() { _ = n.server.Serve(l) }) // it ends when the server is shut down, or with the listener
}

// ready waits until the node serves.
func (n *Node) ready(ctx context.Context) error {
	for {
		why := n.node.Ready()
		if why == nil {
			return nil
		}
		select {
		case <-n.done:
			return n.err
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), why)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// dial connects the node's own client: to the node in memory, also where an
// answer names it by the address that others have; to other members over TCP.
func (n *Node) dial(ctx context.Context, addr string) (net.Conn, error) {
	if addr == home || addr == n.ports.apiAddr {
		return n.inside.Dial(ctx, home)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Client is a client of this node, over a connection in memory; if the cluster
// has other members, of the one that leads. Close closes it.
func (n *Node) Client() *client.Client { return n.client }

// Addresses are those that WithListen opened, as others reach them; empty
// without. Other programs give api to client.New or to tidemark's --endpoints.
func (n *Node) Addresses() (api, peer string) { return n.ports.apiAddr, n.ports.peerAddr }

// Done is closed when the member has ended: by Close, or by itself, as after a
// failure of its disk, or when it was removed from its cluster; see Err.
func (n *Node) Done() <-chan struct{} { return n.done }

// Err is why the member ended by itself; nil while it runs, and after Close.
func (n *Node) Err() error {
	select {
	case <-n.done:
		return n.err
	default:
		return nil
	}
}

// grace is how long calls of other programs may still take when the node is closed.
const grace = 5 * time.Second

// Close stops the node: its own client first, whose calls under way end as
// Client.Close says, then the calls of others, then the member, which hands
// leadership over if it has somebody to hand it to. It waits until everything
// has ended, and returns what Err says. It may be called more than once.
func (n *Node) Close() error {
	n.closing.Do(func() {
		close(n.closed)
		_ = n.client.Close() // it says nothing of what was acknowledged
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		_ = n.server.Shutdown(ctx) // who was cut off knows so
		_ = n.node.Close()
	})
	n.running.Wait()
	return n.Err()
}
