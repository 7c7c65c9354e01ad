package client

import (
	"errors"
	"slices"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// shunFor is how long an address that failed is passed over, so that a node
// that keeps naming it as the leader does not send every call into the void.
const shunFor = 2 * time.Second

// maxShunned bounds the addresses that are remembered as failed, and those that
// are remembered as logged.
const maxShunned = 64

// learn takes the leader that an answer of the node at addr names.
func (c *Client) learn(addr, leader string) {
	if leader == "" {
		return
	}
	c.mu.Lock()
	if leader == c.leader && leader == c.want {
		c.mu.Unlock()
		return
	}
	c.leader = leader
	before := c.led
	c.led = leader
	moved := !c.shunnedLocked(leader) && c.want != leader
	if moved {
		c.want = leader
	}
	c.mu.Unlock()
	if moved && addr != leader {
		c.set.logger.Info("calls go to the leader from now on", "from", addr, "to", leader)
	}
	if before != leader {
		c.changed(before, leader)
	}
}

// changed reports another leader.
func (c *Client) changed(from, to string) {
	if m := c.set.metrics; m != nil && from != "" {
		m.LeaderChange()
	}
	if h := c.set.hooks.LeaderChanged; h != nil {
		h(from, to)
	}
}

// learnFrom takes what an error answered by the node at addr says of where to
// go: to the leader it names, or away.
func (c *Client) learnFrom(addr string, err error) {
	if e := (*offset.Error)(nil); errors.As(err, &e) && e.Leader != "" {
		c.learn(addr, e.Leader)
		return
	}
	if leaves(err) {
		c.leave(addr, false)
	}
}

// leaves reports whether an answer is a reason to try another node.
func leaves(err error) bool {
	switch offset.CodeOf(err) {
	case offset.CodeNotLeader, offset.CodeNotReady, offset.CodeNoLeader, offset.CodeClosed, offset.CodeOutcomeUnknown:
		return true
	}
	return false
}

// leave makes calls go to another seed if they went to addr; failed also
// passes addr over for a while.
func (c *Client) leave(addr string, failed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if failed {
		c.shunLocked(addr)
	}
	if c.leader == addr {
		c.leader = ""
	}
	if c.want == addr {
		c.want = c.seedLocked(addr)
	}
	c.leaving = c.leaving || c.cur != nil && c.cur.Addr() == addr && c.want != addr
}

// unreachable makes calls leave a node that could not be dialed. That is logged
// once until it is reached again: an outage is tried at several times a second.
func (c *Client) unreachable(addr string, err error) {
	c.mu.Lock()
	_, said := c.unreached[addr]
	if len(c.unreached) >= maxShunned {
		clear(c.unreached)
	}
	c.unreached[addr] = struct{}{}
	c.mu.Unlock()
	if !said {
		c.set.logger.Warn("a node cannot be reached", "addr", addr, "error", err)
	}
	c.leave(addr, true)
}

// seedLocked gives the next seed that is neither addr nor shunned; if all are,
// the next that is not addr, and if that is the only one, addr.
func (c *Client) seedLocked(addr string) string {
	other := ""
	for range c.seeds {
		s := c.seeds[c.next]
		c.next = (c.next + 1) % len(c.seeds)
		if s != addr && !c.shunnedLocked(s) {
			return s
		}
		if s != addr && other == "" {
			other = s
		}
	}
	if other != "" {
		return other
	}
	return c.seeds[c.next]
}

func (c *Client) shunLocked(addr string) {
	if len(c.shunned) >= maxShunned {
		clear(c.shunned)
	}
	c.shunned[addr] = c.set.clock.Now().Add(shunFor)
}

func (c *Client) shunnedLocked(addr string) bool {
	until, ok := c.shunned[addr]
	if ok && !c.set.clock.Now().Before(until) {
		delete(c.shunned, addr)
		return false
	}
	return ok
}

// failedLately reports whether addr is passed over.
func (c *Client) failedLately(addr string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shunnedLocked(addr)
}

// candidates lists where to dial, best first: where calls should go, then
// the seeds in turn, those that failed lately last. addr alone comes first.
func (c *Client) candidates() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := []string{c.want}
	var last []string
	for i := range c.seeds {
		s := c.seeds[(c.next+i)%len(c.seeds)]
		switch {
		case slices.Contains(list, s) || slices.Contains(last, s):
		case c.shunnedLocked(s):
			last = append(last, s)
		default:
			list = append(list, s)
		}
	}
	return append(list, last...)
}
