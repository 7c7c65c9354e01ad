package node_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// gate holds up the writing of snapshots from the first time on until it is opened.
type gate struct {
	reached, opened chan struct{}
	once, open      func()
}

func newGate() *gate {
	g := &gate{reached: make(chan struct{}), opened: make(chan struct{})}
	g.once = sync.OnceFunc(func() { close(g.reached) })
	g.open = sync.OnceFunc(func() { close(g.opened) })
	return g
}

func (g *gate) fault(op store.Op) error {
	if op == store.OpSnapshot {
		g.once()
		<-g.opened
	}
	return nil
}

// TestAStopGivesUpTheSnapshot that is being written: raft would wait for all of it.
func TestAStopGivesUpTheSnapshot(t *testing.T) {
	g := newGate()
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Unsafe.Store.Fault = g.fault })
	defer g.open()
	m := c.Members[0]
	m.MustCommit(incluster.Key("g", 1), 1)
	snapshot := snapshotted(within(t, incluster.Patience), m)
	<-g.reached
	down := node.IsDown(m.Node())
	stopped := make(chan error, 1)
	go func() { stopped <- m.Stop() }()
	c.Until("raft is told to end", down)
	g.open()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	if err := <-snapshot; err == nil {
		t.Error("the snapshot is said to have been taken")
	}
	infos, err := store.ReadSnapshots(filepath.Join(m.Dir, "raft"))
	if err != nil || len(infos) > 0 {
		t.Errorf("there are %d snapshots after the stop, %v; want none", len(infos), err)
	}
	m.Start()
	c.WaitReady(m)
	m.MustRead(incluster.Key("g", 1), offset.ReadAt{}, 1)
}

// snapshotted asks a member for a snapshot, and gives the answer once it is there.
func snapshotted(ctx context.Context, m *incluster.Member) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, _, _, err := m.Node().Snapshot(ctx, incluster.Operator)
		done <- err
	}()
	return done
}

// TestOneSnapshotAtATime: a snapshot outlives the patience of its caller, and whoever
// asks for another one meanwhile is told so at once.
func TestOneSnapshotAtATime(t *testing.T) {
	g := newGate()
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Unsafe.Store.Fault = g.fault })
	defer g.open()
	m := c.Members[0]
	m.MustCommit(incluster.Key("g", 1), 1)
	ctx, cancel := context.WithCancel(within(t, incluster.Patience))
	first := snapshotted(ctx, m)
	<-g.reached
	cancel()
	if err := <-first; !errors.Is(err, offset.ErrOutcomeUnknown) {
		t.Errorf("the deadline of a snapshot under way: %v, want an unknown outcome", err)
	}
	patience := within(t, incluster.Patience)
	select {
	case err := <-snapshotted(patience, m):
		if !errors.Is(err, offset.ErrBusy) {
			t.Errorf("a second snapshot: %v, want busy", err)
		}
	case <-patience.Done():
		t.Error("a second snapshot waits for the first one")
	}
	g.open()
	c.Until("a snapshot may be taken again", func() bool {
		_, _, _, err := m.Node().Snapshot(within(t, incluster.Patience), incluster.Operator)
		return err == nil
	})
}
