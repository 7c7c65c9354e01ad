package peer

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// Peer is the raft port of one node. Its methods may be called from any
// goroutine.
type Peer struct {
	config    Config
	transport *http.Transport
	books     *books
	// raft and calls take connections over from their handshake.
	raft, calls *queue
	// The lines on connections that were not taken: of strangers, of members,
	// and for want of room.
	strangers, members, full ration

	mu      sync.Mutex // guards what follows
	remotes map[string]*Remote
}

// New returns a Peer. It does no I/O. The error wraps offset.ErrInvalid.
func New(c Config) (*Peer, error) {
	c = c.withDefaults()
	if err := c.validate(); err != nil {
		return nil, err
	}
	return &Peer{
		config:    c,
		transport: newTransport(c),
		books:     newBooks(),
		raft:      newQueue(c.Listener.Addr()),
		calls:     newQueue(c.Listener.Addr()),
		remotes:   make(map[string]*Remote),
	}, nil
}

// RunID names this process.
func (p *Peer) RunID() RunID { return p.config.Run }

// Addr returns where the listener listens.
func (p *Peer) Addr() net.Addr { return p.config.Listener.Addr() }

// Run accepts connections until ctx is done, then closes the listener and all
// connections, those of AcceptRaft and DialRaft too, waits for every call that
// is being answered, and returns nil; or it returns the error of the listener.
// It is called once.
func (p *Peer) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	desk := newDesk(ctx, p)
	var group sync.WaitGroup
	group.Go(func() { desk.serve(p.calls) })
	closing := context.AfterFunc(ctx, func() { p.config.Listener.Close() })
	err := p.acceptAll(ctx, &group)
	closing()
	stop()
	p.config.Listener.Close()
	p.raft.Close()
	p.calls.Close()
	desk.finish() // before the connections go, so that answers still leave
	p.books.shut()
	group.Wait()
	return err
}

// acceptAll takes connections until ctx is done or the listener fails.
func (p *Peer) acceptAll(ctx context.Context, group *sync.WaitGroup) error {
	for wait := time.Duration(0); ; {
		raw, err := p.config.Listener.Accept()
		switch {
		case ctx.Err() != nil:
			if raw != nil {
				raw.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("the listener of the raft port: %w", err)
		case err != nil:
			// Out of file descriptors, mostly: continue, but do not spin.
			wait = min(max(2*wait, 5*time.Millisecond), time.Second)
			p.config.Logger.Error("accepting on the raft port", "error", err, "retry", wait)
			sleep(ctx, wait)
			continue
		}
		wait = 0
		group.Go(func() { p.receive(raw) })
	}
}

func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// AcceptRaft waits for the next connection that another member's raft has
// made. Once Run has ended, it is net.ErrClosed. What nobody accepts within the
// handshake's time is closed.
func (p *Peer) AcceptRaft() (net.Conn, error) { return p.raft.Accept() }

// DialRaft connects to the raft of the member id at addr. The error wraps
// offset.ErrUnreachable, or says why the other side refused.
func (p *Peer) DialRaft(ctx context.Context, id, addr string) (net.Conn, error) {
	if id == "" {
		return nil, offset.Errorf(offset.ErrInvalid, "raft at %s is called by nobody's id", addr)
	}
	c, _, err := p.greet(ctx, kindRaft, id, addr)
	if err != nil {
		return nil, err // not c, which would be a net.Conn that is not nil
	}
	return c, nil
}

// maxRemotes is how many connections for calls are kept, members that have
// left among them.
const maxRemotes = 2 * offset.MaxMembers

// To returns the calls on the member id at addr, over a connection that stays
// until Run ends or the address changes. It does no I/O. With an empty id it is
// whoever answers at addr, and only Hello and Found can be asked, each over a
// connection of its own.
func (p *Peer) To(id, addr string) *Remote {
	if id == "" {
		return &Remote{peer: p, addr: addr}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.remotes[id]
	if r != nil && r.addr == addr {
		return r
	}
	if r != nil {
		r.drop()
	} else if len(p.remotes) >= maxRemotes {
		for other, old := range p.remotes {
			old.drop()
			delete(p.remotes, other)
			break
		}
	}
	r = newRemote(p, id, addr)
	p.remotes[id] = r
	return r
}
