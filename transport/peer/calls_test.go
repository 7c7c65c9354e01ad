package peer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/offset"
)

var (
	someone  = auth.Principal{Name: "alice", From: "10.0.0.9:5"}
	someKey  = offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b", QueueID: 3}}
	someMeta = offset.Meta{Cluster: clusterA, Index: 9, LastAct: 4, Leader: "n2:7411"}
)

// pair is n1 and n2 of one cluster, and n1's calls on n2.
func pair(t *testing.T) (n1, n2 *node, r *Remote) {
	network := newNetwork(t)
	n1, n2 = start(t, network, "n1"), start(t, network, "n2")
	return n1, n2, n1.To("n2/1", "n2:7412")
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\n got %+v\nwant %+v", what, got, want)
	}
}

func TestForwardedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		c := &offset.Commits{Cluster: clusterA, Atomic: true, Topics: []offset.TopicCommits{
			{Group: "g", Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 3, Offset: 10, Epoch: 2}, {QueueID: 4, Offset: 1 << 62, Epoch: 7}}},
			{Group: "g", Topic: "u", Queues: []offset.QueueCommit{{Offset: 0, Epoch: 1}}},
		}}
		fenced := offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{Exists: true, Epoch: 9, Claim: 8, Position: offset.Position{Offset: 5, Index: 6, Epoch: 9, Time: 77, Pending: true}}}
		ok := func(o int64) offset.Verdict {
			return offset.Verdict{State: offset.KeyState{Exists: true, Position: offset.Position{Offset: o}}}
		}
		n2.fake.commit = func(ctx context.Context, p auth.Principal, got *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
			same(t, "principal", p, someone)
			same(t, "commits", got, c)
			if d, set := ctx.Deadline(); !set || time.Until(d) > 3*time.Second || time.Until(d) < 2*time.Second {
				t.Errorf("the deadline does not travel: %v", time.Until(d))
			}
			return []offset.Verdict{ok(10), fenced, ok(0)}, someMeta, nil
		}
		verdicts, meta, err := r.Commit(within(t, 3*time.Second), someone, c)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "verdicts", verdicts, []offset.Verdict{ok(10), fenced, ok(0)})
		same(t, "meta", meta, someMeta)
	})
}

func TestForwardedSetAndStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		set := &offset.Set{Key: someKey, Offset: 4, Cluster: clusterA, Epoch: 3, Exists: true, Replaces: 9, Operator: true, Claim: 2}
		verdict := offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{Epoch: 3, Position: offset.Position{Epoch: 3}}}
		n2.fake.set = func(_ context.Context, p auth.Principal, got *offset.Set) (offset.Verdict, offset.Meta, error) {
			same(t, "principal", p, someone)
			same(t, "set", got, set)
			return verdict, someMeta, nil
		}
		v, meta, err := r.Set(within(t, time.Second), someone, set)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "verdict", v, verdict)
		same(t, "meta", meta, someMeta)

		status := offset.Status{Meta: someMeta, NodeID: "n2/1", State: "leader", Term: 3, Level: 1, MaxLevel: 2, NotReady: "catching up",
			Members: []offset.MemberStatus{{Member: offset.Member{ID: "n1/1", API: "n1:7411", MaxLevel: 1}, Peer: "n1:7412", Voter: true, Match: -1, ContactAge: -1}}}
		n2.fake.status = func(context.Context, auth.Principal) (offset.Status, error) { return status, nil }
		s, err := r.Status(within(t, time.Second), someone)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "status", s, status)
	})
}

