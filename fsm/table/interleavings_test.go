package table

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestLateSetAfterNewerCommit(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	read := s.wantOffset(k, 10)
	s.commit(k, 20, 0)
	for _, operator := range []bool{false, true} {
		v := s.set(offset.Set{Key: k, Offset: 5, Epoch: read.Epoch, Exists: true, Replaces: 10, Operator: operator})
		s.wantCode("a Set that a commit overtook", v.Code, offset.CodeFenced)
		s.want("what it is told", v.State.Position.Offset, int64(20))
	}
	s.wantOffset(k, 20)
	v := s.set(offset.Set{Key: k, Offset: 5, Epoch: read.Epoch, Exists: true, Replaces: 20})
	s.wantCode("a Set on what is there", v.Code, offset.CodeOK)
	st := s.wantOffset(k, 5)
	s.want("its epoch", st.Epoch, s.at)
	s.wantCode("a late commit from before", s.commit(k, 30, 0).Code, offset.CodeFenced)
	s.wantOffset(k, 5)
}

func TestResentRemoveAfterConsumersCameBack(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	rm := s.newAct(removeAct(offset.Scope{Group: "g"}))
	first := s.send(rm)
	s.want("removed", first.Changed, uint64(1))
	none := s.wantNone(k)
	s.want("the epoch of what is gone", none.Epoch, first.Index)
	s.wantCode("a commit from before the removal", s.commit(k, 11, 0).Code, offset.CodeFenced)
	s.wantCode("who read again", s.commit(k, 3, none.Epoch).Code, offset.CodeOK)
	again := s.send(rm)
	s.want("the answer to the resend", again.Index, first.Index)
	s.wantOffset(k, 3)
	late := *rm
	late.ID = offset.ActID{99} // another act from before the first: its base is old
	s.wantCode("another removal issued before", s.send(&late).Code, offset.CodeSuperseded)
	s.wantOffset(k, 3)
}

func TestResetOfOneQueueAmongSixteen(t *testing.T) {
	s := newScript(t)
	var before [16]offset.KeyState
	for q := range int32(16) {
		s.commit(qkey("g", "t", q), 100, 0)
	}
	for q := range int32(16) {
		before[q] = s.wantOffset(qkey("g", "t", q), 100)
	}
	res := s.do(resetAct(7, qkey("g", "t", 5)))
	s.want("moved", res.Changed, uint64(1))
	for q := range int32(16) {
		st := s.get(qkey("g", "t", q))
		if q == 5 {
			s.want("the reset one", st, offset.KeyState{Exists: true, Epoch: res.Index, Position: offset.Position{
				Offset: 7, Index: res.Index, Epoch: res.Index, Time: int64(res.Index) * 1000, Pending: true}})
			continue
		}
		s.want("another", st, before[q])
		s.wantCode("its owner's commit", s.commit(qkey("g", "t", q), 101, 0).Code, offset.CodeOK)
	}
	s.wantCode("the commit of the reset one's owner", s.commit(qkey("g", "t", 5), 101, 0).Code, offset.CodeFenced)
}

// TestPendingIsClearedByTheFirstCommit: one that raises nothing, too; acts keep it.
func TestPendingIsClearedByTheFirstCommit(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	epoch := s.do(resetAct(4, k)).Index
	s.want("after the reset", s.get(k).Position.Pending, true)
	st := s.get(k)
	v := s.set(offset.Set{Key: k, Offset: 3, Epoch: st.Epoch, Exists: true, Replaces: 4})
	s.wantCode("a consumer's own Set", v.Code, offset.CodeOK)
	s.want("after the consumer's Set", v.State.Position.Pending, true)
	s.wantCode("a commit from before the Set", s.commit(k, 3, epoch).Code, offset.CodeFenced)
	s.want("after a fenced commit", s.get(k).Position.Pending, true)
	v = s.commit(k, 2, v.State.Epoch)
	s.wantCode("the first that follows", v.Code, offset.CodeOK)
	s.want("after it", s.get(k).Position.Pending, false)
	s.wantOffset(k, 3)
	s.want("listed as pending", len(s.Root().List(&offset.List{What: offset.ListKeys, Pending: true}).Keys), 0)
}

