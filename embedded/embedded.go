package embedded

import (
	"context"
	"errors"
	"log/slog"

	"github.com/tidemark-mq/tidemark/client"
)

// Node is a node that runs in this process. Its methods may be called from any
// goroutine.
type Node struct{}

// Option changes one setting of a Node. A nil one changes nothing.
type Option func(*settings)

type settings struct{}

// WithName names the member; the default is "n1". The name of a folder never changes.
func WithName(name string) Option { return func(*settings) {} }

// WithListen opens the node to the outside: api is the address for clients and
// operators, peer that for the other members ("host:port"; a port 0 is one
// that the system chooses). Both are needed once the node has other members.
func WithListen(api, peer string) Option { return func(*settings) {} }

// WithAdvertise says at which addresses others reach what WithListen opened;
// the default is these addresses themselves.
func WithAdvertise(api, peer string) Option { return func(*settings) {} }

// WithLogger sets who is told what the node does; the default is nobody.
func WithLogger(l *slog.Logger) Option { return func(*settings) {} }

// Open starts a node over a folder, which is made if it does not exist (its
// parent must), and returns once it serves, or ctx is done.
func Open(ctx context.Context, dir string, opts ...Option) (*Node, error) {
	return nil, errors.New("embedded is being written")
}

// Client is a client of this node, over a connection in memory. Close closes it.
func (n *Node) Client() *client.Client { return nil }

// Endpoints are the addresses given by WithListen, for other programs: of
// clients, and of the other members; empty without.
func (n *Node) Endpoints() (api, peer string) { return "", "" }

// Done is closed when the node has ended, by Close or by itself; Err tells which.
func (n *Node) Done() <-chan struct{} { return nil }

// Err is why the node ended by itself; nil while it runs, and after Close.
func (n *Node) Err() error { return nil }

// Close stops the node, and waits until everything of it has ended.
func (n *Node) Close() error { return nil }
