package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/bench/latency"
	"github.com/tidemark-mq/tidemark/bench/nodes"
	"github.com/tidemark-mq/tidemark/client"
)

// watcher asks status and health of every node each second.
type watcher struct {
	cluster *nodes.Cluster
	cancel  context.CancelFunc
	all     sync.WaitGroup
	took    latency.Samples

	mu sync.Mutex
	// The fields below belong to mu.
	term     uint64 // the highest seen
	rises    int    // how often it rose
	failures []string
	away     map[string]bool // nodes that were killed
}

func watch(ctx context.Context, cluster *nodes.Cluster) *watcher {
	ctx, cancel := context.WithCancel(ctx)
	w := &watcher{cluster: cluster, cancel: cancel, away: map[string]bool{}}
	for _, n := range nodes.Names {
		w.all.Go(func() { w.ask(ctx, n) })
	}
	return w
}

func (w *watcher) ask(ctx context.Context, name string) {
	c, err := client.New([]string{w.cluster.API(name)})
	if err != nil {
		w.fail(name, err)
		return
	}
	defer c.Close()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		began := time.Now()
		st, err := c.Status(call, w.cluster.API(name))
		if err == nil {
			w.saw(st.Term)
			err = w.cluster.Ready(call, name)
		}
		cancel()
		if ctx.Err() != nil {
			return
		}
		if w.took.Add(time.Since(began)); err != nil {
			w.fail(name, err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *watcher) saw(term uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if term > w.term {
		if w.term > 0 {
			w.rises++
		}
		w.term = term
	}
}

func (w *watcher) fail(name string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.away[name] {
		w.failures = append(w.failures, fmt.Sprintf("%s: %v", name, err))
	}
}

// changes is how often the term rose.
func (w *watcher) changes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rises
}

// pause and resume say that a node is away.
func (w *watcher) pause(name string)  { w.set(name, true) }
func (w *watcher) resume(name string) { w.set(name, false) }

func (w *watcher) set(name string, away bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.away[name] = away
}

// end ends it.
func (w *watcher) end() {
	w.cancel()
	w.all.Wait()
}

// stop ends it and tells what it saw. Between the kill of a leader and the next
// one members say that there is none, which is no failure of theirs; anything
// else that a node answered late or not is shown.
func (w *watcher) stop() {
	w.end()
	row("status and health of each node, every second", "%v; not answered or not ready: %d", w.took.Take(), len(w.failures))
	for _, f := range w.failures {
		row("not answered or not ready", "%s", f)
	}
	row("elections in all, that after the kill included", "%d", w.rises)
}
