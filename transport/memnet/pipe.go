package memnet

import (
	"sync"
	"syscall"
	"time"
)

// window is how many bytes of one direction may be under way.
const window = 256 << 10

// pipe is one direction of a connection: a queue of what was written and has
// not been read.
type pipe struct {
	out  *link // the direction of the bytes
	back *link // the other one, by which the writer would learn that nobody reads

	mu      sync.Mutex // guards what follows; a link's is taken under it
	queue   []chunk
	size    int // bytes in queue, at most window
	last    time.Time
	unread  bool          // the reader has closed: what is written goes nowhere
	broken  error         // reset: neither side does anything more
	changed chan struct{} // closed, and replaced, at each change
}

// chunk is what one write sent, or the end.
type chunk struct {
	data []byte
	due  time.Time
	// sentIn numbers the cut of the link that it was sent during; 0 for none.
	sentIn uint64
	end    error // io.EOF or a reset, for what follows the data
}

func newPipe(out, back *link) *pipe {
	return &pipe{out: out, back: back, changed: make(chan struct{})}
}

// notifyLocked wakes all goroutines that wait for a change.
func (p *pipe) notifyLocked() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// write takes as much of b as there is room for. With n == 0 and no error, the
// caller waits for wake.
func (p *pipe) write(b []byte) (n int, wake <-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return 0, nil, p.broken
	}
	if p.unread {
		if back, _ := p.back.state(); !back.cut {
			return 0, nil, syscall.EPIPE
		}
	}
	if n = min(len(b), window-p.size); n == 0 {
		return 0, p.changed, nil
	}
	p.pushLocked(chunk{data: append([]byte(nil), b[:n]...)})
	return n, nil, nil
}

// pushLocked queues a chunk after the others.
func (p *pipe) pushLocked(c chunk) {
	f, _ := p.out.state()
	if f.cut {
		c.sentIn = f.cuts
	}
	c.due = time.Now().Add(f.delay)
	if c.due.Before(p.last) {
		c.due = p.last
	}
	p.last = c.due
	p.queue = append(p.queue, c)
	p.size += len(c.data)
	p.notifyLocked()
}

// read takes what has arrived. With n == 0 and no error, the caller waits for
// one of the wakes or until due, where that is not zero.
func (p *pipe) read(b []byte) (n int, due time.Time, wakes [2]<-chan struct{}, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return 0, due, wakes, p.broken
	}
	wakes[0] = p.changed
	if len(p.queue) == 0 {
		return 0, due, wakes, nil
	}
	f, changed := p.out.state()
	head := &p.queue[0]
	if !f.arrived(head, time.Now()) {
		wakes[1] = changed
		if !f.cut {
			due = head.due
		}
		return 0, due, wakes, nil
	}
	if head.end != nil { // stays in the queue, for the next read
		return 0, due, wakes, head.end
	}
	n = copy(b, head.data)
	p.size -= n
	if head.data = head.data[n:]; len(head.data) == 0 {
		p.queue[0] = chunk{}
		p.queue = p.queue[1:]
	}
	p.notifyLocked()
	return n, due, wakes, nil
}

// finish lets the reader know, after the bytes, that nothing follows.
func (p *pipe) finish(end error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.pushLocked(chunk{end: end})
	}
}

// abandon is the reader's closing.
func (p *pipe) abandon() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.unread, p.queue, p.size = true, nil, 0
	p.notifyLocked()
}

// reset breaks the direction for both sides at once.
func (p *pipe) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken, p.queue, p.size = syscall.ECONNRESET, nil, 0
		p.notifyLocked()
	}
}
