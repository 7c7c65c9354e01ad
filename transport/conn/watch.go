package conn

import (
	"fmt"
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
	silent := now.Sub(c.heard)
	if left := c.cfg.Silence - silent; left > 0 {
		c.lookLocked(left)
		c.mu.Unlock()
		return
	}
	c.mu.Unlock()
	c.end(fmt.Errorf("no sign of life from %q for %s", c.cfg.Addr, silent.Round(time.Millisecond)))
}
