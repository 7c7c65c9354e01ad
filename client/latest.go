package client

import (
	"context"
	"sync"
	"time"
)

// latestWait is for how long a caller waits for files to be read where it can have
// what they held before.
const latestWait = 100 * time.Millisecond

// latest is what files hold, as far as the disk gives them. They are read in a
// goroutine of its own, one at a time: a disk that hangs holds up no caller beyond
// its context, and leaves what was there before in use.
type latest[T any] struct {
	// read reads the files. Where it fails, what was there before stays.
	read func() (T, error)

	mu sync.Mutex // guards what follows
	// held is what they held at that time, if has.
	held T
	has  bool
	at   time.Time
	// under is the look at the files that is under way; nil if there is none.
	under *look
}

// look is one look at the files. What it found is in latest, except for an error.
type look struct {
	done chan struct{} // closed when it has ended
	err  error         // set before that
}

// get gives what the files hold: as read within the last second or, if now, after
// this call began. The error is that of reading, or of ctx.
func (l *latest[T]) get(ctx context.Context, now bool) (T, error) {
	l.mu.Lock()
	has := l.has
	if has && !now && time.Since(l.at) <= time.Second {
		defer l.mu.Unlock()
		return l.held, nil
	}
	joined := l.under != nil
	r := l.lookLocked()
	l.mu.Unlock()
	if has {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, latestWait)
		defer cancel()
	}
	err := r.wait(ctx)
	if now && joined && ctx.Err() == nil { // that one may have begun before the files were replaced
		l.mu.Lock()
		r = l.lookLocked()
		l.mu.Unlock()
		err = r.wait(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.has {
		return l.held, nil
	}
	return l.held, err
}

// lookLocked gives the look under way; if there is none it begins one.
func (l *latest[T]) lookLocked() *look {
	if l.under != nil {
		return l.under
	}
	r := &look{done: make(chan struct{})}
	l.under = r
	go func() {
		v, err := l.read()
		l.mu.Lock()
		defer l.mu.Unlock()
		if r.err = err; err == nil {
			l.held, l.has, l.at = v, true, time.Now()
		}
		l.under = nil
		close(r.done)
	}()
	return r
}

// wait waits for the end of a look within ctx.
func (r *look) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}