func TestForwardedActs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		acts := map[string]offset.Act{
			"reset":  {Reset: &offset.Reset{Targets: []offset.Target{{Key: someKey, Offset: 5}}}},
			"remove": {Remove: &offset.Remove{Scope: offset.Scope{Group: "g", Topic: "t", HasBroker: true, HasQueue: true, QueueID: 2}}},
			"clone":  {Clone: &offset.Clone{From: "a", To: "b", Topic: "t", HasBroker: true, Broker: "x"}},
			"expire": {Expire: &offset.Expire{Groups: []offset.Idle{{Group: "g", Seen: 7}}}},
			"claim":  {Take: &offset.Take{ByBroker: true, Name: "b", Holder: "h"}},
			"import": {Import: &offset.Import{Step: offset.ImportChunk, Mode: offset.ImportReplace, Group: "g", Hash: [32]byte{1}, Chunk: 2, Targets: []offset.Target{{Key: someKey, Offset: 1}}}},
		}
		for name, a := range acts {
			a.ID, a.Base, a.Cluster, a.Claim = offset.ActID{1}, 5, clusterA, 3
			want := offset.ActResult{Code: offset.CodeSuperseded, Index: 8, Done: true, Next: 1, Changed: 2, Kept: 3, Names: []offset.Key{someKey}}
			n2.fake.act = func(_ context.Context, p auth.Principal, got *offset.Act) (offset.ActResult, offset.Meta, error) {
				same(t, name, got, &a)
				return want, someMeta, nil
			}
			res, meta, err := r.Act(within(t, time.Second), someone, &a)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			same(t, name+" result", res, want)
			same(t, name+" meta", meta, someMeta)
		}
		if _, _, err := r.Act(within(t, time.Second), someone, &offset.Act{}); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("an act of nothing: %v", err)
		}
	})
}

func TestForwardedMembership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		var calls []string
		n2.fake.member = func(what string, p auth.Principal, id, address string) (offset.Meta, error) {
			calls = append(calls, fmt.Sprintf("%s %s %q for %s", what, id, address, p.Name))
			return someMeta, nil
		}
		n2.fake.transfer = func(p auth.Principal, to string) (string, offset.Meta, error) {
			calls = append(calls, fmt.Sprintf("transfer %q", to))
			return "n3/3", someMeta, nil
		}
		n2.fake.level = func(p auth.Principal, level uint8) (offset.Meta, error) {
			calls = append(calls, fmt.Sprintf("level %d", level))
			return someMeta, nil
		}
		ctx := within(t, time.Second)
		for _, f := range []func() (offset.Meta, error){
			func() (offset.Meta, error) { return r.AddMember(ctx, someone, "n4/4", "n4:7412") },
			func() (offset.Meta, error) { return r.PromoteMember(ctx, someone, "n4/4") },
			func() (offset.Meta, error) { return r.RemoveMember(ctx, someone, "n4") },
			func() (offset.Meta, error) { return r.RaiseLevel(ctx, someone, 2) },
			func() (offset.Meta, error) {
				leader, meta, err := r.Transfer(ctx, someone, "n3/3")
				same(t, "leader", leader, "n3/3")
				return meta, err
			},
		} {
			meta, err := f()
			if err != nil {
				t.Fatal(err)
			}
			same(t, "meta", meta, someMeta)
		}
		same(t, "calls", calls, []string{
			`add n4/4 "n4:7412" for alice`, `promote n4/4 "" for alice`, `remove n4 "" for alice`, "level 2", `transfer "n3/3"`,
		})
		if _, err := r.AddMember(ctx, someone, "n4\n/4", "n4:7412"); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("a control character in an id: %v", err)
		}
	})
}

func TestCallsBetweenMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n1, n2, r := pair(t)
		n2.fake.announce = func(m offset.Member) error {
			same(t, "member", m, offset.Member{ID: "n1/1", API: "n1:7411", MaxLevel: 3})
			return &offset.Error{Err: offset.ErrNotLeader, Leader: "n3:7411"}
		}
		ctx := within(t, time.Second)
		err := r.Announce(ctx, offset.Member{ID: "n1/1", API: "n1:7411", MaxLevel: 3})
		var e *offset.Error
		if !errors.Is(err, offset.ErrNotLeader) || !errors.As(err, &e) || e.Leader != "n3:7411" {
			t.Errorf("the leader's address does not travel: %v", err)
		}
		if err := r.Announce(ctx, offset.Member{ID: "n3/1"}); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("announcing for another: %v", err)
		}
		known := Checkpoint{Known: true, Digest: offset.Digest{1, 2}, Quarantined: true}
		n2.fake.digest = func(index uint64) (Checkpoint, error) {
			if index != 12 {
				return Checkpoint{}, nil
			}
			return known, nil
		}
		if c, err := r.Digest(ctx, 12); err != nil || c != known {
			t.Errorf("digest %+v, %v", c, err)
		}
		if c, err := r.Digest(ctx, 13); err != nil || c != (Checkpoint{}) {
			t.Errorf("digest %+v, %v", c, err)
		}
		if n1.To("n2/1", "n2:7412") != r {
			t.Error("the connection is not kept")
		}
	})
}

