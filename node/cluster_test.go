package node_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

var (
	linearizable = offset.ReadAt{}
	local        = offset.ReadAt{Level: offset.Local}
)

func atLeast(index uint64) offset.ReadAt {
	return offset.ReadAt{Level: offset.AtLeast, Index: index}
}

func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

func TestCommitAndReadOnEveryMember(t *testing.T) {
	c := incluster.Start(t, 3)
	for i, m := range c.Members {
		k := incluster.Key("g", int32(i))
		leader := c.Leader()
		meta := m.MustCommit(k, int64(100+i))
		if meta.Leader != leader.Config.AdvertiseAPI && c.Leader() == leader {
			t.Errorf("%s names %q as the leader, want %q", m.Name, meta.Leader, leader.Config.AdvertiseAPI)
		}
		for _, other := range c.Members {
			other.MustRead(k, linearizable, int64(100+i))
			other.MustRead(k, atLeast(meta.Index), int64(100+i))
			other.MustRead(k, local, int64(100+i)) // after the read above, this one cannot be older
		}
	}
	for _, m := range c.Members {
		m.MustRead(incluster.Key("g", 99), linearizable, -1)
		c.Until(m.Name+" knows all API addresses", func() bool {
			for _, s := range m.Status().Members {
				if s.API == "" || s.MaxLevel != offset.FormatLevel {
					return false
				}
			}
			return len(m.Status().Members) == 3
		})
	}
	equalDigests(c)
}

// equalDigests waits until all running members are at one index with one digest.
func equalDigests(c *incluster.Cluster) {
	c.TB.Helper()
	var last string
	c.Until("all members have one digest at one index", func() bool {
		last = ""
		for _, m := range c.Members {
			if !m.Running() {
				continue
			}
			s := m.Status()
			now := fmt.Sprintf("%d %s", s.DigestIndex, s.Digest)
			if last != "" && now != last {
				return false
			}
			last = now
		}
		return true
	})
}

func TestALaterCommitOfAnOldEpochIsFenced(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[0]
	k := incluster.Key("g", 1)
	m.MustCommit(k, 50)
	ctx := within(t, incluster.Patience)
	before, meta, err := m.Fetch(ctx, k, linearizable)
	if err != nil {
		t.Fatal(err)
	}
	result := m.MustAct(&offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: 7}}}})
	if !result.Done || result.Changed != 1 || result.Index == 0 {
		t.Errorf("reset: %+v", result)
	}
	verdict, _, err := m.Commit(ctx, k, 60, before.Epoch, meta.Cluster)
	if err != nil || verdict.Code != offset.CodeFenced {
		t.Errorf("a commit of the old epoch: %v, %v; want fenced", verdict.Code, err)
	}
	m.MustRead(k, linearizable, 7)
	m.MustCommit(k, 8)
	m.MustRead(k, linearizable, 8)
}

// TestNothingAcknowledgedIsLostWhileMembersRestart kills and restarts each
// member once under commits, and stops each once cleanly.
func TestNothingAcknowledgedIsLostWhileMembersRestart(t *testing.T) {
	c := incluster.Start(t, 3)
	w := write(c, 4)
	for _, end := range []func(*incluster.Member){(*incluster.Member).Kill, func(m *incluster.Member) { m.Stop() }} {
		for _, m := range c.Members {
			w.more(20)
			end(m)
			w.more(20)
			m.Start()
			c.WaitReady(m)
		}
	}
	w.check()
	equalDigests(c)
}

// writers commit ascending offsets, each to a queue of its own, through
// whichever member runs, and remember what was acknowledged.
type writers struct {
	c *incluster.Cluster
	// members are those there were at the start; c may get further ones.
	members []*incluster.Member
	acked   []atomic.Int64
	stop    context.CancelFunc
	group   sync.WaitGroup
	// longest is the longest time between two acknowledgements of one writer.
	longest atomic.Int64
}

func write(c *incluster.Cluster, n int) *writers {
	ctx, cancel := context.WithCancel(context.Background())
	w := &writers{c: c, members: slices.Clone(c.Members), acked: make([]atomic.Int64, n), stop: cancel}
	c.TB.Cleanup(func() { cancel(); w.group.Wait() })
	for i := range n {
		w.group.Go(func() { w.run(ctx, i) })
	}
	return w
}

