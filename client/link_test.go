package client

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestManyCallersDoNotDialMoreThanOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.kill("a:1")
		c := f.clientOf([]string{"a:1", "b:1"})
		ctx := within(t, 3*time.Second)
		var all sync.WaitGroup
		for range 64 {
			all.Go(func() {
				if err := commitOne(ctx, c, key(0), 1, 0); !errors.Is(err, offset.ErrUnreachable) {
					t.Errorf("%v", err)
				}
			})
		}
		all.Wait()
		if n := len(f.net.dialled()); n > 60 {
			t.Fatalf("%d dials in 3s by 64 callers", n)
		}
	})
}

// slowDials dials in 60 ms: TCP, TLS and the upgrade on a way of 20 ms there and back.
func slowDials(f *fakeCluster) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		select {
		case <-time.After(60 * time.Millisecond):
			return f.net.dial(ctx, addr)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A dial that takes longer than a caller has serves the next ones, and is no
// fault of the node's.
func TestCallersInAHurryGetAConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		var log bytes.Buffer
		c := f.clientOf([]string{"a:1", "b:1"}, WithDialer(slowDials(f)), WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		for n := range 10 {
			began := time.Now()
			_, _, err := c.Fetch(within(t, 50*time.Millisecond), offset.ReadAt{}, key(0))
			if late := !errors.Is(err, offset.ErrUnreachable) || time.Since(began) != 50*time.Millisecond; n == 0 && late || n > 0 && err != nil {
				t.Errorf("call %d: %v after %s", n, err, time.Since(began))
			}
		}
		if list := f.net.dialled(); !slices.Equal(list, []string{"a:1"}) || c.failedLately("a:1") || log.Len() > 0 {
			t.Errorf("dialled %q, log %q", list, &log)
		}
	})
}

// Close ends a search, and what waits for it, at once.
func TestCloseEndsADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var log bytes.Buffer
		c := f.clientOf([]string{"void:1"}, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		ctx := within(t, time.Minute)
		var all []<-chan error
		for range 3 {
			all = append(all, background(func() error { return commitOne(ctx, c, key(0), 1, 0) }))
		}
		synctest.Wait()
		began := time.Now()
		c.Close()
		for _, ch := range all {
			if err := <-ch; !errors.Is(err, offset.ErrClosed) || time.Since(began) != 0 {
				t.Errorf("%v after %s", err, time.Since(began))
			}
		}
		if err := commitOne(ctx, c, key(0), 1, 0); !errors.Is(err, offset.ErrClosed) {
			t.Error(err)
		}
		if n := len(f.net.dialled()); n != 1 || log.Len() > 0 {
			t.Errorf("%d dials, log %q", n, &log)
		}
	})
}

func TestWhatANodeSaidCountsForMoreThanThatTimeWasUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return refuse, offset.ErrNoLeader })
		c := f.clientOf([]string{"a:1", "void:1"})
		err := commitOne(within(t, 500*time.Millisecond), c, key(0), 1, 0)
		if !errors.Is(err, offset.ErrNoLeader) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
	})
}

func TestConnectionToAFormerLeaderAnswersWhatItTookAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.clientOf([]string{"a:1"})
		gate := make(chan struct{})
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth == 1 {
				<-gate
			}
			return none, nil
		})
		ctx := within(t, time.Minute)
		slow := background(func() error { return commitOne(ctx, c, key(0), 1, 0) })
		synctest.Wait()
		f.lead("b:1")
		for range 2 {
			if err := commitOne(ctx, c, key(1), 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		c.mu.Lock()
		old := c.old
		c.mu.Unlock()
		if len(old) != 1 || old[0].Addr() != "a:1" || f.count("b:1 commit") != 1 {
			t.Fatalf("%d connections are put away, %d commits at the new leader", len(old), f.count("b:1 commit"))
		}
		close(gate)
		if err := <-slow; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		select {
		case <-old[0].Ended():
		default:
			t.Fatal("the old connection goes on without a call")
		}
	})
}

func TestCloseEndsConnectionsThatWerePutAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.clientOf([]string{"a:1"})
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth == 1 {
				return lose, nil
			}
			return none, nil
		})
		ctx := within(t, time.Minute)
		slow := background(func() error { return commitOne(ctx, c, key(0), 1, 0) })
		synctest.Wait()
		f.lead("b:1")
		for range 2 {
			if err := commitOne(ctx, c, key(1), 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		c.Close()
		if err := <-slow; !errors.Is(err, offset.ErrOutcomeUnknown) || time.Since(began) != 0 {
			t.Fatalf("%v, %s after Close", err, time.Since(began))
		}
	})
}

// An outage is tried at several times a second, and logged once for each node:
// when it begins, and when it ends.
func TestAnOutageIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		var out bytes.Buffer
		c := f.client(WithLogger(slog.New(slog.NewTextHandler(&out, nil))))
		for n := 1; n <= 2; n++ {
			f.kill("a:1")
			if err := commitOne(within(t, 3*time.Second), c, key(0), 1, 0); err == nil {
				t.Fatal("a commit at a node that is gone")
			}
			f.start("a:1")
			if err := commitOne(within(t, 3*time.Second), c, key(0), 1, 0); err != nil {
				t.Fatal(err)
			}
			for _, said := range []string{"cannot be reached", "reached again"} {
				if got := strings.Count(out.String(), said); got != n {
					t.Fatalf("%q %d times after outage %d:\n%s", said, got, n, &out)
				}
			}
		}
	})
}
