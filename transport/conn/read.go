package conn

import (
	"fmt"
	"time"

	"github.com/tidemark-mq/tidemark/internal/planted"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// read is the reader: it hands replies to their callers until the connection ends.
func (c *Conn) read() {
	var answered []*call
	for {
		m, err := c.stream.Recv()
		if err != nil {
			c.end(fmt.Errorf("receiving from %q: %v", c.cfg.Addr, err)) // in words: its sentinel is not that of a call
			return
		}
		var last bool
		answered, last = c.match(m, answered[:0])
		for i, p := range answered {
			p.done <- struct{}{}
			answered[i] = nil
		}
		if last {
			c.end(c.Err())
			return
		}
	}
}

// match finds the calls that a message answers; a reply to a call that was
// given up is dropped. last reports that none is left and none will come.
func (c *Conn) match(m *tidemarkv1.StreamResponse, answered []*call) (list []*call, last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heard = time.Now()
	for _, r := range m.GetReplies() {
		if planted.Is(planted.AnswersMixed) {
			r.Id = c.oldestLocked()
		}
		if p, ok := c.open[r.GetId()]; ok && p.sent {
			delete(c.open, r.GetId())
			p.reply = r
			answered = append(answered, p)
		}
	}
	c.owed = len(c.open) > 0
	if m.GetClosing() {
		c.refuseLocked(errClosing)
		answered = append(answered, c.unsentLocked()...)
	}
	return answered, c.drainedLocked()
}

// oldestLocked is the id of the call that was sent first: the mistake AnswersMixed.
func (c *Conn) oldestLocked() (id uint64) {
	for n, p := range c.open {
		if p.sent && (id == 0 || n < id) {
			id = n
		}
	}
	return id
}

// unsentLocked takes the calls that were not sent off the connection, refused.
func (c *Conn) unsentLocked() (list []*call) {
	for _, p := range c.queue {
		if c.open[p.msg.Id] == p {
			delete(c.open, p.msg.Id)
			p.err = &Error{Cause: c.refused}
			list = append(list, p)
		}
	}
	c.queue = nil
	return list
}
