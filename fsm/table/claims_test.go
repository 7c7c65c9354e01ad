package table

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/offset"
)

// The scenarios of a claim that the model's first wordings failed in, as far as
// they are about what is applied.

func TestClaimFencesWhoReadBefore(t *testing.T) {
	for _, byBroker := range []bool{true, false} {
		s := newScript(t)
		k, none := qkey("g", "t", 0), qkey("g", "t", 9)
		s.commit(k, 10, 0)
		before := s.wantOffset(k, 10)
		name := map[bool]string{true: "b", false: "g"}[byBroker]
		res := s.do(takeAct(byBroker, name))
		s.wantCode("the claim", res.Code, offset.CodeOK)
		s.wantCode("a commit from before", s.commit(k, 20, before.Epoch).Code, offset.CodeFenced)
		s.wantCode("a commit of a key that is not there", s.commit(none, 20, 0).Code, offset.CodeFenced)
		v := s.set(offset.Set{Key: k, Offset: 1, Epoch: before.Epoch, Exists: true, Replaces: 10})
		s.wantCode("a consumer's Set from before", v.Code, offset.CodeFenced)
		after := s.wantOffset(k, 10)
		after.Epoch, after.Claim = before.Epoch, 0
		s.want("the key is not touched", after, before)
		s.want("the newest claim, named by a read", s.get(k).Claim, res.Index)
		s.want("what a commit must carry", s.get(none).Epoch, res.Index)
		s.wantCode("the holder's commit", s.commit(k, 20, res.Index).Code, offset.CodeOK)
		s.want("the key's own epoch stays", s.get(k).Position.Epoch, uint64(0))
		s.want("a key outside", s.get(offset.Key{Group: "h", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "c"}}).Epoch, uint64(0))
	}
}

// TestClaimOfAnotherCluster (F22): a claim resent to another cluster is none.
func TestClaimOfAnotherCluster(t *testing.T) {
	s := newScript(t)
	a := s.newAct(takeAct(true, "b"))
	a.Cluster = offset.ClusterID{3}
	s.wantCode("the claim", s.send(a).Code, offset.CodeSuperseded)
	s.want("claims", len(s.Root().Claims()), 0)
}

// TestOtherActsKeepTheMark (F23): an import, a clone or a restore over a pending position.
func TestOtherActsKeepTheMark(t *testing.T) {
	k, from := qkey("g", "t", 0), qkey("from", "t", 0)
	importing := func(s *script, mode offset.ImportMode, group string) {
		a := s.newAct(offset.Act{Import: &offset.Import{Mode: mode, Group: group, Chunks: 1}})
		s.send(a)
		a.Import = &offset.Import{Step: offset.ImportChunk, Targets: []offset.Target{{Key: k, Offset: 50}}}
		if s.send(a); mode == offset.ImportReplace {
			a.Base, a.Import = s.at, &offset.Import{Step: offset.ImportSwap}
			s.wantCode("swap", s.send(a).Code, offset.CodeOK)
		}
	}
	for name, act := range map[string]func(s *script){
		"merge":         func(s *script) { importing(s, offset.ImportMerge, "") },
		"replace all":   func(s *script) { importing(s, offset.ImportReplace, "") },
		"replace group": func(s *script) { importing(s, offset.ImportReplace, "g") },
		"clone":         func(s *script) { s.do(offset.Act{Clone: &offset.Clone{From: "from", To: "g"}}) },
		"claim":         func(s *script) { s.do(takeAct(false, "g")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newScript(t)
			s.commit(k, 10, 0)
			s.commit(from, 50, 0)
			s.do(resetAct(3, k))
			act(s)
			st := s.get(k)
			s.want("pending", st.Position.Pending, true)
			s.wantCode("a commit under its epoch", s.commit(k, 1, st.Epoch).Code, offset.CodeOK)
			s.want("pending after it", s.get(k).Position.Pending, false)
		})
	}
}

// TestResentClaim (F24) is answered with the index of its own entry.
func TestResentClaim(t *testing.T) {
	s := newScript(t)
	a := s.newAct(takeAct(true, "b"))
	first := s.send(a)
	s.do(takeAct(true, "b"))
	s.want("the answer to a resend", s.send(a), first)
}

// TestActThroughOldHolder (F25): an act that came through a holder is refused if
// a key of its scope has been claimed since.
func TestActThroughOldHolder(t *testing.T) {
	k := qkey("g", "t", 0)
	for name, act := range map[string]offset.Act{
		"reset":                 resetAct(1, k),
		"remove group":          removeAct(offset.Scope{Group: "g"}),
		"remove topic":          removeAct(offset.Scope{Topic: "t"}),
		"remove topic of group": removeAct(offset.Scope{Group: "g", Topic: "t", HasBroker: true, Broker: "b"}),
		"remove queue":          removeAct(offset.Scope{Group: "g", Topic: "t", HasBroker: true, Broker: "b", HasQueue: true}),
		"clone":                 {Clone: &offset.Clone{From: "from", To: "g"}},
		"expire":                {Expire: &offset.Expire{Groups: []offset.Idle{{Group: "g", Seen: 99}}}},
	} {
		for _, byBroker := range []bool{true, false} {
			t.Run(fmt.Sprint(name, byBroker), func(t *testing.T) {
				s := newScript(t)
				s.commit(k, 10, 0)
				s.commit(qkey("from", "t", 0), 50, 0)
				scope := map[bool]string{true: "b", false: "g"}[byBroker]
				old := s.do(takeAct(byBroker, scope)).Index
				a := s.newAct(act)
				a.Claim = old
				s.do(takeAct(byBroker, scope))
				res := s.send(a)
				s.want("through the old holder", res, offset.ActResult{Code: offset.CodeSuperseded, Index: s.at, Done: true})
				s.wantOffset(k, 10)
				b := s.newAct(act)
				b.Claim = s.get(k).Claim
				s.wantCode("through the new one", s.send(b).Code, offset.CodeOK)
				if st := s.get(k); st.Exists && st.Position.Offset == 10 {
					t.Fatal("it has had no effect")
				}
			})
		}
	}
	s := newScript(t)
	s.commit(k, 10, 0)
	old := s.do(takeAct(true, "b")).Index
	s.do(takeAct(true, "b"))
	v := s.set(offset.Set{Key: k, Offset: 1, Exists: true, Replaces: 10, Operator: true, Claim: old})
	s.wantCode("an operator's Set through the old holder", v.Code, offset.CodeFenced)
	v = s.set(offset.Set{Key: k, Offset: 1, Exists: true, Replaces: 10, Operator: true, Claim: v.State.Claim})
	s.wantCode("through the new one", v.Code, offset.CodeOK)
}

