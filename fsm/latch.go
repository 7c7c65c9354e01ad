package fsm

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// latch holds the first failure for ever.
type latch struct {
	cause  atomic.Pointer[error]
	failed chan struct{} // closed once cause is set
}

func (l *latch) err() error {
	if e := l.cause.Load(); e != nil {
		return *e
	}
	return nil
}

// fail keeps the first cause and tells whether err is it.
func (l *latch) fail(err error) bool {
	if !l.cause.CompareAndSwap(nil, &err) {
		return false
	}
	close(l.failed)
	return true
}

// fail is the one place where this replica's state is given up.
func (f *FSM) fail(index uint64, err error) {
	err = fmt.Errorf("applying the entry at index %d: %w", index, err)
	if f.latch.fail(err) {
		f.logger.Error("the state machine has stopped, since an entry cannot be applied; later entries change nothing", "error", err)
	}
}

// guard runs step and turns a panic into an error.
func guard(step func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return step()
}
