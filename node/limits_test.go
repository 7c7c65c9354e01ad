package node_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/auth"
	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/internal/incluster"
	"github.com/tidemark-mq/tidemark/node"
	"github.com/tidemark-mq/tidemark/offset"
)

// commitTo creates or raises keys 0 to n-1 of a group. While a limit is near it asks
// again: a prefix is not counted anew for a moment, and longer where the count before
// took longer.
func commitTo(t *testing.T, m *incluster.Member, cluster offset.ClusterID, group string, n int) error {
	c := offset.TopicCommits{Group: group, Topic: "t"}
	for q := range n {
		c.Queues = append(c.Queues, offset.QueueCommit{QueueID: int32(q), Offset: 1})
	}
	ctx := within(t, incluster.Patience)
	for {
		_, _, err := m.Node().Commit(ctx, incluster.Operator, &offset.Commits{Cluster: cluster, Topics: []offset.TopicCommits{c}})
		if !errors.Is(err, offset.ErrBusy) || ctx.Err() != nil {
			return err
		}
	}
}

func TestQuotas(t *testing.T) {
	c := incluster.Start(t, 1, func(m *incluster.Member) {
		m.Config.Limits = node.Limits{Groups: 5, Queues: 20, Prefixes: []node.PrefixLimit{{Prefix: "small-", Queues: 3}}}
	})
	m := c.Members[0]
	cluster := m.Status().Meta.Cluster
	steps := []struct {
		group  string
		queues int
		want   error
	}{
		{"a", 10, nil},
		{"small-1", 2, nil},
		{"small-2", 2, offset.ErrLimit},
		{"small-2", 1, nil},
		{"small-1", 2, nil}, // nothing new
		{"a", 10, nil},
		{"b", 8, offset.ErrLimit},
		{"b", 5, nil},
		{"c", 1, nil},
		{"d", 1, offset.ErrLimit}, // a sixth group
		{"c", 3, offset.ErrLimit}, // two queues too many by one
	}
	for i, s := range steps {
		err := commitTo(t, m, cluster, s.group, s.queues)
		if !errors.Is(err, s.want) || (err == nil) != (s.want == nil) {
			t.Errorf("step %d, %d queues of %s: %v, want %v", i, s.queues, s.group, err, s.want)
		}
	}
	if n := m.Status().Queues; n != 19 {
		t.Errorf("%d queues in the end, want 19", n)
	}
	m.MustAct(&offset.Act{Remove: &offset.Remove{Scope: offset.Scope{Group: "a"}}})
	state, meta, err := m.Fetch(within(t, time.Second), offset.Key{Group: "d", MessageQueue: offset.MessageQueue{Topic: "t"}}, linearizable)
	if err != nil || state.Exists {
		t.Fatalf("%+v, %v", state, err)
	}
	if _, _, err := m.Commit(within(t, time.Second), offset.Key{Group: "d", MessageQueue: offset.MessageQueue{Topic: "t"}}, 1, state.Epoch, meta.Cluster); err != nil {
		t.Errorf("after a removal there is room: %v", err)
	}
}

// TestBoundsOfACutRequest: a request that travels in several entries is refused
// before the first of them, and not half way, where resending would never help.
func TestBoundsOfACutRequest(t *testing.T) {
	const names = entry.MaxRuns + 500
	c := incluster.Start(t, 1, func(m *incluster.Member) { m.Config.Limits = node.Limits{Queues: entry.MaxRuns + 1} })
	m := c.Members[0]
	request := func(n int, topic func(i int) string) *offset.Commits {
		all := &offset.Commits{Cluster: m.Status().Meta.Cluster}
		for i := range n {
			all.Topics = append(all.Topics, offset.TopicCommits{Group: "g", Topic: topic(i), Queues: []offset.QueueCommit{{Offset: 1}}})
		}
		return all
	}
	short := func(i int) string { return fmt.Sprint("t", i) }
	long := func(i int) string {
		if i < entry.MaxRuns {
			return short(i)
		}
		random := rand.New(rand.NewPCG(uint64(i), 0))
		name := make([]byte, offset.MaxName)
		for j := range name {
			name[j] = byte('a' + random.IntN(26))
		}
		return string(name)
	}
	for name, x := range map[string]struct {
		request *offset.Commits
		want    error
	}{
		"too many queues": {request(names, short), offset.ErrLimit},
		"too large":       {request(2*entry.MaxRuns, long), offset.ErrInvalid},
	} {
		_, _, err := m.Node().Commit(within(t, incluster.Patience), incluster.Operator, x.request)
		if !errors.Is(err, x.want) || errors.Is(err, offset.ErrOutcomeUnknown) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := m.Status().Queues; n != 0 {
		t.Errorf("%d queues of refused requests", n)
	}
	verdicts, _, err := m.Node().Commit(within(t, incluster.Patience), incluster.Operator, request(entry.MaxRuns+1, short))
	if n := m.Status().Queues; err != nil || len(verdicts) != entry.MaxRuns+1 || n != entry.MaxRuns+1 {
		t.Errorf("%d verdicts, %d queues, %v", len(verdicts), n, err)
	}
}

func TestBadRequestsAreRefusedAtOnce(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	quiet(c)
	before := metric(m, "proposed_entries_total")
	_, _, err := m.Node().Commit(within(t, time.Second), incluster.Operator, &offset.Commits{})
	if !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("an empty request: %v", err)
	}
	_, _, err = m.Node().Act(within(t, time.Second), incluster.Operator, &offset.Act{ID: incluster.NewActID(), Cluster: offset.ClusterID{9}, Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}})
	if !errors.Is(err, offset.ErrForeignCluster) {
		t.Errorf("an act for another cluster: %v", err)
	}
	if _, err := m.Node().List(within(t, time.Second), incluster.Operator, &offset.List{What: 9}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("an unknown listing: %v", err)
	}
	for _, l := range []offset.List{
		{What: offset.ListKeys, Prefix: "g"}, {NewerThan: 1}, {What: offset.ListTopics, Pending: true}, {At: offset.ReadAt{Index: 1}},
	} {
		if _, err := m.Node().List(within(t, time.Second), incluster.Operator, &l); !errors.Is(err, offset.ErrInvalid) {
			t.Errorf("%+v with a filter that would be ignored: %v", l, err)
		}
	}
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t"}}
	if _, _, err := m.Fetch(within(t, time.Second), k, offset.ReadAt{Index: 1}); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("an index that the level does not look at: %v", err)
	}
	if after := metric(m, "proposed_entries_total"); after != before {
		t.Errorf("%.0f entries were proposed", after-before)
	}
}

