package peer

import (
	"context"
	"net"

	"github.com/tidemark-mq/tidemark/offset"
)

// Peer is the raft port of one node. Its methods may be called from any
// goroutine.
type Peer struct {
	config Config
}

// New returns a Peer. It does no I/O. The error wraps offset.ErrInvalid.
func New(c Config) (*Peer, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Peer{config: c}, nil
}

// RunID names this process.
func (p *Peer) RunID() RunID { return p.config.Run }

// Run accepts connections until ctx is done, then closes the listener and all
// connections, those of AcceptRaft and DialRaft too, waits for every call that
// is being answered, and returns nil; or it returns the error of the listener.
// It is called once.
func (p *Peer) Run(ctx context.Context) error { return offset.ErrNotReady }

// AcceptRaft waits for the next connection that another member's raft has
// made. Once Run has ended, it is net.ErrClosed. What nobody accepts within the
// handshake's time is closed.
func (p *Peer) AcceptRaft() (net.Conn, error) { return nil, net.ErrClosed }

// DialRaft connects to the raft of the member id at addr. The error wraps
// offset.ErrUnreachable, or says why the other side refused.
func (p *Peer) DialRaft(ctx context.Context, id, addr string) (net.Conn, error) {
	return nil, offset.ErrUnreachable
}

// To returns the calls on the member id at addr, over a connection that stays.
// It does no I/O. With an empty id it is whoever answers at addr, and only
// Hello and Found can be asked, each over a connection of its own.
func (p *Peer) To(id, addr string) *Remote { return &Remote{} }
