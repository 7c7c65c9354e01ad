package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// key names a queue of the group of the tests.
func key(id int32) offset.Key {
	return offset.Key{Group: "billing", MessageQueue: offset.MessageQueue{Topic: "orders", Broker: "bk", QueueID: id}}
}

// within gives a context that ends after d.
func within(tb testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	tb.Cleanup(cancel)
	return ctx
}

var testCluster = offset.ClusterID{1}

func commitOne(ctx context.Context, c *Client, k offset.Key, to int64, epoch uint64) error {
	_, _, err := c.Commit(ctx, testCluster, []offset.Commit{{Key: k, Offset: to, Epoch: epoch}})
	return err
}

func TestNewRefusesWhatIsNoAddress(t *testing.T) {
	for _, seeds := range [][]string{nil, {""}, {"host"}, {":7411"}, {"host:"}, {"a:1", "b"}} {
		if _, err := New(seeds); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("New(%q) gave %v; want ErrInvalid", seeds, err)
		}
	}
}

func TestVerdictsComeInTheOrderOfTheCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		other := offset.Key{Group: "other", MessageQueue: offset.MessageQueue{Topic: "t"}}
		f.state.reset(key(1), 70)
		list := []offset.Commit{{Key: key(0), Offset: 5}, {Key: other, Offset: 6}, {Key: key(1), Offset: 7}, {Key: key(2), Offset: 8}}
		v, meta, err := c.Commit(within(t, time.Second), testCluster, list)
		if !errors.Is(err, offset.ErrFenced) {
			t.Fatalf("error is %v; want ErrFenced", err)
		}
		r := (*Refused)(nil)
		if !errors.As(err, &r) || len(r.Keys) != 1 || r.Keys[0].Key != key(1) || r.Keys[0].State.Position.Offset != 70 {
			t.Fatalf("refused: %+v", r)
		}
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Op != "commit" || e.Attempts != 1 || e.Subject != key(0).String() || e.Leader != "a:1" {
			t.Fatalf("error: %+v", e)
		}
		var got []int64
		for _, x := range v {
			got = append(got, x.State.Position.Offset)
		}
		if !slices.Equal(got, []int64{5, 6, 70, 8}) || v[2].Code != offset.CodeFenced || meta.Cluster != testCluster {
			t.Fatalf("verdicts %v, meta %+v", v, meta)
		}
	})
}

func TestFollowerNamesTheLeaderAndCallsGoThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1", "c:1")
		f.lead("c:1")
		c := f.clientOf([]string{"a:1"})
		for i := range int64(3) {
			if err := commitOne(within(t, time.Second), c, key(0), i, 0); err != nil {
				t.Fatal(err)
			}
		}
		if a, b, l := f.count("a:1 commit"), f.count("b:1 commit"), f.count("c:1 commit"); a != 1 || b != 0 || l != 2 {
			t.Fatalf("commits at a, b, c: %d, %d, %d; want 1, 0, 2", a, b, l)
		}
		if c.Leader() != "c:1" {
			t.Fatalf("leader %q", c.Leader())
		}
	})
}

func TestNotLeaderWithAHintIsSentThereAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(n *fakeNode, kind string, _ int) (fault, error) {
			if n.addr == "a:1" {
				return refuse, &offset.Error{Err: offset.ErrNotLeader, Leader: "b:1"}
			}
			return none, nil
		})
		f.lead("b:1")
		c := f.clientOf([]string{"a:1"})
		began := time.Now()
		if err := commitOne(within(t, time.Second), c, key(0), 9, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 0 {
			t.Fatalf("took %s of pauses; want none", took)
		}
	})
}

func TestNotReadyNodeIsLeftForTheNextSeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "b:1", "a:1")
		f.play(func(n *fakeNode, _ string, _ int) (fault, error) {
			if n.addr == "a:1" {
				return refuse, offset.ErrNotReady
			}
			return none, nil
		})
		c := f.clientOf([]string{"a:1", "b:1"})
		if err := commitOne(within(t, time.Second), c, key(0), 9, 0); err != nil {
			t.Fatal(err)
		}
		if n := f.count("a:1 commit"); n != 1 {
			t.Fatalf("%d commits at the node that is not ready", n)
		}
	})
}

func TestDeadSeedsArePassedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "c:1")
		c := f.clientOf([]string{"dead:1", "void:1", "c:1"})
		began := time.Now()
		if err := commitOne(within(t, 5*time.Second), c, key(0), 9, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != time.Second {
			t.Fatalf("took %s; want the dial timeout of one void seed, 1s", took)
		}
	})
}

func TestUnreachableClusterEndsWithTheDeadlineAndSaysThatNothingWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "x:1")
		f.kill("x:1")
		c := f.clientOf([]string{"x:1", "y:1"})
		began := time.Now()
		err := commitOne(within(t, 3*time.Second), c, key(0), 9, 0)
		if !errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) || offset.OutcomeOf(err) != offset.NotDone {
			t.Fatalf("error is %v", err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Fatalf("took %s; want 3s", took)
		}
		if n := len(f.net.dialled()); n < 10 || n > 60 {
			t.Fatalf("%d dials in 3s; the pauses do not grow to half a second", n)
		}
	})
}

func TestNoLeaderIsTheLastWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return refuse, offset.ErrNoLeader })
		c := f.client()
		err := commitOne(within(t, time.Second), c, key(0), 9, 0)
		if !errors.Is(err, offset.ErrNoLeader) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error is %v; want ErrNoLeader and DeadlineExceeded", err)
		}
		if a, b := f.count("a:1 commit"), f.count("b:1 commit"); a == 0 || b == 0 {
			t.Fatalf("asked a %d and b %d times; want both", a, b)
		}
	})
}

func TestUnansweredCommitIsResentElsewhereAndKnownAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(n *fakeNode, _ string, _ int) (fault, error) {
			if n.addr == "a:1" {
				return cutAfter, nil
			}
			f.lead("b:1")
			return none, nil
		})
		c := f.client()
		if err := commitOne(within(t, time.Second), c, key(0), 9, 0); err != nil {
			t.Fatal(err)
		}
		if commits, _ := f.state.applied(); commits != 2 || f.state.at(key(0)) != 9 {
			t.Fatalf("%d commits applied, offset %d", commits, f.state.at(key(0)))
		}
	})
}

func TestSilentNodeIsLeftAfterHalfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.client()
		if err := commitOne(within(t, time.Second), c, key(0), 1, 0); err != nil {
			t.Fatal(err)
		}
		f.node("a:1").quiet()
		f.lead("b:1")
		began := time.Now()
		if err := commitOne(within(t, 5*time.Second), c, key(0), 2, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took < 500*time.Millisecond || took > 600*time.Millisecond {
			t.Fatalf("took %s; want just over 500ms", took)
		}
	})
}

func TestDeadlineAfterASendIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return loseAnswer, nil })
		c := f.client()
		err := commitOne(within(t, time.Second), c, key(0), 9, 0)
		if !errors.Is(err, offset.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestARefusedResendLeavesTheFirstSendUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth == 1 {
				return refuse, offset.ErrOutcomeUnknown
			}
			return refuse, offset.ErrDenied
		})
		c := f.client()
		if err := commitOne(within(t, time.Second), c, key(0), 9, 0); !errors.Is(err, offset.ErrOutcomeUnknown) || errors.Is(err, offset.ErrDenied) {
			t.Fatalf("error is %v; want ErrOutcomeUnknown alone", err)
		}
	})
}

func TestReadsAreNeverUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		c := f.client()
		_, _, err := c.Fetch(within(t, time.Second), offset.ReadAt{}, key(0))
		if !errors.Is(err, offset.ErrUnreachable) || errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatalf("error is %v", err)
		}
	})
}

func TestBusyIsTriedAgainAtTheSameNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth < 4 {
				return refuse, offset.ErrBusy
			}
			return none, nil
		})
		c := f.client()
		if err := commitOne(within(t, time.Second), c, key(0), 9, 0); err != nil {
			t.Fatal(err)
		}
		if n := f.count("b:1 commit"); n != 0 {
			t.Fatalf("a busy leader was left: %d commits elsewhere", n)
		}
	})
}

func TestInvalidRequestIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		ctx := within(t, time.Second)
		_, _, noCluster := c.Commit(ctx, offset.ClusterID{}, []offset.Commit{{Key: key(0)}})
		_, _, nothing := c.Commit(ctx, testCluster, nil)
		_, _, noKeys := c.Fetch(ctx, offset.ReadAt{})
		negative := commitOne(ctx, c, key(0), -1, 0)
		for _, err := range []error{noCluster, nothing, noKeys, negative} {
			if !errors.Is(err, offset.ErrInvalid) {
				t.Errorf("%v is not ErrInvalid", err)
			}
		}
		if n := len(f.net.dialled()); n != 0 {
			t.Fatalf("%d connections for requests that are invalid", n)
		}
	})
}

// TestRequestThatIsTooLargeIsToldAtOnce: that it was never sent is no reason to
// look for another node until the deadline.
func TestRequestThatIsTooLargeIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		keys := make([]offset.Key, offset.MaxCommits)
		for i := range keys {
			keys[i] = key(int32(i))
			keys[i].Topic = strings.Repeat("t", offset.MaxName)
		}
		_, _, err := c.Fetch(within(t, time.Second), offset.ReadAt{}, keys...)
		e := (*Error)(nil)
		if !errors.As(err, &e) || e.Attempts != 1 || !errors.Is(err, offset.ErrInvalid) || errors.Is(err, offset.ErrUnreachable) {
			t.Fatalf("got %v", err)
		}
	})
}

func TestClosingNodeLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		var told []string
		c := f.client(WithHooks(Hooks{Disconnected: func(addr string, _ error) { told = append(told, addr) }}))
		if err := commitOne(within(t, time.Second), c, key(0), 1, 0); err != nil {
			t.Fatal(err)
		}
		close(f.node("a:1").closing)
		f.lead("b:1")
		synctest.Wait()
		if err := commitOne(within(t, time.Second), c, key(0), 2, 0); err != nil {
			t.Fatal(err)
		}
		if n := f.count("a:1 commit"); n != 1 {
			t.Fatalf("%d commits at the node that stops; want 1", n)
		}
		if !slices.Equal(told, []string{"a:1"}) {
			t.Fatalf("Disconnected was told of %q", told)
		}
	})
}

func TestLeaderThatCannotBeReachedIsReachedThroughTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.lead("inside:1") // an address that means nothing here
		c := f.clientOf([]string{"a:1"}, WithHooks(Hooks{Retried: func(string, int, error) { t.Error("a call was tried again") }}))
		for i := range int64(100) {
			if err := commitOne(within(t, time.Second), c, key(0), i, 0); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(f.net.dialled()); n != 2 {
			t.Fatalf("dialled %q; want the seed and, once in this time, the leader", f.net.dialled())
		}
		time.Sleep(shunFor)
		f.start("inside:1")
		for range 2 {
			if err := commitOne(within(t, time.Second), c, key(0), 100, 0); err != nil {
				t.Fatal(err)
			}
		}
		if n := f.count("inside:1 commit"); n != 1 {
			t.Fatalf("%d commits at the leader once it can be reached; want 1", n)
		}
	})
}

func TestManyCallersSurviveTheLossOfTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1", "c:1")
		c := f.client()
		ctx := within(t, time.Minute)
		var all sync.WaitGroup
		for g := range int32(32) {
			all.Go(func() {
				for i := range int64(40) {
					if err := commitOne(ctx, c, key(g), i+1, 0); err != nil {
						t.Errorf("commit of %s: %v", key(g), err)
						return
					}
					time.Sleep(time.Millisecond)
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		f.lead("b:1")
		f.kill("a:1")
		time.Sleep(10 * time.Millisecond)
		f.lead("c:1")
		f.kill("b:1")
		all.Wait()
		for g := range int32(32) {
			if at := f.state.at(key(g)); at != 40 {
				t.Errorf("%s is at %d; want 40", key(g), at)
			}
		}
	})
}

func TestCallsAfterCloseAreErrClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		ctx := within(t, time.Minute)
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		open := make(chan error, 1)
		go func() { open <- commitOne(ctx, c, key(0), 1, 0) }()
		synctest.Wait()
		c.Close()
		if err := <-open; !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("a call under way ended with %v; want ErrOutcomeUnknown", err)
		}
		if err := commitOne(ctx, c, key(0), 1, 0); !errors.Is(err, offset.ErrClosed) {
			t.Errorf("a commit after Close: %v", err)
		}
		if _, err := c.Status(ctx, ""); !errors.Is(err, offset.ErrClosed) {
			t.Errorf("a status after Close: %v", err)
		}
		c.Close()
	})
}
