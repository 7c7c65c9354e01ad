package peer

import (
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// conn is a connection after its handshake. The Peer closes it at the end of
// Run, if nobody has before.
type conn struct {
	net.Conn
	// greeting is what the other side said, zero on a connection of our own;
	// books.introduce sets it.
	greeting greeting
	// member: it was admitted; guarded by the books' mu.
	member bool
	// heard is when bytes last came, Unix nanoseconds.
	heard atomic.Int64

	closing sync.Once
	err     error  // of the first Close
	onClose func() // takes it out of the books
	// life ends it, where its life is bounded; nil otherwise.
	life atomic.Pointer[time.Timer]
}

// Read reads, and notes when.
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.heard.Store(time.Now().UnixNano())
	}
	return n, err
}

// Close closes the connection once.
func (c *conn) Close() error {
	c.closing.Do(func() {
		if t := c.life.Load(); t != nil {
			t.Stop()
		}
		c.err = bare(c.Conn).Close()
		c.onClose()
	})
	return c.err
}

// bare is the connection under TLS. It is closed without TLS's own farewell,
// which could wait for a peer that does not read, and says nothing here that the
// protocols above do not say themselves.
func bare(c net.Conn) net.Conn {
	if t, ok := c.(*tls.Conn); ok {
		return t.NetConn()
	}
	return c
}

// books hold the connections of a Peer: which there are, and which process of
// each member they come from. Incoming ones are strangers until they are
// admitted; the two have bounds of their own, so that strangers take no place of
// a member's.
type books struct {
	mu        sync.Mutex // guards what follows
	all       map[*conn]struct{}
	strangers []*conn // in the order of their coming
	members   int     // incoming connections that were admitted
	guests    map[string]*guest
	closed    bool
	empty     chan struct{} // closed once closed is set and all is empty
}

// guest is a member that has incoming connections here.
type guest struct {
	run   RunID
	conns map[*conn]struct{}
}

func newBooks() *books {
	return &books{all: make(map[*conn]struct{}), guests: make(map[string]*guest), empty: make(chan struct{})}
}

// enter notes a connection of our own; offset.ErrClosed after shut.
func (b *books) enter(c *conn) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.enterLocked(c)
}

func (b *books) enterLocked(c *conn) error {
	c.heard.Store(time.Now().UnixNano())
	c.onClose = func() { b.leave(c) }
	if b.closed {
		return offset.ErrClosed
	}
	b.all[c] = struct{}{}
	return nil
}

// receive notes an incoming connection as a stranger. Where there are most
// already, it returns the one that came first, to be closed: a member's
// handshake takes milliseconds, so that it is over before its turn comes.
func (b *books) receive(c *conn, most int) (oldest *conn, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.enterLocked(c); err != nil {
		return nil, err
	}
	if len(b.strangers) >= most {
		oldest = b.strangers[0]
		b.strangers = slices.Delete(b.strangers, 0, 1)
	}
	b.strangers = append(b.strangers, c)
	return oldest, nil
}

// introduce notes what the other side said. It is called once, before anybody
// else has the connection.
func (b *books) introduce(c *conn, g greeting) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.greeting = g
}

func (b *books) leave(c *conn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.all, c)
	if c.member {
		b.members--
	}
	b.strangers = slices.DeleteFunc(b.strangers, func(o *conn) bool { return o == c })
	if g := b.guests[c.greeting.id]; g != nil {
		if delete(g.conns, c); len(g.conns) == 0 {
			delete(b.guests, c.greeting.id)
		}
	}
	b.settleLocked()
}

// settleLocked signals shut that nothing is left.
func (b *books) settleLocked() {
	if b.closed && len(b.all) == 0 {
		select {
		case <-b.empty:
		default:
			close(b.empty)
		}
	}
}

// admit notes which process an incoming connection comes from. A second
// process with the same id is refused while the first is heard; one that has
// been silent for linger counts as gone, and its connections are closed. At most
// most are admitted at a time. One that was closed meanwhile (pushOut, shut) is
// not noted: nobody would take it off the books again.
func (b *books) admit(c *conn, linger time.Duration, most int) error {
	id, run := c.greeting.id, c.greeting.run
	b.mu.Lock()
	if _, open := b.all[c]; !open {
		b.mu.Unlock()
		return offset.ErrClosed
	}
	if b.members >= most {
		b.mu.Unlock()
		return offset.Errorf(offset.ErrBusy, "members have %d connections here, which is the most", most)
	}
	g := b.guests[id]
	var gone []*conn
	if g != nil && g.run != run {
		for old := range g.conns {
			if time.Since(time.Unix(0, old.heard.Load())) < linger {
				b.mu.Unlock()
				return offset.Errorf(offset.ErrDenied,
					"another process (%s) with the identity %s is connected: two run with copies of one data folder; stop one and give it a folder of its own, or wait %v if the other has just died",
					old.RemoteAddr(), id, linger)
			}
			gone = append(gone, old)
		}
		g = nil
	}
	if g == nil {
		g = &guest{run: run, conns: make(map[*conn]struct{})}
		b.guests[id] = g
	}
	g.conns[c] = struct{}{}
	c.member = true
	b.members++
	b.strangers = slices.DeleteFunc(b.strangers, func(o *conn) bool { return o == c })
	b.mu.Unlock()
	for _, old := range gone {
		old.Close()
	}
	return nil
}

// shut closes all connections and lets no more in.
func (b *books) shut() {
	b.mu.Lock()
	b.closed = true
	list := make([]*conn, 0, len(b.all))
	for c := range b.all {
		list = append(list, c)
	}
	b.settleLocked()
	b.mu.Unlock()
	for _, c := range list {
		c.Close()
	}
	<-b.empty
}

// queue hands connections from the handshake to whoever accepts them.
type queue struct {
	addr   net.Addr
	conns  chan *conn
	closed chan struct{}
	once   sync.Once
}

func newQueue(addr net.Addr) *queue {
	return &queue{addr: addr, conns: make(chan *conn), closed: make(chan struct{})}
}

// put waits for somebody to accept c, at most for d; otherwise it closes c.
func (q *queue) put(c *conn, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case q.conns <- c:
	case <-t.C:
		c.Close()
	case <-q.closed:
		c.Close()
	}
}

// Accept waits for the next connection; net.ErrClosed after Close.
func (q *queue) Accept() (net.Conn, error) {
	select {
	case <-q.closed:
		return nil, net.ErrClosed
	default:
	}
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept.
func (q *queue) Close() error {
	q.once.Do(func() { close(q.closed) })
	return nil
}

// Addr returns where the connections came in.
func (q *queue) Addr() net.Addr { return q.addr }
