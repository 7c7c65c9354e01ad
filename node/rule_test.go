package node_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/offset"
)

// The rule of writing is the table's; these tests show that it holds through a
// cluster: proposing, forwarding, resending.

func TestALateSetAfterANewerCommit(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[2]
	k := incluster.Key("g", 1)
	m.MustCommit(k, 10)
	ctx := within(t, incluster.Patience)
	read, meta, err := m.Fetch(ctx, k, linearizable)
	if err != nil {
		t.Fatal(err)
	}
	set := &offset.Set{Key: k, Offset: 3, Cluster: meta.Cluster, Epoch: read.Epoch, Exists: true, Replaces: 10}
	m.MustCommit(k, 11)
	for range 2 { // sent, and resent
		v, _, err := m.Node().Set(ctx, incluster.Operator, set)
		if err != nil || v.Code != offset.CodeFenced || v.State.Position.Offset != 11 {
			t.Errorf("the late Set: %+v, %v; want fenced, with 11 as it is", v, err)
		}
	}
	m.MustRead(k, linearizable, 11)
	set.Replaces = 11
	v, meta, err := m.Node().Set(ctx, incluster.Operator, set)
	if err != nil || v.Code != offset.CodeOK || v.State.Position.Offset != 3 || v.State.Epoch != meta.Index {
		t.Errorf("a Set of what is there: %+v at %d, %v", v, meta.Index, err)
	}
}

func TestAResentRemoveAfterConsumersCameBack(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[0]
	k := incluster.Key("g", 1)
	m.MustCommit(k, 10)
	act := &offset.Act{Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}}
	first := m.MustAct(act)
	if first.Changed != 1 || !first.Done {
		t.Fatalf("the removal: %+v", first)
	}
	m.MustRead(k, linearizable, -1)
	m.MustCommit(k, 2)
	for _, through := range c.Members {
		again, _, err := through.Node().Act(within(t, incluster.Patience), incluster.Operator, act)
		if err != nil || again.Index != first.Index || again.Changed != first.Changed || again.Code != offset.CodeOK {
			t.Errorf("the resend through %s: %+v, %v; want the first answer, %+v", through.Name, again, err, first)
		}
	}
	m.MustRead(k, linearizable, 2)
}

// TestABaseThatNobodyCanHaveReadIsRefused: it would never be superseded, and
// take along whatever acts came before it.
func TestABaseThatNobodyCanHaveReadIsRefused(t *testing.T) {
	c := incluster.Start(t, 3)
	k := incluster.Key("g", 1)
	cluster := c.Leader().MustCommit(k, 10).Cluster
	for _, m := range c.Members {
		a := &offset.Act{ID: incluster.NewActID(), Cluster: cluster, Base: 1 << 62,
			Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: 3}}}}
		if _, _, err := m.Node().Act(within(t, incluster.Patience), incluster.Operator, a); !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "base") {
			t.Errorf("through %s: %v, want %v that names the base", m.Name, err, offset.ErrInvalid)
		}
	}
	c.Leader().MustRead(k, linearizable, 10)
	c.Members[0].MustAct(&offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: 3}}}})
	c.Leader().MustRead(k, linearizable, 3)
}

// restoring is a replace of all, chunk by chunk, as a restore of a backup is.
type restoring struct {
	c      *incluster.Cluster
	id     offset.ActID
	chunks [][]offset.Target
	base   uint64
	hash   [32]byte
}

func newRestoring(c *incluster.Cluster, chunks, keys int) *restoring {
	r := &restoring{c: c, id: incluster.NewActID(), hash: sha256.Sum256([]byte("a backup"))}
	for i := range chunks {
		var list []offset.Target
		for q := range keys {
			list = append(list, offset.Target{Key: incluster.Key(fmt.Sprintf("restored-%03d", i), int32(q)), Offset: int64(1000*i + q)})
		}
		r.chunks = append(r.chunks, list)
	}
	return r
}

// send sends a step through any member that has it decided, and resends what
// is unknown, as a client does.
func (r *restoring) send(step offset.ImportStep, chunk int) offset.ActResult {
	r.c.TB.Helper()
	var got offset.ActResult
	r.c.Until(fmt.Sprintf("step %d, chunk %d is decided", step, chunk), func() bool {
		for _, m := range r.c.Members {
			result, err := r.try(m, step, chunk)
			if err == nil {
				got = result
				return true
			}
			if !offset.Retriable(err) {
				r.c.TB.Fatalf("step %d, chunk %d: %v", step, chunk, err)
			}
		}
		return false
	})
	return got
}

