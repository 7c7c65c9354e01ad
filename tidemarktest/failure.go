package tidemarktest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// failures are the faults of calls that are still to come. The zero value has none.
type failures struct {
	mu    sync.Mutex // guards what follows
	rules []planned
	calls map[Call]int
}

// planned is one FailNext that is not used up.
type planned struct {
	left  int
	call  Call
	fault Fault
}

func (f *failures) add(n int, call Call, fault Fault) {
	if n <= 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, planned{n, call, fault})
}

func (f *failures) clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// next counts a call and gives what happens to it.
func (f *failures) next(call Call) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.calls == nil {
		f.calls = make(map[Call]int)
	}
	f.calls[call]++
	f.calls[AnyCall]++
	for i := range f.rules {
		r := &f.rules[i]
		if r.call != call && r.call != AnyCall {
			continue
		}
		fault := r.fault
		if r.left != Always {
			r.left--
		}
		if r.left == 0 {
			f.rules = append(f.rules[:i], f.rules[i+1:]...)
		}
		return fault
	}
	return Fault{}
}

func (f *failures) count(call Call) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[call]
}

// wait takes the fault's delay; false: ctx ended before.
func (f Fault) wait(ctx context.Context) bool {
	if f.delay <= 0 {
		return true
	}
	t := time.NewTimer(f.delay)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// before is what happens to a call in memory before it is done: unsent is the
// error where it never is, since it was lost.
func (f Fault) before(ctx context.Context, unsent error) error {
	switch {
	case ctx.Err() != nil, !f.wait(ctx):
		return fmt.Errorf("%w: %w", offset.ErrBusy, ctx.Err())
	case f.err != nil:
		return f.err
	case f.lose && !f.done:
		return lost(unsent)
	}
	return nil
}

// lost is the error of a call whose connection was broken on purpose.
func lost(sentinel error) error {
	return offset.Errorf(sentinel, "the connection was broken on purpose")
}
