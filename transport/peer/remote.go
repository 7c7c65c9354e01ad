package peer

import (
	"context"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
	"github.com/tidemark-mq/tidemark/transport/api/peer/v1/peerv1connect"
)

// Remote is another member, to be called. Its methods may be called from any
// goroutine, any number at a time. A call ends with its context, at the latest
// after Config.CallTimeout if that has no deadline.
//
// Errors: offset.ErrUnreachable means that nothing was sent, and so does a
// refusal of the connection (offset.ErrForeignCluster, ErrNotFound, ErrDenied,
// ErrLevel, ErrNotReady), and offset.ErrBusy where Config.MaxCalls were under way
// the whole time. What the other side answered is the error it
// answered, with offset.ErrNotLeader among them. A call that was sent and not
// answered, by a passed deadline or a broken connection, is
// offset.ErrOutcomeUnknown. So only offset.ErrUnreachable and ErrNotLeader may
// be sent again as if for the first time. Nothing is ever sent twice by the
// Remote itself.
type Remote struct {
	peer     *Peer
	id, addr string
	slots    chan struct{} // taken by the calls under way, Config.MaxCalls

	mu     sync.Mutex // guards what follows; never held while waiting
	caller *caller
	// dialling is closed once the dial that is under way ends; nil without one.
	dialling chan struct{}
	dropped  bool
}

func newRemote(p *Peer, id, addr string) *Remote {
	return &Remote{peer: p, id: id, addr: addr, slots: make(chan struct{}, p.config.MaxCalls)}
}

// ID is the member's id, empty where anybody is meant.
func (r *Remote) ID() string { return r.id }

// Addr is the address of its raft port.
func (r *Remote) Addr() string { return r.addr }

// drop closes the connection; calls under way become unknown.
func (r *Remote) drop() {
	r.mu.Lock()
	c := r.caller
	r.caller, r.dropped = nil, true
	r.mu.Unlock()
	if c != nil {
		c.close()
	}
}

// ask makes one call on a member.
func (r *Remote) ask(ctx context.Context, f func(context.Context, peerv1connect.PeerServiceClient) error) error {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	if r.id == "" {
		return offset.Errorf(offset.ErrInvalid, "only Hello and Found can be asked of whoever is at %s", r.addr)
	}
	if ctx.Err() != nil {
		return unreachable(ctx, r.id, r.addr, nil)
	}
	select {
	case r.slots <- struct{}{}:
		defer func() { <-r.slots }()
	case <-ctx.Done():
		return offset.Errorf(offset.ErrBusy, "%d calls on %s are under way", cap(r.slots), r.id)
	}
	for last := false; ; last = true {
		c, err := r.connected(ctx)
		if err != nil {
			return err
		}
		sent, err := c.call(ctx, f)
		switch {
		case err == nil:
			return nil
		case sent:
			return fromCall(err)
		case last || c.usable():
			return unreachable(ctx, r.id, r.addr, err)
		}
		// The connection had died unnoticed: nothing was sent, one more try.
	}
}

// meet makes one call on whoever answers, or on the member if the id is known.
func (r *Remote) meet(ctx context.Context, f func(context.Context, peerv1connect.PeerServiceClient) error) (answer, error) {
	ctx, cancel := r.bound(ctx)
	defer cancel()
	conn, a, err := r.peer.greet(ctx, kindMeet, r.id, r.addr)
	if err != nil {
		return answer{}, err
	}
	c, err := r.peer.newCaller(ctx, conn)
	if err != nil {
		return answer{}, unreachable(ctx, r.id, r.addr, err)
	}
	defer c.close()
	if r.id != "" && a.id != r.id {
		return answer{}, offset.Errorf(offset.ErrNotFound, "%s answers as %q, not as %s", r.addr, a.id, r.id)
	}
	sent, err := c.call(ctx, f)
	switch {
	case err == nil:
		return a, nil
	case sent:
		return a, fromCall(err)
	}
	return a, unreachable(ctx, r.id, r.addr, err)
}

func (r *Remote) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, r.peer.config.CallTimeout)
}

// connected returns a usable connection, making it where there is none. Of
// several callers one dials; if its context ends, the next one does.
func (r *Remote) connected(ctx context.Context) (*caller, error) {
	for {
		r.mu.Lock()
		c, wait := r.caller, r.dialling
		if c != nil && c.usable() {
			r.mu.Unlock()
			return c, nil
		}
		if wait == nil {
			r.dialling = make(chan struct{})
			r.caller = nil
			r.mu.Unlock()
			if c != nil {
				c.close()
			}
			return r.dial(ctx)
		}
		r.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, unreachable(ctx, r.id, r.addr, ctx.Err())
		}
	}
}

// dial makes the connection; the caller has set dialling.
func (r *Remote) dial(ctx context.Context) (*caller, error) {
	c, err := r.open(ctx)
	r.mu.Lock()
	close(r.dialling)
	r.dialling = nil
	if err == nil && r.dropped {
		err = unreachable(ctx, r.id, r.addr, offset.ErrClosed)
	}
	if err == nil {
		r.caller = c
	}
	r.mu.Unlock()
	if err != nil && c != nil {
		c.close()
	}
	return c, err
}

func (r *Remote) open(ctx context.Context) (*caller, error) {
	conn, _, err := r.peer.greet(ctx, kindCall, r.id, r.addr)
	if err != nil {
		return nil, err
	}
	c, err := r.peer.newCaller(ctx, conn)
	if err != nil {
		return nil, unreachable(ctx, r.id, r.addr, err)
	}
	return c, nil
}