// TestAReadGivenUpAtItsDeadline is refused: it has done nothing, so no outcome is unknown.
func TestAReadGivenUpAtItsDeadline(t *testing.T) {
	c := incluster.Start(t, 1)
	m := c.Members[0]
	many := &offset.Commits{Cluster: m.Status().Meta.Cluster}
	for i := range 2000 {
		many.Topics = append(many.Topics, offset.TopicCommits{Group: fmt.Sprint("g", i), Topic: "t", Queues: []offset.QueueCommit{{Offset: 1}}})
	}
	if _, _, err := m.Node().Commit(within(t, incluster.Patience), incluster.Operator, many); err != nil {
		t.Fatal(err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	local := offset.ReadAt{Level: offset.Local}
	_, err := m.Node().List(late, incluster.Operator, &offset.List{What: offset.ListKeys, At: local})
	for what, err := range map[string]error{
		"list":   err,
		"export": m.Node().Export(late, incluster.Operator, &offset.List{At: local}, func(offset.Page) error { return nil }),
		"backup": m.Node().Backup(late, incluster.Operator, local, func(offset.BackupPart) error { return nil }),
	} {
		if !errors.Is(err, offset.ErrBusy) || offset.CodeOf(err) != offset.CodeBusy {
			t.Errorf("%s: %v, want %v", what, err, offset.ErrBusy)
		}
	}
}

// strict lets "reader" read and nobody do anything else.
type strict struct{}

func (strict) Allow(p auth.Principal, a auth.Action, _ auth.Scope) error {
	if p.Name == incluster.Operator.Name || p.Name == "reader" && (a == auth.Read || a == auth.Look) {
		return nil
	}
	return offset.Errorf(offset.ErrDenied, "%q may not %v", p.Name, a)
}

func TestThePolicyIsAskedOnEveryWay(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Policy = strict{} })
	reader := auth.Principal{Name: "reader", From: "x"}
	id := c.Members[0].Status().Meta.Cluster
	for _, m := range c.Members { // the leader, and those that would forward
		n := m.Node()
		ctx := within(t, incluster.Patience)
		k := incluster.Key("g", 1)
		topics, _ := offset.GroupCommits([]offset.Commit{{Key: k, Offset: 1}})
		calls := map[string]func(auth.Principal) error{
			"commit": func(p auth.Principal) error {
				_, _, err := n.Commit(ctx, p, &offset.Commits{Cluster: id, Topics: topics})
				return err
			},
			"set": func(p auth.Principal) error {
				_, _, err := n.Set(ctx, p, &offset.Set{Key: k, Cluster: id, Operator: true})
				return err
			},
			"act": func(p auth.Principal) error {
				_, _, err := n.Act(ctx, p, &offset.Act{ID: incluster.NewActID(), Cluster: id, Remove: &offset.Remove{Scope: offset.Scope{Group: "g"}}})
				return err
			},
			"add member": func(p auth.Principal) error {
				_, err := n.AddMember(ctx, p, "n9/00112233445566778899aabbccddeeff", "n9:7412")
				return err
			},
			"promote member": func(p auth.Principal) error { _, err := n.PromoteMember(ctx, p, "n9"); return err },
			"remove member":  func(p auth.Principal) error { _, err := n.RemoveMember(ctx, p, "n9"); return err },
			"transfer":       func(p auth.Principal) error { _, _, err := n.Transfer(ctx, p, ""); return err },
			"snapshot":       func(p auth.Principal) error { _, _, _, err := n.Snapshot(ctx, p); return err },
			"backup": func(p auth.Principal) error {
				return n.Backup(ctx, p, offset.ReadAt{}, func(offset.BackupPart) error { return errors.New("the backup was begun") })
			},
			"raise level": func(p auth.Principal) error { _, err := n.RaiseLevel(ctx, p, 1); return err },
		}
		for name, call := range calls {
			if err := call(reader); !errors.Is(err, offset.ErrDenied) {
				t.Errorf("%s by the reader through %s: %v, want ErrDenied", name, m.Name, err)
			}
		}
		if _, _, err := n.Fetch(ctx, reader, &offset.Fetch{Keys: []offset.Key{k}}); err != nil {
			t.Errorf("fetch by the reader: %v", err)
		}
		if _, _, err := n.Fetch(ctx, auth.Principal{Name: "x"}, &offset.Fetch{Keys: []offset.Key{k}}); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("fetch by a stranger: %v", err)
		}
		if _, err := n.Status(ctx, auth.Principal{Name: "x"}, false); !errors.Is(err, offset.ErrDenied) {
			t.Errorf("status for a stranger: %v", err)
		}
	}
}

