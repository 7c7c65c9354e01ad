package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestOnlyThreeErrorsMeanNotApplied(t *testing.T) {
	cases := []struct {
		err  error
		want error
	}{
		{nil, nil},
		{raft.ErrNotLeader, offset.ErrNotLeader},
		{raft.ErrEnqueueTimeout, offset.ErrNotLeader},
		{raft.ErrLeadershipTransferInProgress, offset.ErrNotLeader},
		{fmt.Errorf("wrapped: %w", raft.ErrNotLeader), offset.ErrNotLeader},
		{raft.ErrLeadershipLost, offset.ErrOutcomeUnknown},
		{raft.ErrRaftShutdown, offset.ErrOutcomeUnknown},
		{raft.ErrAbortedByRestore, offset.ErrOutcomeUnknown},
		{io.ErrShortWrite, offset.ErrOutcomeUnknown},
		{errStopped, offset.ErrOutcomeUnknown},
	}
	for _, c := range cases {
		got := proposed(c.err)
		if !errors.Is(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("proposed(%v) = %v, want %v", c.err, got, c.want)
		}
		if got != nil && (offset.OutcomeOf(got) == offset.Unknown) != (c.want == offset.ErrOutcomeUnknown) {
			t.Errorf("proposed(%v): outcome %v", c.err, offset.OutcomeOf(got))
		}
	}
}

// stuckFSM holds raft's FSM goroutine.
type stuckFSM struct{ hold chan struct{} }

func (s stuckFSM) Apply(*raft.Log) any                 { <-s.hold; return nil }
func (s stuckFSM) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.ErrUnsupported }
func (s stuckFSM) Restore(r io.ReadCloser) error       { return r.Close() }

// TestFuturesCanBeAbandoned holds the version of raft that is used to what
// await relies on: that each kind of future that may stay unanswered has the
// channel that ends the wait.
func TestFuturesCanBeAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := raft.DefaultConfig()
		c.LocalID = "a"
		c.Logger = hclog.NewNullLogger()
		c.BatchApplyCh = true
		store := raft.NewInmemStore()
		addr, trans := raft.NewInmemTransport("a")
		err := raft.BootstrapCluster(c, store, store, raft.NewInmemSnapshotStore(), trans, raft.Configuration{Servers: []raft.Server{{ID: "a", Address: addr}}})
		if err != nil {
			t.Fatal(err)
		}
		fsm := stuckFSM{make(chan struct{})}
		r, err := raft.NewRaft(c, fsm, store, store, raft.NewInmemSnapshotStore(), trans)
		if err != nil {
			t.Fatal(err)
		}
		for r.State() != raft.Leader {
			time.Sleep(time.Millisecond)
		}
		futures := map[string]raft.Future{
			"apply":    r.Apply([]byte("x"), 0),
			"barrier":  r.Barrier(0),
			"nonvoter": r.AddNonvoter("b", "b", 0, 0),
			"snapshot": r.Snapshot(),
			"verify":   r.VerifyLeader(),
			"transfer": r.LeadershipTransfer(),
		}
		for kind, f := range futures {
			end := make(chan struct{})
			if !arm(f, end) {
				t.Errorf("the future of %s has no channel to end the wait", kind)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := await(ctx, futures["apply"]); !errors.Is(err, errStopped) {
			t.Errorf("await = %v, want errStopped", err)
		}
		if took := time.Since(began); took != time.Second {
			t.Errorf("await took %v, want 1s", took)
		}
		close(fsm.hold)
		if err := r.Shutdown().Error(); err != nil {
			t.Error(err)
		}
	})
}

type plainFuture struct{ c chan error }

func (p *plainFuture) Error() error { return <-p.c }

func TestAwaitWithoutTheChannel(t *testing.T) {
	f := &plainFuture{make(chan error, 1)}
	end := make(chan struct{})
	if arm(f, end) {
		t.Fatal("armed what has no channel")
	}
	close(end)
	if err := awaitUntil(end, f); !errors.Is(err, errStopped) {
		t.Errorf("awaitUntil = %v, want errStopped", err)
	}
	f.c <- nil // lets the waiting goroutine end
	answered := &plainFuture{make(chan error, 1)}
	answered.c <- io.EOF
	if err := awaitUntil(make(chan struct{}), answered); err != io.EOF {
		t.Errorf("awaitUntil = %v, want the future's answer", err)
	}
}

func TestAnUnknownForwardSaysThatItMayBeSentAgain(t *testing.T) {
	lost := fmt.Errorf("%w: %w", offset.ErrOutcomeUnknown, context.DeadlineExceeded)
	const want = "outcome unknown: the leader has not answered (context deadline exceeded); sending the same again is safe"
	if err := resendable(lost); !errors.Is(err, offset.ErrOutcomeUnknown) || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	for _, err := range []error{nil, offset.ErrNotLeader, resendable(lost), proposed(io.EOF)} {
		if got := resendable(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}