func TestAtomicCommits(t *testing.T) {
	s := newScript(t)
	a, b := qkey("g", "t", 0), qkey("g", "u", 0)
	s.commit(a, 1, 0)
	s.commit(b, 1, 0)
	s.do(resetAct(0, b))
	c := &offset.Commits{Cluster: testCluster, Atomic: true, Topics: []offset.TopicCommits{
		{Group: "g", Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 0, Offset: 9}}},
		{Group: "g", Topic: "u", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 0, Offset: 9}}},
	}}
	s.begin()
	v := s.Commit(c, nil)
	s.wantCode("the one that is not fenced", v[0].Code, offset.CodeNotApplied)
	s.wantCode("the fenced one", v[1].Code, offset.CodeFenced)
	s.wantOffset(a, 1)
	c.Topics[1].Queues[0].Epoch = v[1].State.Epoch
	s.begin()
	v = s.Commit(c, v[:0])
	s.wantCode("both", max(v[0].Code, v[1].Code), offset.CodeOK)
	s.wantOffset(a, 9)
	s.wantOffset(b, 9)
	c.Cluster = offset.ClusterID{1}
	s.begin()
	v = s.Commit(c, v[:0])
	s.wantCode("another cluster's", min(v[0].Code, v[1].Code), offset.CodeFenced)
}

// TestActOfAnotherCluster changes nothing, and is not remembered.
func TestActOfAnotherCluster(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	a := s.newAct(resetAct(3, k))
	a.Cluster = offset.ClusterID{1}
	s.wantCode("the act", s.send(a).Code, offset.CodeSuperseded)
	s.wantOffset(k, 10)
	s.want("acts remembered", len(s.Root().Rest().Acts), 0)
}

// TestActThatChangesNoOffset moves index and epoch all the same.
func TestActThatChangesNoOffset(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	res := s.do(resetAct(10, k))
	st := s.wantOffset(k, 10)
	s.want("index", st.Position.Index, res.Index)
	s.want("epoch", st.Epoch, res.Index)
	s.wantCode("a commit from before", s.commit(k, 11, 0).Code, offset.CodeFenced)
}

// TestActWindow: 1,024 acts are remembered; the answer of one that is not is
// "too old" for who read before it, and an act under way is never forgotten.
func TestActWindow(t *testing.T) {
	s := newScript(t)
	s.Table.step = 2
	k := qkey("g", "t", 0)
	s.commit(k, 1, 0)
	for q := range int32(6) {
		s.commit(qkey("big", "t", q), 1, 0)
	}
	old := s.newAct(resetAct(5, k))
	cut := s.newAct(removeAct(offset.Scope{Group: "big"}))
	s.begin()
	under := s.Act(cut, 0, nil)
	s.want("cut", under.Done, false)
	failed := s.newAct(offset.Act{Clone: &offset.Clone{From: "nobody", To: "x"}})
	s.wantCode("a clone of nothing", s.send(failed).Code, offset.CodeNotFound)
	firstOf := s.at
	for range offset.MaxActs - 2 {
		s.do(removeAct(offset.Scope{Group: "none"}))
	}
	s.wantCode("a failure is remembered", s.send(failed).Code, offset.CodeNotFound)
	s.Publish()
	s.want("nothing forgotten yet", s.Root().Rest().Evicted, uint64(0))
	s.do(removeAct(offset.Scope{Group: "none"}))
	s.Publish()
	s.want("forgotten", s.Root().Rest().Evicted, firstOf)
	s.want("remembered", len(s.Root().Rest().Acts), offset.MaxActs)
	s.wantCode("an act from before", s.send(old).Code, offset.CodeTooOld)
	s.wantCode("the forgotten one", s.send(failed).Code, offset.CodeTooOld)
	s.wantOffset(k, 1)
	s.begin()
	s.want("a wrong step", s.Act(cut, 3, nil).Next, under.Next)
	s.begin()
	mid := s.Act(cut, under.Next, nil)
	s.want("the act under way goes on", mid.Changed, uint64(4))
	res := s.send(cut) // resent from its first step: is told the next, and goes on
	s.want("to its end", res, offset.ActResult{Index: s.at, Done: true, Changed: 6})
}

