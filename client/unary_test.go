package client

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/tidemark-mq/tidemark/offset"
	tidemarkv1 "github.com/tidemark-mq/tidemark/transport/api/tidemark/v1"
)

func resetTo(to int64, id byte) offset.Act {
	return offset.Act{ID: offset.ActID{id}, Base: 10, Cluster: testCluster, Reset: &offset.Reset{Targets: []offset.Target{{Key: key(0), Offset: to}}}}
}

func TestActIsResentWithTheSameIDAndDoneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth == 1 {
				return cutAfter, nil
			}
			return none, nil
		})
		c := f.client()
		r, meta, err := c.Act(within(t, 5*time.Second), resetTo(7, 1))
		if err != nil || r.Changed != 1 || r.Index != 11 || meta.LastAct != 11 {
			t.Fatalf("%v, %+v, %+v", err, r, meta)
		}
		if f.count("reset") != 2 || f.state.meta("").Index != 11 {
			t.Fatalf("%d sends, index %d; want 2 sends and one act", f.count("reset"), f.state.meta("").Index)
		}
	})
}

func TestTooOldAtTheFirstSendIsNotDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		c := f.client()
		r, _, err := c.Act(within(t, time.Second), removal())
		if !errors.Is(err, offset.ErrTooOld) || r.Code != offset.CodeTooOld || offset.OutcomeOf(err) != offset.NotDone {
			t.Fatalf("%v, %+v", err, r)
		}
	})
}

func removal() offset.Act {
	return offset.Act{ID: offset.ActID{9}, Base: 10, Cluster: testCluster, Remove: &offset.Remove{Scope: offset.Scope{Group: "billing"}}}
}

func TestTooOldAfterAResendIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			if nth == 1 {
				return cutAfter, nil
			}
			return none, nil
		})
		c := f.client()
		_, _, err := c.Act(within(t, 5*time.Second), removal())
		if !errors.Is(err, offset.ErrOutcomeUnknown) || errors.Is(err, offset.ErrTooOld) {
			t.Fatal(err)
		}
	})
}

func TestUnsentActIsTriedElsewhereAndIsAFirstSendThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "b:1")
		c := f.clientOf([]string{"dead:1", "b:1"})
		if _, _, err := c.Act(within(t, 5*time.Second), removal()); !errors.Is(err, offset.ErrTooOld) {
			t.Fatalf("%v; want ErrTooOld, for the first send never left", err)
		}
	})
}

func TestMemberCallIsNotResentOnceItMayBeDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return cutAfter, nil })
		c := f.client()
		if _, _, err := c.Transfer(within(t, 5*time.Second), "b:1"); !errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Fatal(err)
		}
		if n := f.count("transfer"); n != 1 {
			t.Fatalf("sent %d times; want 1", n)
		}
	})
}

func TestMemberCallIsSentAgainWhenItWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		f.play(func(n *fakeNode, _ string, _ int) (fault, error) {
			if n.addr == "a:1" {
				return refuse, &offset.Error{Err: offset.ErrNotLeader, Leader: "b:1"}
			}
			return none, nil
		})
		c := f.client()
		id, meta, err := c.Transfer(within(t, 5*time.Second), "b:1")
		if err != nil || id != "b:1" || meta.Cluster != testCluster || f.count("b:1 transfer") != 1 {
			t.Fatalf("%q, %+v, %v", id, meta, err)
		}
	})
}

func TestStatusAsksTheNodeThatIsNamedAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.client()
		s, err := c.Status(within(t, time.Second), "b:1")
		if err != nil || s.NodeID != "b:1" {
			t.Fatalf("%+v, %v", s, err)
		}
		began := time.Now()
		if _, err = c.Status(within(t, time.Second), "dead:1"); !errors.Is(err, offset.ErrUnreachable) || time.Since(began) != 0 {
			t.Fatalf("%v after %s; want ErrUnreachable at once", err, time.Since(began))
		}
		if s, err = c.Status(within(t, time.Second), ""); err != nil || s.NodeID != "a:1" {
			t.Fatalf("%+v, %v", s, err)
		}
	})
}

func TestListGoesOnWithTheNextNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "b:1")
		c := f.clientOf([]string{"dead:1", "b:1"})
		p, err := c.List(within(t, time.Second), offset.List{What: offset.ListGroups})
		if err != nil || len(p.Names) != 1 || p.Names[0] != "billing" {
			t.Fatalf("%+v, %v", p, err)
		}
	})
}

func TestUnansweredUnaryCallEndsWithTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		c := f.client()
		_, _, err := c.Act(within(t, 7*time.Second), resetTo(1, 1))
		if !errors.Is(err, offset.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if n := f.count("reset"); n < 2 || n > 4 {
			t.Fatalf("sent %d times in 7s; an attempt is given 2s and a grace", n)
		}
	})
}

// With two of three nodes down, the third says so once; the tries after that
// end at the dead ones, or with the deadline, which says less.
func TestNoLeaderIsTheWordOfAReadToo(t *testing.T) {
	for name, then := range map[string]fault{"lost": lose, "cut": cut} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFakeCluster(t, "a:1")
				f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
					if nth == 1 {
						return refuse, offset.Errorf(offset.ErrNoLeader, "cut off")
					}
					return then, nil
				})
				c := f.clientOf([]string{"a:1", "dead:1", "void:1"})
				_, err := c.List(within(t, 2*time.Second), offset.List{What: offset.ListGroups})
				if !errors.Is(err, offset.ErrNoLeader) || errors.Is(err, offset.ErrUnreachable) || !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%v; want ErrNoLeader and DeadlineExceeded", err)
				}
				if f.count("list") < 2 {
					t.Fatal("the node was asked only once")
				}
			})
		})
	}
}

func TestExportIsWholeOrAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(_ *fakeNode, _ string, nth int) (fault, error) {
			switch nth {
			case 1:
				return refuse, offset.ErrNotReady
			case 3:
				return cut, nil
			case 4:
				return loseAnswer, nil
			}
			return none, nil
		})
		c := f.client()
		rows := 0
		count := func(p offset.Page) error { rows += len(p.Keys); return nil }
		if err := c.Export(within(t, time.Second), offset.List{}, count); err != nil || rows != 3 {
			t.Fatalf("%v, %d rows; want 3", err, rows)
		}
		rows = 0
		if err := c.Export(within(t, time.Second), offset.List{}, count); !errors.Is(err, offset.ErrUnreachable) || rows != 1 {
			t.Fatalf("a stream that broke off gave %v and %d rows", err, rows)
		}
		if err := c.Export(within(t, time.Second), offset.List{}, count); !errors.Is(err, offset.ErrUnreachable) {
			t.Fatalf("a stream that lacks a key gave %v", err)
		}
		enough := errors.New("enough")
		if err := c.Export(within(t, time.Second), offset.List{}, func(offset.Page) error { return enough }); err != enough {
			t.Fatalf("%v; want the error of yield as it is", err)
		}
	})
}

// An export that its caller stops does not wait for the rest of it: here, for a
// node that sends nothing more, without a deadline.
func TestExportThatIsStoppedAwaitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1")
		f.play(func(*fakeNode, string, int) (fault, error) { return lose, nil })
		enough := errors.New("enough")
		began := time.Now()
		err := f.client().Export(context.Background(), offset.List{}, func(offset.Page) error { return enough })
		if took := time.Since(began); err != enough || took != 0 {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestExportRefusesFiltersThatItWouldIgnore(t *testing.T) {
	c, err := New([]string{"a:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []offset.List{{Prefix: "x"}, {NewerThan: 1}, {Pending: true}, {After: &offset.Key{}}, {Limit: 1}} {
		err := c.Export(context.Background(), l, func(offset.Page) error { return nil })
		if !errors.Is(err, offset.ErrInvalid) || !strings.Contains(err.Error(), "List") {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

// Snapshot answers what cannot be read.
func (n *fakeNode) Snapshot(ctx context.Context, _ *connect.Request[tidemarkv1.SnapshotRequest]) (*connect.Response[tidemarkv1.SnapshotResponse], error) {
	return unary(ctx, n, "snapshot", func() (*tidemarkv1.SnapshotResponse, error) {
		return &tidemarkv1.SnapshotResponse{Meta: &tidemarkv1.Meta{ClusterId: "x"}}, nil
	})
}

// What is wrong with the answer of one node says nothing of the node that calls go to.
func TestAnAnswerThatCannotBeReadIsItsOwnNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakeCluster(t, "a:1", "b:1")
		c := f.client()
		if _, _, _, err := c.Snapshot(within(t, time.Second), "b:1"); !errors.Is(err, offset.ErrOutcomeUnknown) || !strings.Contains(err.Error(), `"b:1"`) {
			t.Error(err)
		}
		if at := c.to(""); at != "a:1" {
			t.Errorf("calls go to %s", at)
		}
	})
}