// TestActsDoNotLookAtClaims (F25b): a reset, issued before a claim, is done.
func TestActsDoNotLookAtClaims(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	a := s.newAct(resetAct(1, k))
	s.do(takeAct(true, "b"))
	s.wantCode("the reset", s.send(a).Code, offset.CodeOK)
	s.wantOffset(k, 1)
}

// TestLateClaim (F26): a claim is refused if an overlapping scope was claimed since its base.
func TestLateClaim(t *testing.T) {
	for _, c := range []struct {
		late, newer [2]string
		code        offset.Code
	}{
		{[2]string{"broker", "b"}, [2]string{"broker", "b"}, offset.CodeSuperseded},
		{[2]string{"broker", "b"}, [2]string{"group", "g"}, offset.CodeSuperseded},
		{[2]string{"group", "g"}, [2]string{"broker", "b"}, offset.CodeSuperseded},
		{[2]string{"group", "g"}, [2]string{"group", "g"}, offset.CodeSuperseded},
		{[2]string{"broker", "b"}, [2]string{"broker", "c"}, offset.CodeOK},
		{[2]string{"group", "g"}, [2]string{"group", "h"}, offset.CodeOK},
	} {
		s := newScript(t)
		late := s.newAct(takeAct(c.late[0] == "broker", c.late[1]))
		newer := s.do(takeAct(c.newer[0] == "broker", c.newer[1])).Index
		s.wantCode(fmt.Sprint(c.late, " after ", c.newer), s.send(late).Code, c.code)
		want := 1
		if c.code == offset.CodeOK {
			want = 2
		}
		s.Publish()
		s.want("claims", len(s.Root().Claims()), want)
		if want == 1 {
			s.want("the claim that stays", s.Root().Claims()[0].Index, newer)
		}
	}
}

// TestClaimIsAloneInItsEntry (F27): behind a Set in its entry, whose epoch would
// be the claim's, it is refused; what follows it is fenced by it.
func TestClaimIsAloneInItsEntry(t *testing.T) {
	s := newScript(t)
	k := qkey("g", "t", 0)
	s.commit(k, 10, 0)
	a := s.newAct(takeAct(true, "b"))
	s.begin()
	s.wantCode("a Set", s.Set(&offset.Set{Key: k, Offset: 5, Cluster: testCluster, Exists: true, Replaces: 10}, nil).Code, offset.CodeOK)
	s.wantCode("a claim behind it", s.Act(a, 0, nil).Code, offset.CodeSuperseded)
	s.wantCode("resent", s.send(a).Code, offset.CodeSuperseded)
	s.Publish()
	s.want("claims", len(s.Root().Claims()), 0)
	epoch := s.get(k).Epoch
	s.begin()
	s.wantCode("a claim alone so far", s.Act(s.newAct(takeAct(true, "b")), 0, nil).Code, offset.CodeOK)
	s.wantCode("a commit behind it", s.commitHere(k, 20, epoch).Code, offset.CodeFenced)
}

// TestClaimsHaveABound: a claim beyond it is refused; the known ones may be claimed again.
func TestClaimsHaveABound(t *testing.T) {
	s := newScript(t)
	for i := range offset.MaxClaims {
		s.wantCode("a claim", s.do(takeAct(true, fmt.Sprint("b", i))).Code, offset.CodeOK)
	}
	s.wantCode("one more", s.do(takeAct(true, "more")).Code, offset.CodeLimit)
	s.wantCode("one more, of a group", s.do(takeAct(false, "b0")).Code, offset.CodeLimit)
	s.wantCode("one of them again", s.do(takeAct(true, "b0")).Code, offset.CodeOK)
	s.do(removeAct(offset.Scope{Group: "g"}))
	s.Publish()
	s.want("claims", len(s.Root().Claims()), offset.MaxClaims)
}

// TestClaimDuringCutAct: what is claimed in the middle of a cut act that came
// through the holder before is left alone from then on.
func TestClaimDuringCutAct(t *testing.T) {
	s := newScript(t)
	s.Table.step = 2
	for q := range int32(6) {
		s.commit(qkey("g", "t", q), 10, 0)
	}
	old := s.do(takeAct(true, "b")).Index
	a := s.newAct(removeAct(offset.Scope{Group: "g"}))
	a.Claim = old
	s.begin()
	s.want("cut", s.Act(a, 0, nil).Done, false)
	s.do(takeAct(true, "b"))
	res := s.send(a)
	s.want("removed before", res.Changed, uint64(2))
	s.want("left alone after", res.Kept, uint64(4))
	s.wantOffset(qkey("g", "t", 2), 10)
}
