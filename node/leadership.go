package node

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/planted"
)

// leadership follows who leads. Two goroutines: one drains raft's NotifyCh and
// never calls raft, since raft's main loop waits for it; the other begins and
// ends tenures.
type leadership struct {
	raft   *raft.Raft
	notify chan bool // raft's NotifyCh
	begun  chan bool // the newest news, one slot
	// duty runs for as long as a tenure is ready, on a goroutine of its own.
	duty func(ctx context.Context, term uint64)
	// barrier gets the error of a new leader's barrier: see transferWatch.
	barrier func(error)

	ready atomic.Uint64 // the term whose barrier has been applied; 0 for none

	mu      sync.Mutex
	changed chan struct{} // closed and replaced when anything may have changed
}

func newLeadership(notify chan bool) *leadership {
	return &leadership{notify: notify, begun: make(chan bool, 1), changed: make(chan struct{})}
}

// readyTerm returns the term in which this member leads with all earlier
// entries applied, or 0.
func (l *leadership) readyTerm() uint64 {
	term := l.ready.Load()
	if term == 0 || l.raft.State() != raft.Leader || l.raft.CurrentTerm() != term {
		return 0
	}
	return term
}

// leads reports whether raft takes proposals, as far as it knows itself.
func (l *leadership) leads() bool { return l.raft.State() == raft.Leader }

// news returns a channel that is closed when who leads may have changed.
func (l *leadership) news() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

func (l *leadership) tell() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.changed)
	l.changed = make(chan struct{})
}

// drain takes raft's news at once and keeps the newest.
func (l *leadership) drain(ctx context.Context) {
	observed := make(chan raft.Observation, 16)
	o := raft.NewObserver(observed, false, func(o *raft.Observation) bool {
		_, ok := o.Data.(raft.LeaderObservation)
		return ok
	})
	l.raft.RegisterObserver(o)
	defer l.raft.DeregisterObserver(o)
	for {
		select {
		case <-ctx.Done():
			return
		case <-observed:
			l.tell()
		case leads := <-l.notify:
			select {
			case <-l.begun:
			default:
			}
			l.begun <- leads
			l.tell()
		}
	}
}

// follow begins a tenure when this member is elected, and ends it when it no
// longer leads. It returns when ctx is done and the last tenure has ended.
func (l *leadership) follow(ctx context.Context) {
	end := func() {}
	for {
		select {
		case <-ctx.Done():
			end()
			return
		case leads := <-l.begun:
			end()
			l.ready.Store(0)
			end = func() {}
			if leads {
				end = l.tenure(ctx)
			}
		}
	}
}

// tenure begins one. end ends it and waits for that.
func (l *leadership) tenure(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	serving.Go(func() { l.serve(ctx) })
	return func() {
		cancel()
		serving.Wait()
	}
}

// serve makes the tenure ready: once a barrier of its term has been applied,
// this member's table holds everything that was acknowledged before.
func (l *leadership) serve(ctx context.Context) {
	for ctx.Err() == nil && l.leads() {
		term := l.raft.CurrentTerm()
		if planted.Is(planted.LeaderWithoutBarrier) {
			l.ready.Store(term)
		}
		err := await(ctx, l.raft.Barrier(0))
		l.barrier(err)
		if err == nil && l.leads() && l.raft.CurrentTerm() == term {
			l.ready.Store(term)
			l.tell()
			l.duty(ctx, term)
			return
		}
		if errors.Is(err, raft.ErrRaftShutdown) {
			return
		}
		pause(ctx, 10*time.Millisecond)
	}
}

// pause waits for d or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}
