package node_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// A follower may apply an entry before the leader's FSM does. What it has shown
// then must not be gone again for whoever reads at the leader next.
func TestALeadersReadIsNotOlderThanAFollowers(t *testing.T) {
	var held atomic.Pointer[string]
	entered, release := make(chan struct{}), make(chan struct{})
	goOn := sync.OnceFunc(func() { close(release) })
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		m.Config.Timers = node.SlowDisk() // nobody else shall be elected meanwhile
		m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
			if who := held.Load(); who != nil && *who == m.Name {
				close(entered)
				<-release
			}
			return d
		}
	})
	t.Cleanup(goOn) // before the members are stopped, also where the test fails
	k := incluster.Key("g", 0)
	leader := c.Leader()
	leader.MustCommit(k, 10)
	c.WaitReady(c.Members...) // all have caught up
	quiet(c)                  // what else were under way would keep the commit waiting
	state, meta, err := leader.Fetch(t.Context(), k, offset.ReadAt{})
	if err != nil {
		t.Fatal(err)
	}

	held.Store(&leader.Name)
	ctx, cancel := context.WithTimeout(t.Context(), incluster.Patience)
	defer cancel()
	done := make(chan error, 2)
	go func() { _, _, err := leader.Node().Checkpoint(ctx); done <- err }() // awaited below
	select {
	case <-entered: // the leader's FSM stands still
	case err := <-done:
		t.Fatalf("the checkpoint: %v", err)
	}
	held.Store(nil)
	go func() { _, _, err := leader.Commit(ctx, k, 20, state.Epoch, meta.Cluster); done <- err }() // awaited below
	follower := c.Followers(leader)[0]
	c.Until("a follower has applied it", func() bool {
		s, _, err := follower.Fetch(ctx, k, local)
		return err == nil && s.Position.Offset == 20
	})

	short, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	there, _, errThere := follower.Fetch(short, k, offset.ReadAt{})
	short, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	here, _, errHere := leader.Fetch(short, k, offset.ReadAt{})
	if errThere == nil && errHere == nil && here.Position.Offset < there.Position.Offset {
		t.Errorf("a follower has shown %d, and the leader %d after that", there.Position.Offset, here.Position.Offset)
	}
	goOn()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for _, m := range c.Members {
		m.MustRead(k, offset.ReadAt{}, 20)
	}
}

// countedLog counts what is read of a log, or fails.
type countedLog struct {
	raft.LogStore
	reads int
	err   error
}

func (l *countedLog) GetLog(index uint64, out *raft.Log) error {
	l.reads++
	if l.err != nil {
		return l.err
	}
	return l.LogStore.GetLog(index, out)
}

// TestLastCommand steps over raft's own entries, looks at none twice, and keeps
// what it has found where the log was cut.
func TestLastCommand(t *testing.T) {
	log := &countedLog{LogStore: raft.NewInmemStore()}
	const command, noop, conf = raft.LogCommand, raft.LogNoop, raft.LogConfiguration
	index := uint64(0)
	add := func(types ...raft.LogType) {
		for _, kind := range types {
			index++
			if err := log.StoreLog(&raft.Log{Index: index, Type: kind}); err != nil {
				t.Fatal(err)
			}
		}
	}
	find := node.LastCommand()
	want := func(committed, at uint64, reads int) {
		t.Helper()
		log.reads = 0
		if got, err := find(log, committed); err != nil || got != at || log.reads != reads {
			t.Errorf("up to %d the last command is %d, after %d reads, %v; want %d after %d", committed, got, log.reads, err, at, reads)
		}
	}
	add(conf, noop, command, command, noop, conf, noop, command, noop, noop, command)
	want(2, 0, 2)
	want(4, 4, 1)
	want(4, 4, 0)
	want(7, 4, 3)
	want(8, 8, 1)
	if err := log.DeleteRange(1, 10); err != nil {
		t.Fatal(err)
	}
	want(10, 8, 1)
	log.err = errors.New("made to fail")
	if _, err := find(log, 11); !errors.Is(err, log.err) {
		t.Errorf("a log that can't be read gave %v", err)
	}
	log.err = nil
	want(11, 11, 1)
}