// TestForgottenIndexOfACutAct is that of its first entry: who read after that
// cannot be its issuer.
func TestForgottenIndexOfACutAct(t *testing.T) {
	s := newScript(t)
	s.Table.step = 1
	s.commit(qkey("g", "t", 0), 1, 0)
	s.commit(qkey("g", "t", 1), 1, 0)
	cut := s.newAct(removeAct(offset.Scope{Group: "g"}))
	s.begin()
	s.Act(cut, 0, nil)
	first := s.at
	s.do(resetAct(1, qkey("h", "t", 0)))
	after := s.newAct(resetAct(2, qkey("h", "t", 1)))
	s.want("removed", s.send(cut).Changed, uint64(2))
	for range offset.MaxActs - 1 {
		s.do(resetAct(1, qkey("h", "t", 0)))
	}
	s.Publish()
	s.want("forgotten", s.Root().Rest().Evicted, first)
	s.wantCode("an act from after it began", s.send(after).Code, offset.CodeOK)
	s.wantCode("the forgotten one", s.send(cut).Code, offset.CodeTooOld)
}

// TestAbandonedCutActs: no more than maxUnderway stay under way.
func TestAbandonedCutActs(t *testing.T) {
	s := newScript(t)
	s.Table.step = 1
	for g := range byte(maxUnderway + 1) {
		for q := range int32(3) {
			s.commit(qkey(string('a'+rune(g)), "t", q), 1, 0)
		}
	}
	var acts []*offset.Act
	for g := range byte(maxUnderway + 1) {
		a := s.newAct(removeAct(offset.Scope{Group: string('a' + rune(g))}))
		acts = append(acts, a)
		s.begin()
		s.want("cut", s.Act(a, 0, nil).Done, false)
	}
	s.begin()
	res := s.Act(acts[0], 1, nil)
	s.wantCode("the oldest", res.Code, offset.CodeTooOld)
	s.want("what it removed", res.Changed, uint64(1))
	s.wantOffset(qkey("a", "t", 1), 1)
	s.want("the next oldest", s.send(acts[1]).Changed, uint64(3))
	s.want("under way", s.acts.underway, maxUnderway-1)
}

func TestImportWhoseIDIsReused(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 2}})
	step := func(i offset.Import) offset.ActResult {
		b := *a
		b.Import = &i
		return s.send(&b)
	}
	s.want("begun", step(*a.Import).Done, false)
	chunk := func(n uint32, off int64) offset.ActResult {
		return step(offset.Import{Step: offset.ImportChunk, Chunk: n, Targets: []offset.Target{{Key: k, Offset: off}}})
	}
	s.want("a chunk too far", chunk(1, 99).Next, uint32(0))
	s.want("the first", chunk(0, 20).Next, uint32(1))
	s.want("the first again", chunk(0, 30).Next, uint32(1))
	s.wantOffset(k, 20)
	s.want("begun again tells how far it is", step(*a.Import).Next, uint32(1))
	done := chunk(1, 15)
	s.want("the last", done, offset.ActResult{Index: s.at, Done: true, Changed: 1, Kept: 1})
	want := s.Digest()
	at := s.at
	for _, res := range []offset.ActResult{step(*a.Import), chunk(0, 50), chunk(1, 50), step(offset.Import{Step: offset.ImportAbort}), step(offset.Import{Step: offset.ImportSwap})} {
		s.want("the id used again", res.Index, done.Index)
	}
	s.wantOffset(k, 20)
	s.Begin(at, 0)
	s.index, s.time = at, int64(at)*1000
	s.want("nothing changed", s.Digest(), want)
	b := s.newAct(offset.Act{Import: &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: k, Offset: 70}}}})
	s.wantCode("a chunk of an import that never began", s.send(b).Code, offset.CodeNoImport)
	s.want("an import under way", s.Root().Import(), (*offset.ImportStatus)(nil))
}

