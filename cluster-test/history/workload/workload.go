// Package workload is the clients of a history: each sends one request after
// another to some node, from all that the API has, and records each send.
//
// Every offset that is sent is sent by one request alone (and its resends), so
// that whatever is read tells which request it came from. Keys come and go by
// generations: all clients work on the keys of one for some hundred calls and
// go on to the next, so that the part of a history that belongs to a key stays
// short enough to be checked.
package workload

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// Config says what clients do.
type Config struct {
	// Seed decides what each client draws.
	Seed uint64
	// Clients is how many there are, each with one call under way. Beside them
	// each node has two that only read from it, locally and linearizably.
	Clients int
	// Generation is how many calls are answered on the keys of one generation.
	Generation int64
	// Patience bounds one call.
	Patience time.Duration
}

// Load is clients at work.
type Load struct {
	config Config
	arena  arena.Arena
	rec    *record.Recorder
	stop   context.CancelFunc
	done   sync.WaitGroup

	calls, answered atomic.Int64
	values          atomic.Int64 // drawn
	quiet           sync.RWMutex // held for reading by each request that writes
}

// Start has clients work until Stop.
func Start(a arena.Arena, rec *record.Recorder, c Config) *Load {
	ctx, stop := context.WithCancel(context.Background())
	l := &Load{config: c, arena: a, rec: rec, stop: stop}
	for i := range c.Clients {
		w := newClient(l, i, rand.New(rand.NewPCG(c.Seed, uint64(i))))
		l.done.Go(func() { w.run(ctx) })
	}
	for i, name := range a.Names() {
		for j, level := range []offset.Level{offset.Local, offset.Linearizable} {
			n := c.Clients + 2*i + j
			w := newClient(l, n, rand.New(rand.NewPCG(c.Seed, uint64(n))))
			l.done.Go(func() { w.watch(ctx, name, level) })
		}
	}
	return l
}

// Stop has clients end with the call that is under way, and waits for them.
func (l *Load) Stop() {
	l.stop()
	l.done.Wait()
}

// Quiet waits for the requests that write, and has no client send another one
// until end, which must be called before Stop. Readers go on.
func (l *Load) Quiet() (end func()) {
	l.quiet.Lock()
	return l.quiet.Unlock
}

// Calls is how many calls of clients have ended, those of readers apart.
func (l *Load) Calls() int64 { return l.calls.Load() }

// Answered is how many of them were answered.
func (l *Load) Answered() int64 { return l.answered.Load() }

// generation is the number of the generation of now.
func (l *Load) generation() int64 { return l.answered.Load() / l.config.Generation }

// value draws an offset near a height, which nobody has drawn before.
func (l *Load) value(height int64) int64 {
	return max(height, 0)<<spread | l.values.Add(1)&(1<<spread-1)
}

// spread is how many bits of an offset tell requests of one height apart.
const spread = 24

func height(offset int64) int64 { return offset >> spread }
