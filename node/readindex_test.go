package node

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// confirming runs rounds whose confirmations the test gives, inside a bubble
// of virtual time.
func confirming(t *testing.T, waiting int, test func(r *rounds, begun chan struct{}, confirm chan confirmation)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begun, confirm := make(chan struct{}, 100), make(chan confirmation)
		r := newRounds(waiting, time.Minute, &counters{}, func(ctx context.Context) (uint64, error) {
			begun <- struct{}{}
			select {
			case c := <-confirm:
				return c.index, c.err
			case <-ctx.Done():
				return 0, offset.ErrNoLeader
			}
		})
		ctx, cancel := context.WithCancel(context.Background())
		var group sync.WaitGroup
		group.Go(func() { r.run(ctx) })
		test(r, begun, confirm)
		cancel()
		group.Wait()
	})
}

func read(ctx context.Context, r *rounds) <-chan confirmation {
	done := make(chan confirmation, 1)
	go func() {
		index, err := r.join(ctx)
		done <- confirmation{index, err}
	}()
	synctest.Wait()
	return done
}

func TestAReadJoinsTheNextRound(t *testing.T) {
	confirming(t, 10, func(r *rounds, begun chan struct{}, confirm chan confirmation) {
		ctx := context.Background()
		first := read(ctx, r)
		second, third := read(ctx, r), read(ctx, r)
		if len(begun) != 1 {
			t.Fatalf("%d rounds, want one under way", len(begun))
		}
		confirm <- confirmation{index: 5}
		synctest.Wait()
		if got := <-first; got.index != 5 {
			t.Errorf("the first read: %+v", got)
		}
		if len(second) != 0 || len(third) != 0 {
			t.Fatal("a read was answered by a round that had begun before it came")
		}
		if len(begun) != 2 {
			t.Fatalf("%d rounds, want a second one for the two that wait", len(begun))
		}
		confirm <- confirmation{index: 6}
		if a, b := <-second, <-third; a.index != 6 || b.index != 6 {
			t.Errorf("the two reads of the second round: %+v, %+v", a, b)
		}
		synctest.Wait()
		if len(begun) != 2 {
			t.Error("a round began though nobody waits")
		}
	})
}

func TestAFailedRoundIsToldToItsReads(t *testing.T) {
	confirming(t, 10, func(r *rounds, begun chan struct{}, confirm chan confirmation) {
		got := read(context.Background(), r)
		confirm <- confirmation{err: offset.ErrNotLeader}
		if c := <-got; !errors.Is(c.err, offset.ErrNotLeader) {
			t.Errorf("got %v", c.err)
		}
	})
}

func TestReadsWaitNoLongerThanTheirDeadline(t *testing.T) {
	confirming(t, 2, func(r *rounds, begun chan struct{}, confirm chan confirmation) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		reads := []<-chan confirmation{read(ctx, r), read(ctx, r), read(ctx, r)}
		if c := <-read(ctx, r); !errors.Is(c.err, offset.ErrBusy) {
			t.Errorf("one more than may wait: %v, want ErrBusy", c.err)
		}
		began := time.Now()
		for _, c := range reads {
			if got := <-c; !errors.Is(got.err, offset.ErrNoLeader) {
				t.Errorf("got %v, want ErrNoLeader", got.err)
			}
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("told after %v, want 1s", took)
		}
		confirm <- confirmation{index: 1}
		synctest.Wait()
		if len(begun) != 1 {
			t.Errorf("%d rounds, though nobody waits any more", len(begun))
		}
	})
}
