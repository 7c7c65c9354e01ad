package interleavings

import (
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/tidemark-mq/tidemark/cluster-test/ask"
	"github.com/tidemark-mq/tidemark/cluster-test/load"
	"github.com/tidemark-mq/tidemark/cluster-test/served"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/node/store"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestAFollowerThatServesLocalReadsBeforeItHasCaughtUp: it does not. What it
// had when it stopped is committed, but a client that was told of more must not
// be shown it as news; until a leader has named an index it says "not ready".
func TestAFollowerThatServesLocalReadsBeforeItHasCaughtUp(t *testing.T) {
	c := served.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	cl := c.Client()
	k := incluster.Key("g", 0)
	commit(ctx, t, cl, k, 100)
	away := c.Followers(c.Leader())[0]
	n := c.Nodes(away)[0]
	n.MustRead(t, ask.Default, k, 100)
	away.Kill()
	commit(ctx, t, cl, k, 200)
	for _, m := range c.Members {
		if m != away {
			c.Net.Cut(away.Name, m.Name)
			c.Net.Cut(m.Name, away.Name)
		}
	}
	away.Start()
	ask.Until(t, "it has its old state again", func() bool {
		s, err := n.Status(ask.Within(t, time.Second))
		return err == nil && s.Term > 0
	})
	for range 10 {
		s, _, err := n.Fetch(ask.Within(t, 5*time.Second), ask.Local, k)
		if !errors.Is(err, offset.ErrNotReady) {
			t.Fatalf("a local read before it has caught up: %+v, %v; want ErrNotReady", s, err)
		}
	}
	if status, text, err := n.Page(ask.Within(t, time.Second), "/readyz"); err != nil || status != 503 {
		t.Errorf("/readyz: %d %q, %v", status, text, err)
	}
	c.Net.HealAll()
	c.WaitReady(away)
	n.MustRead(t, ask.Local, k, 200)
}

// TestAMemberWithAnUnknownEntryKind stops before it, changes nothing by it,
// and says so; it does not take a snapshot over it either.
func TestAMemberWithAnUnknownEntryKind(t *testing.T) {
	c := served.Start(t, 3)
	ctx := ask.Within(t, ask.Patience)
	k := incluster.Key("g", 0)
	commit(ctx, t, c.Client(), k, 100)
	index := ask.Same(t, c.Nodes())
	c.Stop()
	writers := c.Members[:2] // a quorum of them has the entry, so that it is committed
	last := uint64(0)
	from := c.Members[0]
	for _, m := range c.Members {
		if at := lastIndex(t, m); at > last {
			from, last = m, at
		}
	}
	for _, m := range writers {
		fill(t, m, from)
	}
	for _, m := range c.Members {
		m.Start()
	}
	// A leader commits the entry and latches; then the next does. The last one,
	// unless it heard of the commit, has no quorum to commit it with.
	latched := map[*incluster.Member]bool{}
	ask.Until(t, "two have met the entry", func() bool {
		for _, m := range c.Members {
			if !m.Running() {
				latched[m] = true
			}
		}
		return len(latched) >= 2
	})
	for _, m := range c.Members {
		if !latched[m] {
			if s, _, err := m.Fetch(ask.Within(t, 300*time.Millisecond), k, ask.Default); err == nil {
				t.Errorf("%s answers %+v without a quorum", m.Name, s)
			}
			continue
		}
		err := m.Wait()
		if node.ExitCode(err) != node.ExitLatched || !strings.Contains(err.Error(), "entry") {
			t.Errorf("%s: Run returned %v, exit code %d; want %d", m.Name, err, node.ExitCode(err), node.ExitLatched)
		}
		if at := m.Status().DigestIndex; at > last {
			t.Errorf("%s has applied %d, beyond the entry it can't read after %d", m.Name, at, last)
		}
		m.Stop()
		snapshots, err := store.ReadSnapshots(raftDir(m))
		if err != nil {
			t.Error(err)
		}
		for _, s := range snapshots {
			if s.Meta.Index > last {
				t.Errorf("%s has a snapshot at %d, beyond the entry it can't read", m.Name, s.Meta.Index)
			}
		}
	}
	if last < index {
		t.Errorf("the logs ended at %d, and %d was applied", last, index)
	}
}

func raftDir(m *incluster.Member) string { return filepath.Join(m.Dir, "raft") }

func lastIndex(t *testing.T, m *incluster.Member) (last uint64) {
	t.Helper()
	if err := store.ReadLog(raftDir(m), func(l *raft.Log) error { last = l.Index; return nil }); err != nil {
		t.Fatal(err)
	}
	return last
}

// fill gives a stopped member's log the length of the others', from one of
// them, and an entry of an unknown kind after that.
func fill(t *testing.T, m, from *incluster.Member) {
	t.Helper()
	var missing []*raft.Log
	var term uint64
	own := lastIndex(t, m)
	err := store.ReadLog(raftDir(from), func(l *raft.Log) error {
		if term = max(term, l.Term); l.Index > own && m != from {
			missing = append(missing, &raft.Log{Index: l.Index, Term: l.Term, Type: l.Type, Data: append([]byte(nil), l.Data...)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(store.Config{Dir: raftDir(m), MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	at := max(own, lastOf(missing)) + 1
	missing = append(missing, &raft.Log{Index: at, Term: term, Type: raft.LogCommand, Data: []byte("an entry of a kind that nobody knows")})
	if err := s.Log().StoreLogs(missing); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func lastOf(list []*raft.Log) uint64 {
	if len(list) == 0 {
		return 0
	}
	return list[len(list)-1].Index
}

// TestALeaderWhoseDigestIsWrong goes into quarantine under load, says why, and
// comes back with an empty folder; consumers notice nothing but a pause.
func TestALeaderWhoseDigestIsWrong(t *testing.T) {
	var wrong atomic.Pointer[string]
	c := served.Start(t, 3, func(m *incluster.Member) {
		m.Config.Checkpoints.Wait = time.Second
		m.Config.Unsafe.Digest = func(d offset.Digest) offset.Digest {
			if who := wrong.Load(); who != nil && *who == m.Name {
				d[0] ^= 1
			}
			return d
		}
	})
	l := load.Start(t, c.Dial, load.Shape{})
	l.More(3)
	leader := c.Leader()
	n := c.Nodes(leader)[0]
	old := leader.ID()
	wrong.Store(&leader.Name)
	if _, _, err := leader.Node().Checkpoint(ask.Within(t, ask.Patience)); err != nil {
		t.Fatal(err)
	}
	ask.Until(t, "it is under quarantine", func() bool {
		status, text, err := n.Page(ask.Within(t, time.Second), "/readyz")
		return err == nil && status == 503 && strings.Contains(text, "differs from the majority")
	})
	if s, _, err := n.Fetch(ask.Within(t, time.Second), ask.Local, incluster.Key("load-00", 0)); err == nil {
		t.Errorf("a member under quarantine answers %+v", s)
	}
	l.More(5)

	leader.Stop()
	wrong.Store(nil)
	leader.Wipe()
	cl := c.Client()
	ctx := ask.Within(t, ask.Patience)
	if _, err := cl.RemoveMember(ctx, old); err != nil {
		t.Fatal(err)
	}
	leader.Config.InitialCluster = nil
	leader.Start()
	ask.Until(t, "the new member has an id", func() bool { return leader.ID() != "" })
	if _, err := cl.AddMember(ctx, leader.ID(), leader.Config.AdvertisePeer); err != nil {
		t.Fatal(err)
	}
	c.WaitReady(leader)
	l.More(5)
	l.Check(c.Nodes())
}
