package node_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// fate is what became of one of several requests.
type fate struct {
	verdicts []offset.Verdict
	meta     offset.Meta
	err      error
}

// together commits requests that came together, and gives what was answered, by
// place, and what was left.
func together(ctx context.Context, m *incluster.Member, p auth.Principal, list ...*offset.Commits) (answers map[int]fate, left []int) {
	answers = map[int]fate{}
	left = m.Node().CommitTogether(ctx, p, list, func(i int, v []offset.Verdict, meta offset.Meta, err error) {
		if _, twice := answers[i]; twice {
			m.TB().Errorf("request %d is answered twice", i)
		}
		answers[i] = fate{v, meta, err}
	})
	return answers, left
}

// oneCommit is a request of one commit, of a key that no act has touched.
func oneCommit(m *incluster.Member, queue int32, to int64) *offset.Commits {
	topics, _ := offset.GroupCommits([]offset.Commit{{Key: incluster.Key("g", queue), Offset: to}})
	return &offset.Commits{Cluster: m.Status().Meta.Cluster, Topics: topics}
}

func TestCommitsTogether(t *testing.T) {
	c := incluster.Start(t, 3)
	leader, ctx := c.Leader(), within(t, incluster.Patience)
	wide := &offset.Commits{Cluster: leader.Status().Meta.Cluster}
	for i := range entry.MaxRuns + 1 {
		wide.Topics = append(wide.Topics, offset.TopicCommits{Group: "g", Topic: fmt.Sprint(i), Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	foreign, invalid := oneCommit(leader, 3, 30), oneCommit(leader, 4, 40)
	foreign.Cluster[0] ^= 1
	invalid.Topics[0].Queues[0].Offset = -1
	got, left := together(ctx, leader, incluster.Operator, oneCommit(leader, 0, 10), wide, oneCommit(leader, 1, 11), foreign, invalid)
	if !slices.Equal(left, []int{1}) {
		t.Errorf("left %v, want only the one that takes several entries", left)
	}
	for i, want := range map[int]int64{0: 10, 2: 11} {
		f := got[i]
		if f.err != nil || len(f.verdicts) != 1 || f.verdicts[0].State.Position.Offset != want || f.meta.Index == 0 {
			t.Errorf("request %d: %+v, want %d", i, f, want)
		}
		for _, m := range c.Members {
			m.MustRead(incluster.Key("g", int32(want-10)), linearizable, want)
		}
	}
	if f := got[3]; f.err != nil || f.verdicts[0].Code != offset.CodeFenced {
		t.Errorf("for another cluster: %+v", f)
	}
	if f := got[4]; !errors.Is(f.err, offset.ErrInvalid) {
		t.Errorf("a negative offset: %+v", f)
	}
	for _, m := range c.Followers(leader) {
		if got, left := together(ctx, m, incluster.Operator, oneCommit(m, 0, 10), oneCommit(m, 1, 10)); len(got) != 0 || !slices.Equal(left, []int{0, 1}) {
			t.Errorf("a follower answers %v and leaves %v", got, left)
		}
	}
}

// TestCommitsTogetherAskThePolicy: each of its own keys.
func TestCommitsTogetherAskThePolicy(t *testing.T) {
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Policy = strict{} })
	m := c.Members[0]
	got, left := together(within(t, incluster.Patience), m, auth.Principal{Name: "reader"}, oneCommit(m, 0, 1), oneCommit(m, 1, 1))
	if len(left) != 0 || !errors.Is(got[0].err, offset.ErrDenied) || !errors.Is(got[1].err, offset.ErrDenied) {
		t.Errorf("%v, left %v; want both denied", got, left)
	}
	m.MustRead(incluster.Key("g", 0), linearizable, -1)
}

// TestCommitsTogetherEndWithTheirDeadline: what was never proposed is not done,
// and every one has an answer.
func TestCommitsTogetherEndWithTheirDeadline(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	resume := node.HoldProposing(t, m.Node())
	got, left := together(within(t, 50*time.Millisecond), m, incluster.Operator, oneCommit(m, 0, 1), oneCommit(m, 1, 1), oneCommit(m, 2, 1))
	resume()
	if len(left) != 0 || len(got) != 3 {
		t.Fatalf("%v, left %v", got, left)
	}
	for i, f := range got { // the first may have been taken into the entry that is held up
		if i > 0 && !errors.Is(f.err, offset.ErrBusy) && !errors.Is(f.err, offset.ErrOutcomeUnknown) || f.err == nil {
			t.Errorf("request %d: %v", i, f.err)
		}
	}
}

// TestFetchesTogether: on every member, linearizable reads that came together
// are answered by one round; the others are left.
func TestFetchesTogether(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Policy = strict{} })
	ctx := within(t, incluster.Patience)
	read := func(queue int32, at offset.ReadAt) *offset.Fetch {
		return &offset.Fetch{At: at, Keys: []offset.Key{incluster.Key("g", queue)}}
	}
	for i, m := range c.Members {
		c.Leader().MustCommit(incluster.Key("g", 1), int64(100+i))
		rounds := metric(m, "read_rounds_total")
		answers := map[int]int64{}
		list := []*offset.Fetch{read(1, linearizable), read(1, local), read(2, linearizable), read(1, atLeast(1)), read(1, offset.ReadAt{Index: 3})}
		for range 40 {
			list = append(list, read(2, linearizable))
		}
		left := m.Node().FetchTogether(ctx, auth.Principal{Name: "reader"}, list, func(i int, s []offset.KeyState, meta offset.Meta, err error) {
			switch {
			case errors.Is(err, offset.ErrInvalid):
				answers[i] = -2
			case err != nil || len(s) != 1 || meta.Index == 0:
				t.Errorf("request %d of %s: %v, %+v, %v", i, m.Name, s, meta, err)
			case !s[0].Exists:
				answers[i] = -1
			default:
				answers[i] = s[0].Position.Offset
			}
		})
		want := map[int]int64{0: int64(100 + i), 2: -1, 4: -2}
		for more := 5; more < len(list); more++ {
			want[more] = -1
		}
		if !maps.Equal(answers, want) || !slices.Equal(left, []int{1, 3}) {
			t.Errorf("%s: %v, left %v; want %v", m.Name, answers, left, want)
		}
		if n := metric(m, "read_rounds_total") - rounds; n > 20 { // one, unless a round fails
			t.Errorf("%s: %.0f rounds", m.Name, n)
		}
		left = m.Node().FetchTogether(ctx, auth.Principal{Name: "x"}, list[:1], func(_ int, _ []offset.KeyState, _ offset.Meta, err error) {
			if !errors.Is(err, offset.ErrDenied) {
				t.Errorf("a stranger reads: %v", err)
			}
		})
		if len(left) != 0 {
			t.Errorf("left %v", left)
		}
	}
}