// TestMergeLeavesAlone what an act moved since the import began, and marks.
func TestMergeLeavesAlone(t *testing.T) {
	s := newScript(t)
	moved, pending, fresh := qkey("g", "t", 0), qkey("g", "t", 1), qkey("g", "t", 2)
	s.commit(moved, 10, 0)
	s.commit(pending, 10, 0)
	s.do(resetAct(3, pending))
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 1}})
	s.send(a)
	other := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportMerge, Chunks: 1}})
	s.wantCode("another import", s.send(other).Code, offset.CodeImportBusy)
	s.do(resetAct(4, moved))
	a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: moved, Offset: 50}, {Key: pending, Offset: 50}, {Key: fresh, Offset: 50}}}
	res := s.send(a)
	s.want("raised and created", res.Changed, uint64(2))
	if !slices.Equal(res.Names, []offset.Key{moved}) {
		t.Fatalf("left alone: %v", res.Names)
	}
	s.wantOffset(moved, 4)
	s.want("the mark stays", s.wantOffset(pending, 50).Position.Pending, true)
	s.want("a new key has none", s.wantOffset(fresh, 50).Position.Pending, false)
	s.want("its epoch", s.get(fresh).Epoch, res.Index)
}

// TestReplaceOfAGroupRemovedMeanwhile: what is staged is found by its topics even
// if the keys that were there go between staging and swap.
func TestReplaceOfAGroupRemovedMeanwhile(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: 1}})
	s.send(a)
	a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: k, Offset: 5}}}
	s.send(a)
	s.Publish()
	s.want("topics before the swap", len(s.Root().List(&offset.List{What: offset.ListTopics}).Names), 1)
	s.do(removeAct(offset.Scope{Group: "g"}))
	s.Publish()
	s.want("topics after the removal", len(s.Root().List(&offset.List{What: offset.ListTopics}).Names), 0)
	a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
	s.wantCode("swap", s.send(a).Code, offset.CodeOK)
	s.wantOffset(k, 5)
	s.want("topics after the swap", len(s.Root().List(&offset.List{What: offset.ListTopics}).Names), 1)
	s.want("removed by topic", s.do(removeAct(offset.Scope{Topic: "t"})).Changed, uint64(1))
	s.wantNone(k)
}

// TestAbortedReplace leaves nothing behind.
func TestAbortedReplace(t *testing.T) {
	for _, group := range []string{"", "g"} {
		s := newScript(t)
		s.commit(qkey("g", "t", 0), 10, 0)
		a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: group, Chunks: 2}})
		s.send(a)
		a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: qkey("g", "u", 0), Offset: 5}}}
		s.send(a)
		s.Publish()
		s.want("under way", s.Root().Import() == nil, false)
		abort := *a
		abort.Import = &offset.Import{Step: offset.ImportAbort}
		s.wantCode("abort", s.send(&abort).Code, offset.CodeOK)
		a.Import = &offset.Import{Step: offset.ImportChunk, Chunk: 1, Targets: a.Import.Targets}
		s.wantCode("a chunk after it", s.send(a).Code, offset.CodeNoImport)
		s.Publish()
		s.Publish()
		s.want("an import", s.Root().Import() == nil, true)
		s.want("topics", s.Root().List(&offset.List{What: offset.ListTopics}).Names, []string{"t"})
		s.want("pairs", len(s.pairs()), 1)
		s.wantOffset(qkey("g", "t", 0), 10)
	}
}

// pairs lists the tree of topics.
func (s *script) pairs() (list []*ident) {
	for c := s.live.topics.all(sieve{}); ; c.next() {
		id, ok := c.item()
		if !ok {
			return list
		}
		list = append(list, id)
	}
}