func TestStrangersMeet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1", func(_ *Config, n *node) { n.cluster = offset.ClusterID{} })
		n2 := start(t, network, "n2", func(_ *Config, n *node) { n.cluster = clusterB })
		want := Hello{ID: "n2/1", Cluster: clusterB, Empty: true, Listed: true, MaxLevel: 3, Level: 2, Peer: "n2:7412", API: "n2:7411", Founders: "n1=n1:7412,n2=n2:7412"}
		n2.fake.hello = func(from string) (Hello, error) {
			same(t, "from", from, "n1/1")
			return want, nil
		}
		founding := Founding{Cluster: clusterA, Founders: []Founder{{ID: "n1/1", Peer: "n1:7412"}, {ID: "n2/1", Peer: "n2:7412"}}}
		n2.fake.found = func(from string, f Founding) error {
			same(t, "founding", f, founding)
			return offset.Errorf(offset.ErrForeignCluster, "this is another")
		}
		r := n1.To("", "n2:7412")
		ctx := within(t, time.Second)
		h, err := r.Hello(ctx)
		want.Run = n2.RunID()
		if err != nil || h != want {
			t.Errorf("hello %+v, %v", h, err)
		}
		if err := r.Found(ctx, founding); !errors.Is(err, offset.ErrForeignCluster) || !strings.Contains(err.Error(), "this is another") {
			t.Errorf("found: %v", err)
		}
		if _, err := r.ReadIndex(ctx); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("a read index of anybody: %v", err)
		}
		if _, err := n1.To("n2/2", "n2:7412").Hello(ctx); !errors.Is(err, offset.ErrNotFound) {
			t.Errorf("hello of another id: %v", err)
		}
		synctest.Wait()
		if open := network.Conns(); open != 0 {
			t.Errorf("%d connections stay after meeting", open)
		}
	})
}

// A stranger's connection that asks for more than Hello and Found is refused
// by the callee, whatever the caller's own checks are.
func TestStrangersAreServedNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n1, n2, _ := pair(t)
		n2.fake.readIndex = func(context.Context) (uint64, error) { t.Error("served"); return 0, nil }
		n2.fake.commit = func(context.Context, auth.Principal, *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
			t.Error("served")
			return nil, offset.Meta{}, nil
		}
		ctx := within(t, time.Second)
		conn, _, err := n1.greet(ctx, kindMeet, "", "n2:7412")
		if err != nil {
			t.Fatal(err)
		}
		c, err := n1.newCaller(ctx, conn)
		if err != nil {
			t.Fatal(err)
		}
		r := newRemote(n1.Peer, "n2/1", "n2:7412")
		r.caller = c
		_, err = r.ReadIndex(ctx)
		if !errors.Is(err, offset.ErrDenied) {
			t.Errorf("read index: %v", err)
		}
		_, _, err = r.Commit(ctx, someone, &offset.Commits{Cluster: clusterA, Topics: []offset.TopicCommits{{Group: "g", Topic: "t", Queues: []offset.QueueCommit{{}}}}})
		if !errors.Is(err, offset.ErrDenied) {
			t.Errorf("commit: %v", err)
		}
		begin := time.Now()
		for c.usable() && time.Since(begin) < time.Hour {
			time.Sleep(time.Second)
		}
		if took := time.Since(begin); took > meetLife+time.Second {
			t.Errorf("a stranger's connection lives for %v", took)
		}
	})
}

func TestManyCallsShareOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := newNetwork(t)
		n1 := start(t, network, "n1", func(c *Config, _ *node) { c.MaxCalls = 10 })
		n2 := start(t, network, "n2")
		var mu sync.Mutex
		now, most := 0, 0
		n2.fake.readIndex = func(context.Context) (uint64, error) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			now--
			mu.Unlock()
			return 7, nil
		}
		var calling sync.WaitGroup
		begin := time.Now()
		for range 50 {
			calling.Go(func() {
				if i, err := n1.To("n2/1", "n2:7412").ReadIndex(within(t, time.Minute)); i != 7 || err != nil {
					t.Errorf("%d %v", i, err)
				}
			})
		}
		calling.Wait()
		if took := time.Since(begin); most != 10 || took != 5*time.Second {
			t.Errorf("%d calls at a time, %v in all; want 10 and 5s", most, took)
		}
		if open := network.Conns(); open != 1 {
			t.Errorf("%d connections", open)
		}
		for range 10 {
			calling.Go(func() { n1.To("n2/1", "n2:7412").ReadIndex(within(t, time.Minute)) })
		}
		synctest.Wait()
		_, err := n1.To("n2/1", "n2:7412").ReadIndex(within(t, time.Millisecond))
		if !errors.Is(err, offset.ErrBusy) {
			t.Errorf("one too many: %v", err)
		}
		calling.Wait()
	})
}

// TestLargestAnswer: a request names its key once, its answer with each commit that
// was fenced, or the caller would never learn of it.
func TestLargestAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		name := strings.Repeat("n", offset.MaxName)
		topic := offset.TopicCommits{Group: name, Topic: name, Broker: name}
		for i := range int32(offset.MaxCommits) {
			topic.Queues = append(topic.Queues, offset.QueueCommit{QueueID: math.MaxInt32 - i, Offset: 1, Epoch: 1})
		}
		want := offset.Verdict{Code: offset.CodeFenced, State: offset.KeyState{
			Exists: true, Epoch: math.MaxUint64, Claim: math.MaxUint64,
			Position: offset.Position{Offset: math.MaxInt64, Index: math.MaxUint64, Epoch: math.MaxUint64, Time: math.MaxInt64, Pending: true},
		}}
		n2.fake.commit = func(context.Context, auth.Principal, *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
			return slices.Repeat([]offset.Verdict{want}, offset.MaxCommits), someMeta, nil
		}
		v, _, err := r.Commit(within(t, time.Second), someone, &offset.Commits{Cluster: clusterA, Topics: []offset.TopicCommits{topic}})
		if err != nil || len(v) != offset.MaxCommits || v[0] != want || v[offset.MaxCommits-1] != want {
			t.Errorf("%d verdicts, %v", len(v), err)
		}
	})
}

func TestLargestRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, n2, r := pair(t)
		name := strings.Repeat("n", offset.MaxName)
		c := &offset.Commits{Cluster: clusterA}
		for i := range 1300 { // 1 MB of names: more than a client's largest message
			c.Topics = append(c.Topics, offset.TopicCommits{Group: name, Topic: name, Broker: name, Queues: []offset.QueueCommit{{QueueID: int32(i), Offset: 1, Epoch: 1}}})
		}
		n2.fake.commit = func(_ context.Context, _ auth.Principal, got *offset.Commits) ([]offset.Verdict, offset.Meta, error) {
			v := make([]offset.Verdict, got.Count())
			for i := range v {
				v[i].Code = offset.CodeFenced // so that the answer repeats all names
			}
			return v, someMeta, nil
		}
		v, _, err := r.Commit(within(t, time.Second), someone, c)
		if err != nil || len(v) != 1300 || v[1299].Code != offset.CodeFenced {
			t.Errorf("%d verdicts, %v", len(v), err)
		}
	})
}
