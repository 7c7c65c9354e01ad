package client

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/offset"
)

// lowering is a consumer's Set of key 0 from 100 to 40, and the state it finds.
func lowering(f *fakeCluster) offset.Set {
	f.state.reset(key(0), 100)
	st := f.state.fetch([]offset.Key{key(0)})[0]
	return offset.Set{Key: key(0), Offset: 40, Cluster: testCluster, Epoch: st.Epoch, Exists: true, Replaces: 100}
}

func TestSetIsDoneAndItsIndexIsTheEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		v, _, err := c.Set(within(t, time.Second), lowering(f))
		if err != nil || f.state.at(key(0)) != 40 {
			t.Fatalf("%v; the key is at %d", err, f.state.at(key(0)))
		}
		if p := v.State.Position; p.Epoch != p.Index || p.Offset != 40 {
			t.Fatalf("position %+v", p)
		}
	})
}

func TestFencedSetAtTheFirstSendMissedAnAct(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		s := lowering(f)
		f.state.reset(key(0), 70)
		_, _, err := c.Set(within(t, time.Second), s)
		if !errors.Is(err, offset.ErrFenced) || errors.Is(err, offset.ErrOvertaken) || f.state.at(key(0)) != 70 {
			t.Fatalf("%v; the key is at %d", err, f.state.at(key(0)))
		}
	})
}

func TestSetOvertakenByACommitIsToldAsThat(t *testing.T) {
	for _, resent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeCluster(t, "a:1")
			c := f.client()
			s := lowering(f)
			f.play(func(_ *fakeNode, kind string, nth int) (fault, error) {
				if kind == "set" && resent && nth == 1 {
					return refuse, offset.ErrOutcomeUnknown
				}
				return none, nil
			})
			if err := commitOne(within(t, time.Second), c, key(0), 101, s.Epoch); err != nil {
				t.Fatal(err)
			}
			_, _, err := c.Set(within(t, time.Second), s)
			if !errors.Is(err, offset.ErrOvertaken) || errors.Is(err, offset.ErrFenced) || f.state.at(key(0)) != 101 {
				t.Fatalf("resent %t: %v; the key is at %d", resent, err, f.state.at(key(0)))
			}
		})
	}
}

func TestResentSetThatWasDoneIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(n *fakeNode, kind string, nth int) (fault, error) {
			if nth == 1 {
				return cutAfter, nil
			}
			return none, nil
		})
		c := f.client()
		v, _, err := c.Set(within(t, time.Second), lowering(f))
		if err != nil || v.Code != offset.CodeOK || v.State.Position.Offset != 40 {
			t.Fatalf("%v, %+v", err, v)
		}
		if _, sets := f.state.applied(); sets != 2 {
			t.Fatalf("%d sets reached the state; want 2", sets)
		}
	})
}

func TestResentSetThatFindsAnotherValueIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(n *fakeNode, kind string, nth int) (fault, error) {
			if nth == 1 {
				return cutAfter, nil
			}
			f.state.reset(key(0), 70) // an operator came between
			return none, nil
		})
		c := f.client()
		_, _, err := c.Set(within(t, time.Second), lowering(f))
		if !errors.Is(err, offset.ErrOutcomeUnknown) || errors.Is(err, offset.ErrFenced) {
			t.Fatal(err)
		}
	})
}

func TestJudge(t *testing.T) {
	own := offset.Set{Key: key(0), Offset: 40, Cluster: testCluster, Epoch: 7, Exists: true, Replaces: 100}
	operator := own
	operator.Operator = true
	here, elsewhere := offset.Meta{Cluster: testCluster}, offset.Meta{Cluster: offset.ClusterID{2}}
	at := func(off int64, index, epoch, claim uint64) offset.Verdict {
		return offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{
			Exists: true, Position: offset.Position{Offset: off, Index: index, Epoch: epoch}, Epoch: max(epoch, claim), Claim: claim,
		}}
	}
	gone := offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{Position: offset.Position{Epoch: 9}, Epoch: 9}}
	for _, x := range []struct {
		name    string
		set     offset.Set
		verdict offset.Verdict
		meta    offset.Meta
		resent  bool
		want    error
	}{
		{"fenced, first send", own, at(70, 9, 9, 0), here, false, offset.ErrFenced},
		{"overtaken, first send", own, at(101, 8, 7, 0), here, false, offset.ErrOvertaken},
		{"overtaken, after a resend", own, at(101, 8, 7, 0), here, true, offset.ErrOvertaken},
		{"own epoch in another cluster", own, at(101, 8, 7, 0), elsewhere, false, offset.ErrFenced},
		{"own epoch in another cluster, resent", own, at(40, 7, 7, 0), elsewhere, true, offset.ErrOutcomeUnknown},
		{"done by an earlier send", own, at(40, 9, 9, 0), here, true, nil},
		{"the value without index = epoch", own, at(40, 10, 9, 0), here, true, offset.ErrOutcomeUnknown},
		{"another value after a resend", own, at(41, 9, 9, 0), here, true, offset.ErrOutcomeUnknown},
		{"removed after a resend", own, gone, here, true, offset.ErrOutcomeUnknown},
		{"done, then claimed", own, at(40, 9, 9, 11), here, true, nil},
		{"claimed, first send", own, at(100, 6, 7, 11), here, false, offset.ErrFenced},
		{"an operator's under its own epoch: overtaken", operator, at(101, 8, 7, 11), here, false, offset.ErrOvertaken},
		{"an operator's with a claim in the way", operator, at(100, 6, 7, 11), here, false, offset.ErrFenced},
	} {
		if _, got := judge(&x.set, x.verdict, x.meta, x.resent); got != x.want {
			t.Errorf("%s: %v; want %v", x.name, got, x.want)
		}
	}
}