func (w *writers) run(ctx context.Context, i int) {
	k := incluster.Key("writers", int32(i))
	last := time.Now()
	for n := 0; ctx.Err() == nil; n++ {
		m := w.members[(i+n)%len(w.members)]
		call, cancel := context.WithTimeout(ctx, 2*time.Second)
		state, meta, err := m.Fetch(call, k, linearizable)
		if err == nil {
			next := w.acked[i].Load() + 1
			if state.Exists && state.Position.Offset < w.acked[i].Load() {
				w.c.TB.Errorf("%s reads %s as %d after %d was acknowledged", m.Name, k, state.Position.Offset, w.acked[i].Load())
			}
			var v offset.Verdict
			v, _, err = m.Commit(call, k, next, state.Epoch, meta.Cluster)
			if err == nil && v.Code == offset.CodeOK {
				w.acked[i].Store(next)
				w.longest.Store(max(w.longest.Load(), int64(time.Since(last))))
				last = time.Now()
			}
		}
		cancel()
		if err != nil && ctx.Err() == nil {
			time.Sleep(2 * time.Millisecond) // a member that is down refuses at once
		}
	}
}

// more waits until each writer has n further acknowledgements.
func (w *writers) more(n int64) {
	w.c.TB.Helper()
	want := make([]int64, len(w.acked))
	for i := range w.acked {
		want[i] = w.acked[i].Load() + n
	}
	w.c.Until("further commits are acknowledged", func() bool {
		for i := range w.acked {
			if w.acked[i].Load() < want[i] {
				return false
			}
		}
		return true
	})
}

// check stops the writers and finds everything acknowledged on every member.
func (w *writers) check() {
	w.c.TB.Helper()
	w.stop()
	w.group.Wait()
	for i := range w.acked {
		k := incluster.Key("writers", int32(i))
		for _, m := range w.c.Members {
			if !m.Running() {
				continue
			}
			state, _, err := m.Fetch(within(w.c.TB, incluster.Patience), k, linearizable)
			if err != nil {
				w.c.TB.Fatalf("reading from %s: %v", m.Name, err)
			}
			if acked := w.acked[i].Load(); state.Position.Offset < acked {
				w.c.TB.Errorf("%s has %d for %s, and %d was acknowledged", m.Name, state.Position.Offset, k, acked)
			}
		}
	}
}

// TestALeaderCutOffRefusesReads is public case C28: a leader that the others
// no longer hear must not answer from its table once they have a new one.
func TestALeaderCutOffRefusesReads(t *testing.T) {
	c := incluster.Start(t, 3)
	old := c.Leader()
	k := incluster.Key("g", 1)
	old.MustCommit(k, 1)
	for _, m := range c.Followers(old) {
		c.Net.Cut(old.Name, m.Name)
		c.Net.Cut(m.Name, old.Name)
	}
	rest := c.Followers(old)
	c.Until("the others have a leader", func() bool {
		for _, m := range rest {
			if s := m.Status(); s.State == "leader" {
				return true
			}
		}
		return false
	})
	rest[0].MustCommit(k, 2)
	_, _, err := old.Fetch(within(t, 500*time.Millisecond), k, linearizable)
	if err == nil {
		t.Error("the old leader answered a linearizable read")
	}
	if offset.OutcomeOf(err) != offset.NotDone || !offset.Retriable(err) {
		t.Errorf("the refused read: %v; want one that may be repeated", err)
	}
	c.Net.HealAll()
	old.MustRead(k, linearizable, 2)
}

func TestNoLeaderIsSaidWithinTheDeadline(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[0]
	meta := m.MustCommit(incluster.Key("g", 1), 1)
	m.MustRead(incluster.Key("g", 1), atLeast(meta.Index), 1)
	c.Members[1].Kill()
	c.Members[2].Kill()
	c.Until("the one left knows no leader", func() bool { return errors.Is(m.Node().Ready(), offset.ErrNoLeader) })
	began := time.Now()
	_, _, err := m.Commit(within(t, 300*time.Millisecond), incluster.Key("g", 1), 2, 0, meta.Cluster)
	if !errors.Is(err, offset.ErrNoLeader) {
		t.Errorf("commit: %v, want ErrNoLeader", err)
	}
	if took := time.Since(began); took < 250*time.Millisecond || took > 2*time.Second {
		t.Errorf("it took %v to be told, with a deadline of 300ms", took)
	}
	m.MustRead(incluster.Key("g", 1), local, 1)
}

