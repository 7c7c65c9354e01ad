package history

import (
	"context"
	"sync"
	"time"

	"github.com/tidemark-mq/tidemark/cluster-test/history/arena"
	"github.com/tidemark-mq/tidemark/cluster-test/history/fault"
)

// leaders counts changes of leader.
type leaders struct {
	stop  context.CancelFunc
	done  sync.WaitGroup
	count int // of the goroutine until it has ended
}

// watch looks who leads, again and again until end.
func watch(a arena.Arena) *leaders {
	ctx, stop := context.WithCancel(context.Background())
	l := &leaders{stop: stop}
	l.done.Go(func() {
		was, in := "", uint64(0)
		for ctx.Err() == nil {
			if name, term, ok := fault.Leader(ctx, a); ok && term > in {
				if was != "" {
					l.count++
				}
				was, in = name, term
			}
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond): // between two looks
			}
		}
	})
	return l
}

// end ends the watch and gives the count.
func (l *leaders) end() int {
	l.stop()
	l.done.Wait()
	return l.count
}