func (r *restoring) try(m *incluster.Member, step offset.ImportStep, chunk int) (offset.ActResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 600*time.Millisecond)
	defer cancel()
	page, err := m.Node().List(ctx, incluster.Operator, &offset.List{Limit: 1})
	if err != nil {
		return offset.ActResult{}, err
	}
	if r.base == 0 || step == offset.ImportSwap {
		r.base = page.Meta.Index
	}
	i := &offset.Import{Step: step, Mode: offset.ImportReplace, Hash: r.hash, Chunks: uint32(len(r.chunks))}
	for _, list := range r.chunks {
		i.Offsets += uint64(len(list))
	}
	if step == offset.ImportChunk {
		i.Chunk, i.Targets = uint32(chunk), r.chunks[chunk]
	}
	result, _, err := m.Node().Act(ctx, incluster.Operator, &offset.Act{ID: r.id, Base: r.base, Cluster: page.Meta.Cluster, Import: i})
	return result, err
}

func TestALeaderCutOffDuringARestore(t *testing.T) {
	c := incluster.Start(t, 3)
	old := c.Leader()
	old.Fill("before", 500, 9)
	r := newRestoring(c, 6, 200)
	r.send(offset.ImportBegin, 0)
	for i := range r.chunks {
		if i == 2 || i == 4 {
			gone := c.Leader()
			c.Net.Isolate(gone.Name)
			defer c.Net.HealAll()
		}
		if got := r.send(offset.ImportChunk, i); got.Code != offset.CodeOK || int(got.Next) != i+1 {
			t.Fatalf("chunk %d: %+v", i, got)
		}
		c.Net.HealAll()
		for _, m := range c.Members {
			state, _, err := m.Fetch(within(t, incluster.Patience), incluster.Key("restored-000", 0), linearizable)
			if err != nil || state.Exists {
				t.Fatalf("half a restore is seen on %s: %+v, %v", m.Name, state, err)
			}
		}
	}
	if got := r.send(offset.ImportSwap, 0); got.Code != offset.CodeOK || !got.Done {
		t.Fatalf("the swap: %+v", got)
	}
	for _, m := range c.Members {
		m.MustRead(incluster.Key("restored-005", 199), linearizable, 5199)
		if n := m.Status().Queues; n != 1200 {
			t.Errorf("%s has %d queues, want the 1,200 of the backup", m.Name, n)
		}
	}
	equalDigests(c)
}

// TestAnImportWhoseCallerDies leaves a state that says how far it is, is no
// obstacle to commits, and can be gone on with or dropped by anybody.
func TestAnImportWhoseCallerDies(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[0]
	r := newRestoring(c, 3, 100)
	r.send(offset.ImportBegin, 0)
	r.send(offset.ImportChunk, 0)
	for _, m := range c.Members {
		c.Until(m.Name+" tells how far it is", func() bool {
			i := m.Status().Import
			return i != nil && i.ID == r.id && i.Next == 1 && i.Chunks == 3 && i.Hash == r.hash
		})
	}
	m.MustCommit(incluster.Key("g", 1), 1)
	other := newRestoring(c, 1, 1)
	if got := other.send(offset.ImportBegin, 0); got.Code != offset.CodeImportBusy {
		t.Errorf("a second import: %+v, want that another is under way", got)
	}
	c.Leader().Stop() // who goes on needs no member in particular
	if got := r.send(offset.ImportChunk, 1); got.Code != offset.CodeOK || got.Next != 2 {
		t.Errorf("the next chunk: %+v", got)
	}
	if got := r.send(offset.ImportAbort, 0); got.Code != offset.CodeOK {
		t.Errorf("the abort: %+v", got)
	}
	running := c.Followers(nil)[0]
	running.MustRead(incluster.Key("restored-000", 0), linearizable, -1)
	running.MustRead(incluster.Key("g", 1), linearizable, 1)
	if i := c.Leader().Status().Import; i != nil {
		t.Errorf("after the abort: %+v", i)
	}
}

// TestRequestsThatNobodyDecidesAreUnknown, and resending them is safe.
func TestRequestsThatNobodyDecidesAreUnknown(t *testing.T) {
	virtually(t, func(t *testing.T, c *incluster.Cluster) {
		quiet(c) // behind an announcement in flight the commit would never be proposed
		leader := c.Leader()
		k := incluster.Key("g", 1)
		meta := leader.MustCommit(k, 1)
		for _, f := range c.Followers(leader) {
			c.Net.Cut(leader.Name, f.Name)
		}
		_, _, err := leader.Commit(within(t, incluster.Patience), k, 2, 0, meta.Cluster) // its lease ends it
		if !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("a commit without a quorum: %v, want ErrOutcomeUnknown", err)
		}
		c.Net.HealAll()
		leader.MustCommit(k, 2) // the same again
		leader.MustRead(k, linearizable, 2)
	})
}