func TestRaiseLevel(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[0]
	if _, err := m.Node().RaiseLevel(within(t, incluster.Patience), incluster.Operator, offset.FormatLevel); err != nil {
		t.Errorf("to the level in use: %v", err)
	}
	if _, err := m.Node().RaiseLevel(within(t, incluster.Patience), incluster.Operator, offset.FormatLevel+1); !errors.Is(err, offset.ErrLevel) {
		t.Errorf("to a level that nobody reads: %v", err)
	}
	if _, err := m.Node().RaiseLevel(within(t, incluster.Patience), incluster.Operator, 0); !errors.Is(err, offset.ErrInvalid) {
		t.Errorf("to level 0: %v", err)
	}
}

// TestEveryMemberWritesTheAuditLog: who, from where, what, before and after.
func TestEveryMemberWritesTheAuditLog(t *testing.T) {
	c := incluster.Start(t, 3)
	m := c.Members[1]
	k := incluster.Key("g", 1)
	m.MustCommit(k, 5)
	result := m.MustAct(&offset.Act{Reset: &offset.Reset{Targets: []offset.Target{{Key: k, Offset: 2}}}})
	for _, m := range c.Members {
		c.Until(m.Name+" has the line", func() bool {
			for _, l := range auditLines(t, m) {
				if l["what"] == "reset" && l["index"] == float64(result.Index) && l["principal"] == incluster.Operator.Name && l["from"] == incluster.Operator.From {
					keys := fmt.Sprint(l["keys"])
					if want := "[map[after:2 before:5 broker:b group:g queue:1 topic:t]]"; keys != want {
						t.Fatalf("keys %s, want %s", keys, want)
					}
					return true
				}
			}
			return false
		})
		st, err := os.Stat(filepath.Join(m.Dir, "audit.log"))
		if err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("the audit log of %s: %v, %v", m.Name, st.Mode(), err)
		}
	}
}

func auditLines(t *testing.T, m *incluster.Member) (lines []map[string]any) {
	t.Helper()
	f, err := os.Open(filepath.Join(m.Dir, "audit.log"))
	if err != nil {
		return nil
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l map[string]any
		if json.Unmarshal(s.Bytes(), &l) == nil {
			lines = append(lines, l)
		}
	}
	return lines
}

// TestAnInstalledSnapshotLeavesAGapLine in the audit log.
func TestAnInstalledSnapshotLeavesAGapLine(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) { m.Config.Snapshots.TrailingBytes = 1 })
	leader := c.Leader()
	away := c.Followers(leader)[0]
	away.Stop()
	leader.Fill("g", 3000, 1)
	index, _, _, err := leader.Node().Snapshot(within(t, incluster.Patience), incluster.Operator)
	if err != nil {
		t.Fatal(err)
	}
	away.Start()
	c.WaitReady(away)
	c.Until("the gap is named", func() bool {
		for _, l := range auditLines(t, away) {
			if l["what"] == "gap" && l["index"] == float64(index) {
				return true
			}
		}
		return false
	})
}

// TestSnapshotsFollowTheLogsBytes, not the number of its entries.
func TestSnapshotsFollowTheLogsBytes(t *testing.T) {
	c := incluster.Start(t, 3, func(m *incluster.Member) {
		m.Config.Snapshots = node.Snapshots{LogBytes: 200 << 10, TrailingBytes: 1}
	})
	leader := c.Leader()
	cluster := leader.Status().Meta.Cluster
	for i := range 4 {
		leader.MustSend(wide(cluster, i))
	}
	for _, m := range c.Members {
		c.Until(m.Name+" has a snapshot", func() bool { return m.Status().SnapshotIndex > 0 })
	}
}

func TestClusterOverTCP(t *testing.T) {
	c := incluster.StartTCP(t, 3)
	w := write(c, 4)
	w.more(20)
	leader := c.Leader()
	leader.Stop()
	w.more(20)
	leader.Start()
	c.WaitReady(leader)
	w.check()
	equalDigests(c)
}
