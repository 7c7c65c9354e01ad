package wire

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tidemark-mq/tidemark/offset"
)

func TestCallsCarryTheirRequests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := genCommits.Draw(t, "commits")
		m := over(t, ToCommitCall(c, 7)).GetCommit()
		got, err := FromCommitRequest(m)
		same(t, got, c, err)

		f := &offset.Fetch{At: genReadAt.Draw(t, "at"), Keys: rapid.SliceOfN(genKey, 1, 3).Draw(t, "keys")}
		n := over(t, ToFetchCall(f, 8)).GetFetch()
		read, err := FromFetchRequest(n)
		same(t, read, f, err)
		if m.GetTimeoutMs() != 7 || n.GetTimeoutMs() != 8 {
			t.Fatalf("timeouts %d and %d; want 7 and 8", m.GetTimeoutMs(), n.GetTimeoutMs())
		}
	})
}

func TestACallForOneKeyIsOneAllocation(t *testing.T) {
	k := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", QueueID: 3}}
	c := &offset.Commits{Cluster: offset.ClusterID{1}, Topics: []offset.TopicCommits{{Group: "g", Topic: "t", Queues: []offset.QueueCommit{{QueueID: 3}}}}}
	f := &offset.Fetch{Keys: []offset.Key{k}}
	if n := testing.AllocsPerRun(100, func() { ToCommitCall(c, 1) }); n != 1 {
		t.Errorf("a commit takes %v allocations; want 1", n)
	}
	if n := testing.AllocsPerRun(100, func() { ToFetchCall(f, 1) }); n != 1 {
		t.Errorf("a read takes %v allocations; want 1", n)
	}
}

// The id that was seen last is remembered, and must not stand for another.
func TestClusterIDsAreToldApart(t *testing.T) {
	a, b := offset.ClusterID{0xab, 1}, offset.ClusterID{0xab, 2}
	for range 2 {
		for _, id := range []offset.ClusterID{a, b} {
			if s := clusterID(id); s != id.String() {
				t.Fatalf("%s is written %q", id, s)
			}
			for _, s := range []string{id.String(), strings.ToUpper(id.String())} {
				if got, err := parseClusterID(s); err != nil || got != id {
					t.Fatalf("%q is read as %s, %v", s, got, err)
				}
				if s := clusterID(id); s != id.String() {
					t.Fatalf("%s is written %q", id, s)
				}
			}
			if got, err := parseClusterID(""); err != nil || !got.IsZero() || clusterID(got) != "" {
				t.Fatalf("no id is read as %s, %v", got, err)
			}
			if _, err := parseClusterID(id.String()[1:]); !errors.Is(err, offset.ErrInvalid) {
				t.Fatalf("a digit too few gave %v; want ErrInvalid", err)
			}
		}
	}
}