// TestReplaceOfAGroup is all or nothing, and keeps the marks.
func TestReplaceOfAGroup(t *testing.T) {
	s := newScript(t)
	in, gone, pending, other := qkey("g", "t", 0), qkey("g", "u", 0), qkey("g", "t", 1), qkey("h", "t", 0)
	for _, k := range []offset.Key{in, gone, pending, other} {
		s.commit(k, 10, 0)
	}
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: 1}})
	s.send(a)
	step := func(i offset.Import) offset.ActResult {
		b := *a
		b.Base, b.Import = s.at, &i
		return s.send(&b)
	}
	s.want("a swap before the content is there", step(offset.Import{Step: offset.ImportSwap}).Done, false)
	step(offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: in, Offset: 5}, {Key: pending, Offset: 6}, {Key: other, Offset: 7}}})
	s.wantOffset(in, 10)
	late := *a
	late.Base, late.Import = s.at, &offset.Import{Step: offset.ImportSwap}
	s.do(resetAct(1, pending))
	s.wantCode("a swap from before an act", s.send(&late).Code, offset.CodeSuperseded)
	s.wantOffset(in, 10)
	res := step(offset.Import{Step: offset.ImportSwap})
	s.want("swapped", res, offset.ActResult{Index: s.at, Done: true, Changed: 2, Kept: 1})
	st := s.wantOffset(in, 5)
	s.want("index and epoch", [2]uint64{st.Position.Index, st.Epoch}, [2]uint64{res.Index, res.Index})
	s.want("time", st.Position.Time, int64(res.Index)*1000)
	s.want("the mark set meanwhile", s.wantOffset(pending, 6).Position.Pending, true)
	s.want("the floor of what is gone", s.wantNone(gone).Epoch, res.Index)
	s.want("another group", s.wantOffset(other, 10).Epoch, uint64(0))
	if got := s.Root().List(&offset.List{What: offset.ListTopics}).Names; !slices.Equal(got, []string{"t"}) {
		t.Fatalf("topics %q", got)
	}
	s.wantCode("a commit from before", s.commit(in, 99, 0).Code, offset.CodeFenced)
	s.wantCode("one from after", s.commit(in, 99, res.Index).Code, offset.CodeOK)
	s.want("its epoch stays", s.wantOffset(in, 99).Epoch, res.Index)
}

// TestPairsOfAReplacedGroup go a few at a time; what is listed is right from the
// start.
func TestPairsOfAReplacedGroup(t *testing.T) {
	s := newScript(t)
	c := &offset.Commits{Cluster: testCluster}
	for i := range 3 * sweepPairs {
		c.Topics = append(c.Topics, offset.TopicCommits{Group: "g", Topic: fmt.Sprintf("t%04d", i), Broker: "b", Queues: []offset.QueueCommit{{}}})
	}
	s.begin()
	s.Commit(c, nil)
	a := s.newAct(offset.Act{Import: &offset.Import{Mode: offset.ImportReplace, Group: "g", Chunks: 1}})
	s.send(a)
	a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: qkey("g", "t0007", 0), Offset: 5}}}
	s.send(a)
	a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
	s.send(a)
	s.commit(qkey("g", "t0009", 0), 3, s.at)
	want := []string{"t0007", "t0009"}
	for _, left := range []int{2 * sweepPairs, sweepPairs, 2} {
		s.Publish()
		if n := len(s.pairs()); n > left+2 || n < left-2 {
			t.Fatalf("%d pairs, want about %d", n, left)
		}
		s.want("topics", s.Root().List(&offset.List{What: offset.ListTopics}).Names, want)
		s.want("groups of one that is gone", len(s.Root().List(&offset.List{What: offset.ListGroups, Topic: "t0500"}).Names), 0)
	}
	s.Publish()
	s.want("pairs in the end", len(s.pairs()), 2)
}