func TestALaggingFollowerGetsASnapshot(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 })
	leader := c.Leader()
	away := c.Followers(leader)[0]
	away.Kill()
	for i := range 20 {
		leader.Fill(fmt.Sprintf("g%d", i), 1000, int64(i+1))
	}
	index, bytes, _, err := leader.Node().Snapshot(within(t, incluster.Patience), incluster.Operator)
	if err != nil || index == 0 || bytes == 0 {
		t.Fatalf("snapshot: index %d, %d bytes, %v", index, bytes, err)
	}
	leader.MustCommit(incluster.Key("after", 0), 5)
	away.Start()
	c.WaitReady(away)
	away.MustRead(incluster.Key("after", 0), linearizable, 5)
	if got := away.Status().SnapshotIndex; got < index {
		t.Errorf("the follower's snapshot is at %d, want the installed one at %d", got, index)
	}
	if got := away.Status().Queues; got != 20_001 {
		t.Errorf("the follower has %d queues, want 20,001", got)
	}
	equalDigests(c)
}

// TestReadIndexOfALeaderWithASnapshotAlone: a member that was sent a snapshot, and
// leads before anything is committed behind it, has no command in its log. What it
// names as the index of a read must be in the snapshot all the same: a member whose
// state is older than that waits for it.
func TestReadIndexOfALeaderWithASnapshotAlone(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 })
	leader := c.Leader()
	away := c.Followers(leader)[0]
	away.Kill()
	for i := range 20 {
		leader.Fill(fmt.Sprintf("g%d", i), 1000, int64(i+1))
	}
	index, _, _, err := leader.Node().Snapshot(within(t, incluster.Patience), incluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	away.Start()
	c.WaitReady(away)
	c.Until("the snapshot has been sent", func() bool { // the state is there a little before raft says so
		return away.Status().SnapshotIndex >= index
	})
	c.HandOver(away)
	var got uint64
	c.Until("the new leader confirms reads", func() (done bool) {
		got, err = node.ReadIndex(within(t, incluster.Patience), away.Node())
		return err == nil
	})
	if got < index {
		t.Errorf("a read waits for index %d, and the snapshot is at %d", got, index)
	}
}

func TestAFollowerServesNoLocalReadsBeforeItHasCaughtUp(t *testing.T) {
	c := incluster.Start(t, 3)
	leader := c.Leader()
	away := c.Followers(leader)[0]
	k := incluster.Key("g", 1)
	away.MustRead(k, atLeast(leader.MustCommit(k, 1).Index), 1)
	away.Stop()
	leader.MustCommit(k, 2)
	c.Net.Isolate(away.Name)
	away.Start()
	c.Until("raft runs on the member cut off", func() bool { return away.Status().Term > 0 })
	for range 5 {
		state, _, err := away.Fetch(within(t, 100*time.Millisecond), k, local)
		if !errors.Is(err, offset.ErrNotReady) {
			t.Fatalf("a local read before the first contact: %+v, %v; want ErrNotReady", state, err)
		}
	}
	if err := away.Node().Ready(); !errors.Is(err, offset.ErrNotReady) {
		t.Errorf("Ready = %v, want ErrNotReady", err)
	}
	c.Net.HealAll()
	c.WaitReady(away)
	away.MustRead(k, local, 2)
}

func TestSingleMember(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	k := incluster.Key("g", 0)
	m.MustCommit(k, 3)
	if err := m.Stop(); err != nil {
		t.Fatalf("Run returned %v", err)
	}
	if err := m.Node().Ready(); err == nil {
		t.Error("a stopped member is ready")
	}
	m.Start()
	c.WaitReady(m)
	m.MustRead(k, linearizable, 3)
}

func TestANodeRunsOnce(t *testing.T) {
	c := incluster.Start(t, 1)
	if err := c.Members[0].Node().Run(context.Background()); !errors.Is(err, offset.ErrClosed) {
		t.Errorf("a second Run: %v", err)
	}
	if node.ExitCode(nil) != 0 {
		t.Error("exit code of a clean stop is not 0")
	}
}
