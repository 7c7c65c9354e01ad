package conn

import (
	"fmt"
	"net"
	"sync/atomic"
	"time"
)

// watchLocked starts the watch for silence as a call is made, if it does not
// run. The silence counts from the first call after a time without any. Calls
// that were sent, and given up by their callers, count as well: the other side
// owes a sign of life for them, or callers with short deadlines would follow
// one another on a dead connection for ever.
func (c *Conn) watchLocked() {
	if len(c.open) == 1 && !c.owed {
		c.heard = time.Now()
	}
	if !c.watching {
		c.lookLocked(c.cfg.Silence)
	}
}

// lookLocked sets the timer.
func (c *Conn) lookLocked(in time.Duration) {
	c.watching = true
	c.running.Add(1)
	c.due = time.Now().Add(in)
	c.timer.Reset(in)
}

// watch runs when the timer fires: it gives the connection up, looks again
// later, or stops watching since no call is open and nothing is owed.
func (c *Conn) watch() {
	defer c.running.Done()
	c.mu.Lock()
	c.watching = false
	if c.cause != nil || len(c.open) == 0 && !c.owed {
		c.mu.Unlock()
		return
	}
	now := time.Now()
	if now.Sub(c.due) > c.cfg.Silence/4 {
		// This process did not run: what the server sent meanwhile may not
		// have been read yet. The silence counts from here.
		c.heard = now
	}
	silent := min(now.Sub(c.heard), now.Sub(c.arrived.last()))
	if left := c.cfg.Silence - silent; left > 0 {
		c.lookLocked(left)
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.end(fmt.Errorf("no sign of life from %q for %s", c.cfg.Addr, silent.Round(time.Millisecond)))
}

// arrivals notes when bytes came last: a message may take longer to arrive than a
// connection may be silent. What this side writes is no such sign, since a socket
// takes it whether or not anybody lives at the other end. There the server has the
// word: it gives signs of life from when a message begins to arrive.
type arrivals struct {
	since time.Time
	at    atomic.Int64 // after since
}

func (a *arrivals) note() { a.at.Store(int64(time.Since(a.since))) }

func (a *arrivals) last() time.Time { return a.since.Add(time.Duration(a.at.Load())) }

// noting is a connection that notes when bytes come.
type noting struct {
	net.Conn
	arrived *arrivals
}

// Read reads.
func (n noting) Read(b []byte) (int, error) {
	k, err := n.Conn.Read(b)
	if k > 0 {
		n.arrived.note()
	}
	return k, err
}
