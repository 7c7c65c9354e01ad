package client

import (
	"context"
	"slices"
	"sync"

	"github.com/tidemark-mq/tidemark/offset"
)

// maxBehind is how many offsets a store sends one way at a time.
const maxBehind = 64

// behind is what a store has under way that no caller waits for: at most
// maxBehind goroutines, which end waits for. Its lock is taken below the store's.
type behind struct {
	// life ends with end, and what is under way with it.
	life    context.Context
	die     context.CancelFunc
	running sync.WaitGroup

	mu sync.Mutex
	// The fields below belong to mu.

	// ended: nothing is begun any more.
	ended bool
	n     int
	// sent is what each queue has under way, in the order of the calls; each waits
	// for the one before it.
	sent map[offset.MessageQueue][]unawaited
}

// unawaited is an offset that was sent one way.
type unawaited struct {
	next int64
	// lowers: it is sent as the memory's value, which can be a later word by then.
	lowers bool
	// done is closed once it has come to its end.
	done chan struct{}
}

func (b *behind) init() {
	b.life, b.die = context.WithCancel(context.Background())
	b.sent = make(map[offset.MessageQueue][]unawaited)
}

// of gives what a queue has under way: a channel that is closed once all of it has
// ended; nil if it has nothing.
func (b *behind) of(mq offset.MessageQueue) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if list := b.sent[mq]; len(list) > 0 {
		return list[len(list)-1].done
	}
	return nil
}

// raising gives what of that may raise the queue: like of, but only of those that
// do not lower it.
func (b *behind) raising(mq offset.MessageQueue) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range slices.Backward(b.sent[mq]) {
		if !u.lowers {
			return u.done
		}
	}
	return nil
}

// above reports whether a queue has an offset under way that is higher than next.
func (b *behind) above(mq offset.MessageQueue, next int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range b.sent[mq] {
		if u.next > next {
			return true
		}
	}
	return false
}

// run does something for an offset in a goroutine, after what its queue has under
// way; do says that it is over, before anybody is told who may then wait for the
// queue. The error wraps offset.ErrBusy: there is too much.
func (b *behind) run(x *exact, do func(ctx context.Context, over func())) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errStoreShut
	}
	if b.n == maxBehind {
		return offset.Errorf(offset.ErrBusy, "%d offsets are being sent one way; wait for one by sending it with an answer", maxBehind)
	}
	b.n++
	b.sent[x.mq] = append(b.sent[x.mq], unawaited{x.next, x.lowers, make(chan struct{})})
	b.running.Go(func() {
		if x.before != nil {
			<-x.before
		}
		do(b.life, func() { b.over(x.mq) })
		b.mu.Lock()
		defer b.mu.Unlock()
		b.n--
	})
	return nil
}

// over takes away the first offset that a queue had under way, and lets those
// continue that wait for it.
func (b *behind) over(mq offset.MessageQueue) {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.sent[mq]
	close(list[0].done)
	if list = list[1:]; len(list) == 0 {
		delete(b.sent, mq)
	} else {
		b.sent[mq] = list
	}
}

// end lets what is under way come to its end, or cuts it short once ctx has
// ended, and waits for it.
func (b *behind) end(ctx context.Context) {
	b.mu.Lock()
	b.ended = true
	var all []chan struct{}
	for _, list := range b.sent {
		all = append(all, list[len(list)-1].done)
	}
	b.mu.Unlock()
	for _, ch := range all {
		select {
		case <-ch:
		case <-ctx.Done():
		}
	}
	b.die()
	b.running.Wait()
}

// sendBehind makes a run of sending for an offset of a queue that its caller does
// not wait for.
func (s *RemoteStore) sendBehind(mq offset.MessageQueue, next int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.exactLocked(mq, next)
	err := s.behind.run(x, func(ctx context.Context, over func()) {
		ctx, cancel := context.WithTimeout(ctx, s.set.timeout)
		defer cancel()
		w := x.wish()
		w.over = over
		s.report("an offset that was sent one way is not persisted", s.send(ctx, w))
	})
	if err != nil {
		return &Error{Op: "persist", Subject: s.key(mq).String(), Leader: s.client.Leader(), Err: err}
	}
	s.wordLocked(x)
	return nil
}
