package client

import (
	"context"
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
	// last is closed once what a queue has under way has ended.
	last map[offset.MessageQueue]chan struct{}
}

func (b *behind) init() {
	b.life, b.die = context.WithCancel(context.Background())
	b.last = make(map[offset.MessageQueue]chan struct{})
}

// of gives what a queue has under way; nil if it has nothing.
func (b *behind) of(mq offset.MessageQueue) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ch, ok := b.last[mq]; ok {
		return ch
	}
	return nil
}

// run does something for a queue in a goroutine, after what that queue has
// under way; do says that it is over, before anybody is told who may then wait
// for the queue. The error wraps offset.ErrBusy: there is too much.
func (b *behind) run(mq offset.MessageQueue, do func(ctx context.Context, over func())) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return errStoreShut
	}
	if b.n == maxBehind {
		return offset.Errorf(offset.ErrBusy, "%d offsets are being sent one way; wait for one by sending it with an answer", maxBehind)
	}
	b.n++
	before, done := b.last[mq], make(chan struct{})
	b.last[mq] = done
	b.running.Go(func() {
		if before != nil {
			<-before
		}
		do(b.life, func() { b.over(mq, done) })
		b.mu.Lock()
		defer b.mu.Unlock()
		b.n--
	})
	return nil
}

// over lets those go on that wait for one thing that a queue had under way.
func (b *behind) over(mq offset.MessageQueue, done chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.last[mq] == done {
		delete(b.last, mq)
	}
	close(done)
}

// end lets what is under way come to its end, or cuts it short once ctx has
// ended, and waits for it.
func (b *behind) end(ctx context.Context) {
	b.mu.Lock()
	b.ended = true
	var all []chan struct{}
	for _, ch := range b.last {
		all = append(all, ch)
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

// sendBehind makes a run of sending for a queue that its caller does not wait for.
func (s *RemoteStore) sendBehind(mq offset.MessageQueue, next int64) error {
	err := s.behind.run(mq, func(ctx context.Context, over func()) {
		ctx, cancel := context.WithTimeout(ctx, s.set.timeout)
		defer cancel()
		w := s.exactly(mq, next)
		w.over = over
		s.report("an offset that was sent one way is not persisted", s.send(ctx, w))
	})
	if err != nil {
		return &Error{Op: "persist", Subject: s.key(mq).String(), Leader: s.client.Leader(), Err: err}
	}
	return nil
}
