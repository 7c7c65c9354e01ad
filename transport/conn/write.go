package conn

import (
	"fmt"
	"runtime"

	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

// standBacks is how often the writer lets other goroutines run before a message
// at most.
const standBacks = 4

// write is the writer: it sends what waits until the connection ends.
func (c *Conn) write() {
	var m tidemarkv1.StreamRequest
	for {
		select {
		case <-c.ended:
			return
		case <-c.wake:
		}
		for c.standBack(); c.take(&m); c.standBack() {
			if err := c.stream.Send(&m); err != nil {
				c.end(fmt.Errorf("sending to %q: %w", c.cfg.Addr, err))
				return
			}
		}
	}
}

// standBack lets other goroutines run until no more calls come: callers that
// replies have just woken come back with their next ones, which travel in one
// message instead of many.
func (c *Conn) standBack() {
	for waiting, backs := -1, 0; backs < standBacks; backs++ {
		runtime.Gosched()
		n := c.waiting()
		if n == waiting {
			return
		}
		waiting = n
	}
}

func (c *Conn) waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.queue)
}

// take moves calls that wait into m, up to the bound on bytes and at least
// one, and notes them as sent. It tells whether there were any.
func (c *Conn) take(m *tidemarkv1.StreamRequest) bool {
	clear(m.Calls)
	m.Calls = m.Calls[:0]
	c.mu.Lock()
	defer c.mu.Unlock()
	bytes, n := 0, 0
	for ; n < len(c.queue); n++ {
		p := c.queue[n]
		if c.open[p.msg.Id] != p { // its caller waits no more: it is never sent
			continue
		}
		if bytes += p.size; bytes > c.cfg.Batch && len(m.Calls) > 0 {
			break
		}
		p.sent = true
		m.Calls = append(m.Calls, p.msg)
	}
	rest := copy(c.queue, c.queue[n:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	c.owed = c.owed || len(m.Calls) > 0
	return len(m.Calls) > 0
}
