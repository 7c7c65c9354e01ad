package conn

import (
	"context"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// Conn is one connection to one node. Its methods may be called from any goroutine.
type Conn struct {
	cfg    Config
	stream Stream
	// slots bounds what is open: a call holds one from before it is queued
	// until it is answered or given up.
	slots chan struct{}
	// wake signals the writer that calls wait; it holds one token at most.
	wake chan struct{}
	// refusing is closed once no new call is taken, ended once all calls have ended.
	refusing, ended chan struct{}
	// running counts the two goroutines, and the timer while it is set.
	running sync.WaitGroup
	// arrived is when bytes came last.
	arrived arrivals

	mu sync.Mutex
	// The fields below belong to mu.

	// open holds every call without an outcome; those in queue are not sent yet.
	open  map[uint64]*call
	queue []*call
	// last is the id given last.
	last uint64
	// refused is why no new call is taken; nil while they are.
	refused error
	// cause is why the connection ended; nil while it has not.
	cause error
	// timer watches for silence; it is set, for due, while watching. heard is
	// when the last message came, or when a call was made while the other side
	// owed nothing; of a message on its way, arrived says more. owed: calls were
	// sent, and no message has come since that left none open.
	timer      *time.Timer
	watching   bool
	due, heard time.Time
	owed       bool
}

// envelope is more than what a message adds to the bytes of a call.
const envelope = 64

// call is one call of one caller.
type call struct {
	msg  *tidemarkv1.Call
	size int
	// sent belongs to Conn.mu: the writer has taken it.
	sent bool
	// reply and err are set before done gets its one token.
	reply *tidemarkv1.Reply
	err   error
	done  chan struct{}
}

// Dial opens a connection within ctx, which does not bound what comes after.
// The error says that nothing was sent. Whether a node serves at the other end
// shows with the first call.
func Dial(ctx context.Context, cfg Config) (*Conn, error) {
	cfg = cfg.withDefaults()
	nc, err := cfg.Dialer(ctx, cfg.Addr)
	if err != nil {
		return nil, &Error{Cause: fmt.Errorf("connecting to %q: %w", cfg.Addr, err)}
	}
	c := &Conn{
		cfg:      cfg,
		slots:    make(chan struct{}, cfg.InFlight),
		wake:     make(chan struct{}, 1),
		refusing: make(chan struct{}),
		ended:    make(chan struct{}),
		open:     make(map[uint64]*call),
		arrived:  arrivals{since: time.Now()},
	}
	if c.stream, err = cfg.Open(ctx, noting{nc, &c.arrived}, cfg.Addr); err != nil {
		return nil, &Error{Cause: fmt.Errorf("connecting to %q: %w", cfg.Addr, err)}
	}
	c.timer = time.AfterFunc(time.Hour, c.watch)
	c.timer.Stop()
	c.running.Go(c.write)
	c.running.Go(c.read)
	return c, nil
}

// Addr is the address that was dialled.
func (c *Conn) Addr() string { return c.cfg.Addr }

// Ended is closed once the connection has ended and every call with it.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Err says why no new calls are taken; nil while they are.
func (c *Conn) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// Do sends a call and waits for its reply, which may hold the server's error.
// The id of m is set here; the connection may read m even after Do has
// returned, so it must not be changed or used again. The error is an *Error.
func (c *Conn) Do(ctx context.Context, m *tidemarkv1.Call) (*tidemarkv1.Reply, error) {
	p := &call{msg: m, size: proto.Size(m), done: make(chan struct{}, 1)}
	if p.size > offset.MaxMessage-envelope {
		return nil, &Error{Cause: offset.Errorf(offset.ErrInvalid, "the request has %d bytes; a message may have %d: send it in parts", p.size, offset.MaxMessage)}
	}
	if err := c.slot(ctx); err != nil {
		return nil, err
	}
	defer func() { <-c.slots }()
	if err := c.enqueue(p); err != nil {
		return nil, &Error{Cause: err}
	}
	select {
	case <-p.done:
		return p.reply, p.err
	case <-ctx.Done():
		return c.abandon(p, ctx.Err())
	}
}

// slot waits for a place among the calls in flight.
func (c *Conn) slot(ctx context.Context) error {
	select {
	case c.slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case c.slots <- struct{}{}:
		return nil
	case <-c.refusing:
		return &Error{Cause: c.Err()}
	case <-ctx.Done():
		return &Error{Cause: ctx.Err()}
	}
}

// enqueue gives the call its id and the writer the call.
func (c *Conn) enqueue(p *call) error {
	c.mu.Lock()
	if c.refused != nil {
		defer c.mu.Unlock()
		return c.refused
	}
	c.last++
	p.msg.Id = c.last
	c.open[c.last] = p
	c.queue = append(c.queue, p)
	c.watchLocked()
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// abandon ends a call whose caller no longer waits, unless it was answered just now.
func (c *Conn) abandon(p *call, cause error) (*tidemarkv1.Reply, error) {
	c.mu.Lock()
	if _, open := c.open[p.msg.Id]; !open {
		c.mu.Unlock()
		<-p.done
		return p.reply, p.err
	}
	delete(c.open, p.msg.Id)
	sent := p.sent
	last := c.drainedLocked()
	c.mu.Unlock()
	if last {
		c.end(c.Err())
	}
	return nil, &Error{Sent: sent, Cause: cause}
}

// Retire makes the connection take no new calls, await those that were made,
// and end by itself. It does not wait.
func (c *Conn) Retire() {
	c.mu.Lock()
	c.refuseLocked(errRetired)
	last := c.drainedLocked()
	c.mu.Unlock()
	if last {
		c.end(errRetired)
	}
}

// Close ends the connection at once and waits for its goroutines. Calls that
// are open end as not sent, or as unknown.
func (c *Conn) Close() error {
	c.end(errClosed)
	c.running.Wait()
	return nil
}

// refuseLocked makes cause the reason that no new call is taken; the first one stays.
func (c *Conn) refuseLocked(cause error) {
	if c.refused == nil {
		c.refused = cause
		close(c.refusing)
	}
}

// drainedLocked reports whether nothing is left to wait for.
func (c *Conn) drainedLocked() bool { return c.refused != nil && len(c.open) == 0 }

// end closes the stream and ends every open call. Only its first call has an effect.
func (c *Conn) end(cause error) {
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return
	}
	c.cause = cause
	c.refuseLocked(cause)
	open := c.open
	c.open, c.queue = nil, nil
	if c.watching && c.timer.Stop() {
		c.watching = false
		c.running.Done()
	}
	close(c.ended)
	c.mu.Unlock()
	// What the stream says when it is closed is of no use: it is given up.
	_ = c.stream.Close()
	for _, p := range open {
		p.err = &Error{Sent: p.sent, Cause: cause}
		p.done <- struct{}{}
	}
}
