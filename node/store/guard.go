package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// hangTicks is how many of the guard's ticks a write may see.
const hangTicks = 10

// errHang is what a hanging write is reported as; the write itself says nothing.
var errHang = errors.New("no answer from the disk")

// guard stands before every write of log, term and vote. The first error is
// latched: after a failed sync the page cache no longer shows what is on the
// disk, so nothing may be built on a later write's success. And it watches how
// long each write takes, in its own ticks: a stopped process gets one late tick
// for the whole pause, so only a disk that hangs while the process runs is seen
// as hanging.
type guard struct {
	dir     string
	off     bool // Unsafe.NoGuard
	fault   func(Op) error
	onWrite func(time.Duration, int)

	failed chan struct{} // closed with the first failure
	stop   chan struct{} // closed by close
	done   chan struct{} // closed when watch has ended

	mu      sync.Mutex
	failure *Failure
	flight  map[*write]struct{}
	broken  bool // a panic left the log file's locks in doubt
}

// write is one write under way.
type write struct {
	op    Op
	ticks int
}

func newGuard(cfg Config) *guard {
	g := &guard{
		dir:     cfg.Dir,
		off:     cfg.Unsafe.NoGuard,
		fault:   cfg.Unsafe.Fault,
		onWrite: cfg.OnWrite,
		failed:  make(chan struct{}),
		stop:    make(chan struct{}),
		done:    make(chan struct{}),
		flight:  make(map[*write]struct{}),
	}
	go g.watch(max(cfg.HangAfter/hangTicks, time.Millisecond)) // close waits for it
	return g
}

// close ends the watch and waits for it.
func (g *guard) close() {
	close(g.stop)
	<-g.done
}

// write does one write of log, term or vote, which carries so many bytes. Its
// error is always a *Failure, and so is every later call's.
func (g *guard) write(op Op, bytes int, fn func() error) error {
	if err := g.err(); err != nil {
		return err
	}
	start := time.Now()
	err := g.watched(op, fn)
	if g.onWrite != nil {
		g.onWrite(time.Since(start), bytes)
	}
	if err != nil {
		return g.fail(causeOf(err), op, err)
	}
	return g.err() // a write that came back after it was given up
}

// watched does a change of the disk whose error need not end the node, but
// whose hanging does.
func (g *guard) watched(op Op, fn func() error) error {
	w := &write{op: op}
	g.mu.Lock()
	g.flight[w] = struct{}{}
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.flight, w)
		g.mu.Unlock()
	}()
	if g.fault != nil {
		if err := g.fault(op); err != nil {
			return err
		}
	}
	return g.contained(fn)
}

// apart does a change of the disk whose error reaches nobody otherwise.
func (g *guard) apart(op Op, fn func() error) error {
	if err := g.err(); err != nil {
		return err
	}
	if err := g.watched(op, fn); err != nil {
		return g.fail(causeOf(err), op, err)
	}
	return nil
}

// read does a read of the log file. An answer that only says "not there" must
// not come through here.
func (g *guard) read(fn func() error) error {
	if err := g.contained(fn); err != nil {
		return g.fail(causeOf(err), OpRead, err)
	}
	return nil
}

// contained turns a panic of the log file's library, which is its answer to a
// damaged page and to some failed writes, into an error, and a fault of the
// mapped file, which is how a disk says that it can't read. The library's locks
// are in doubt from then on, so the file is not touched again, not even to close
// it.
func (g *guard) contained(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			g.mu.Lock()
			g.broken = true
			g.mu.Unlock()
			err = fmt.Errorf("log file unusable: %v", p)
		}
	}()
	return fn()
}

// fail latches the first failure and returns what is latched.
func (g *guard) fail(cause Cause, op Op, err error) error {
	f := &Failure{Cause: cause, Op: op, Dir: g.dir, Err: err}
	if g.off {
		return f
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failure == nil {
		g.failure = f
		close(g.failed)
	}
	return g.failure
}

// err returns the latched failure, nil while there is none.
func (g *guard) err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.failure == nil {
		return nil
	}
	return g.failure
}

// stuck reports whether a write that hangs is still under way, or the log file's
// locks are in doubt: closing it could then hang.
func (g *guard) stuck() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	hangs := g.failure != nil && g.failure.Cause == CauseHang && len(g.flight) > 0
	return g.broken || hangs
}

// watch gives each write under way a tick, and up those that have had too many.
func (g *guard) watch(tick time.Duration) {
	defer close(g.done)
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-g.stop:
			return
		case <-t.C:
			if op, hangs := g.tick(); hangs {
				_ = g.fail(CauseHang, op, errHang)
			}
		}
	}
}

func (g *guard) tick() (Op, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for w := range g.flight {
		// The first tick may come at once after the write began.
		if w.ticks++; w.ticks > hangTicks {
			return w.op, true
		}
	}
	return "", false
}
