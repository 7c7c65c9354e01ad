package node

import (
	"context"
	"errors"
	"runtime"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// An entry costs the same few syncs on each member whether it carries one
// request or a thousand, so many small ones at once only slow each other down. It
// is proposed once nothing more waits, a slot of the window is free, and it
// carries as many requests as are in flight, or worthBytes. So two callers do not
// wait for each other, and hundreds share a few entries without a timer: what is
// in flight is the delay. (Nagle's algorithm, RFC 896, would hold any small one
// back while something is in flight, and two callers would wait for each other:
// docs/performance.md.)
const worthBytes = 16 << 10

// standBacks is how often gather lets other goroutines run before it concludes
// that nothing waits: of the requests in one message of a stream, the first wakes
// this goroutine before the others have been enqueued.
const standBacks = 2

// gather fills the builder: it waits for a first request, and continues until
// the entry is full or may go as it is. It takes one token of the window. False
// means that ctx is done.
func (p *proposer) gather(ctx context.Context) bool {
	p.open()
	if !p.first(ctx) {
		return false
	}
	for backs := 0; !p.full(); {
		select {
		case o := <-p.in:
			p.take(o)
			backs = 0
			continue
		default:
		}
		if backs < standBacks {
			backs++
			runtime.Gosched()
			continue
		}
		window := p.window
		if !p.worth() {
			window = nil
		}
		select {
		case o := <-p.in:
			p.take(o)
			backs = 0
		case <-p.fewer:
		case <-window:
			return true
		case <-ctx.Done():
			return false
		}
	}
	select {
	case <-p.window:
		return true
	case <-ctx.Done():
		return false
	}
}

// first waits until the entry has a request.
func (p *proposer) first(ctx context.Context) bool {
	for len(p.parts) == 0 {
		if o := p.carry; o != nil {
			p.carry = nil
			p.add(o)
			continue
		}
		select {
		case o := <-p.in:
			p.take(o)
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// worth reports whether the entry may go while others are in flight.
func (p *proposer) worth() bool {
	return int64(len(p.parts)) >= p.flying.Load() || p.builder.Len() >= worthBytes
}

// open begins an entry at the level that the state has.
func (p *proposer) open() {
	p.parts = nil
	level := max(p.machine.Root().Level(), 1)
	if p.builder == nil || level != p.level {
		p.builder, p.level = entry.NewBuilder(p.cluster, level), level
		return
	}
	p.builder.Reset()
}

// take makes a waiting request this goroutine's, unless its caller dropped it.
func (p *proposer) take(o *proposal) {
	p.waitingBytes.Add(-int64(o.size))
	if !o.state.CompareAndSwap(waiting, taken) {
		return
	}
	if o.asked != nil {
		if err := p.quota.admit(o.asked); err != nil {
			o.tell(outcome{err: err})
			return
		}
	}
	p.add(o)
}

// add joins a request to the entry; what does not fit is carried to the next.
func (p *proposer) add(o *proposal) {
	err := p.builder.Add(&o.request)
	switch {
	case err == nil:
		p.parts = append(p.parts, o)
	case errors.Is(err, offset.ErrBusy) && len(p.parts) > 0:
		p.carry = o
	default:
		o.tell(outcome{err: err})
	}
}

// full reports whether the entry is to be sealed as it is.
func (p *proposer) full() bool {
	return p.carry != nil || p.builder.Len() >= p.config.SealBytes ||
		len(p.parts) > 0 && p.parts[len(p.parts)-1].request.Alone()
}
