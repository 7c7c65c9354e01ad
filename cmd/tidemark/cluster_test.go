package main

import (
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

func TestClusterStatus(t *testing.T) {
	f := newFake()
	f.set(t, 1, key("g", "t", "", 0))
	r := f.tidemark(t, "cluster", "status", "-o", "json").want(t, 0, "{", "")
	var st statusResult
	if err := json.Unmarshal([]byte(r.out), &st); err != nil {
		t.Fatal(err)
	}
	if st.State != "leader" || st.Node != "n1/aa" || st.Leader != "h1:7411" || st.Groups != 1 || st.Queues != 1 || len(st.Problems) != 0 {
		t.Errorf("status is %+v", st)
	}
	m := st.Members[0]
	if m.State != "leader" || m.Role != "leader" || m.Index != 2 || len(m.Digest) != 12 {
		t.Errorf("member is %+v", m)
	}
	f.tidemark(t, "cluster", "status").want(t, 0, "n1/aa", "")
}

func TestClusterStatusIsUnhealthy(t *testing.T) {
	f := newFake()
	f.status.Members = append(f.status.Members, offset.MemberStatus{Member: offset.Member{ID: "n2/bb", API: "h2:7411"}, Peer: "h2:7412", Voter: true, ContactAge: 3 * time.Second})
	r := f.tidemark(t, "cluster", "status").want(t, exitUnhealthy, "problem: member n2/bb is unreachable", "n2/bb is unreachable")
	if !strings.Contains(r.out, "3s") {
		t.Errorf("the table does not tell the age of the contact: %s", r.out)
	}
	f = newFake()
	f.status.NotReady = "catching up"
	f.tidemark(t, "cluster", "status", "-o", "json").want(t, exitUnhealthy, `"notReady": "catching up"`, "not ready")
	f = newFake()
	f.status.State, f.status.Members[0].Leader = "candidate", false
	f.tidemark(t, "cluster", "status").want(t, exitNoLeader, "leader none", "no leader is known")
}

func TestDigestsThatDifferAreAProblem(t *testing.T) {
	r := &statusResult{Members: []memberRow{
		{ID: "a", State: "leader", Index: 7, Digest: "aa"}, {ID: "b", State: "follower", Index: 7, Digest: "bb"}, {ID: "c", State: "follower", Index: 6, Digest: "cc"},
	}}
	r.judge()
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0], "a and b hold different states at index 7") {
		t.Errorf("problems are %q", r.Problems)
	}
}

func TestMembersChangeOnlyWithExecute(t *testing.T) {
	for _, c := range []struct {
		args  []string
		shows string
		call  string
	}{
		{[]string{"cluster", "add", "n4/dd", "h4:7412"}, "would add n4/dd at h4:7412 as a nonvoter", "add n4/dd h4:7412"},
		{[]string{"cluster", "promote", "n3/cc"}, "would make n3/cc a voter", "promote n3/cc"},
		{[]string{"cluster", "remove", "n3"}, "would take n3 out", "remove n3"},
		{[]string{"cluster", "remove", "n2/bb"}, "would take n2/bb out", "remove n2/bb"},
		{[]string{"cluster", "transfer"}, "would hand leadership to any voter", "transfer "},
		{[]string{"cluster", "transfer", "n2/bb"}, "would hand leadership to n2/bb", "transfer n2/bb"},
	} {
		f := newFake()
		f.join("n2/bb", true, time.Millisecond)
		f.join("n3/cc", false, -1)
		f.tidemark(t, c.args...).want(t, 0, c.shows, "")
		if len(f.calls) != 0 {
			t.Errorf("%q did %q", c.args, f.calls)
		}
		f.tidemark(t, append(c.args, "--execute")...).want(t, 0, "done: ", "")
		if len(f.calls) != 1 || f.calls[0] != c.call {
			t.Errorf("%q did %q, want %q", c.args, f.calls, c.call)
		}
	}
	f := newFake()
	f.tidemark(t, "cluster", "snapshot", "--node", "h1:7411", "-o", "json").want(t, 0, `"bytes": "3456"`, "")
	f.tidemark(t, "cluster", "remove", "", "--execute").want(t, exitBadInput, "", "member is empty")
}

// join adds a member that does not answer the program, and that the leader has
// last heard of so long ago; -1: never.
func (f *fake) join(id string, voter bool, heard time.Duration) {
	name, _, _ := strings.Cut(id, "/")
	f.status.Members = append(f.status.Members, offset.MemberStatus{
		Member: offset.Member{ID: id, API: name + ":7411"}, Peer: name + ":7412", Voter: voter, Match: -1, ContactAge: heard,
	})
}

// What the cluster would refuse is told without --execute, with the same code.
func TestRefusalsOfMembersAreForeseen(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"add n9 h9:7412", exitBadInput, "not name/member-id"},
		{"add n9/99 h9", exitBadInput, "not host:port"},
		{"add n2/zz h9:7412", exitBadInput, "is a member already"},
		{"add n9/99 n3:7412", exitBadInput, "n3/cc at n3:7412 is a member already"},
		{"promote n9/99", exitNotFound, "no member is"},
		{"remove n9", exitNotFound, "no member is"},
		{"remove n1/aa", exitRefused, "n3/cc does not answer"},
		{"remove n2/bb", exitRefused, "n3/cc does not answer"},
		{"transfer n9", exitNotFound, "no voter other than the leader"},
		{"transfer n4/dd", exitNotFound, "no voter other than the leader"},
		{"transfer n1", exitBadInput, "leads already"},
		{"transfer n3", exitRefused, "n3/cc does not answer"},
		{"add n4/dd h9:7412", 0, ""}, // moves it
		{"remove n3/cc", 0, ""},
		{"remove n4", 0, ""},
		{"transfer", 0, ""},
	} {
		f := newFake()
		f.join("n2/bb", true, time.Millisecond)
		f.join("n3/cc", true, time.Minute)
		f.join("n4/dd", false, -1)
		shows := ""
		if c.code == 0 {
			shows = "would "
		}
		f.tidemark(t, append([]string{"cluster"}, strings.Fields(c.args)...)...).want(t, c.code, shows, c.says)
	}
	f := newFake()
	f.tidemark(t, "cluster", "remove", "n1").want(t, exitBadInput, "", "the only voter")
	f.tidemark(t, "cluster", "transfer").want(t, exitNotFound, "", "no voter other than the leader")
	f.status.State, f.status.Members[0].Leader = "candidate", false
	f.tidemark(t, "cluster", "transfer").want(t, exitNoLeader, "", "no leader is known")
}

// A member that was made leader right after it was added has announced no
// address yet, while the members know well who leads.
func TestClusterStatusFindsTheLeaderByTheMembers(t *testing.T) {
	f := newFake()
	f.status.State, f.status.Members[0].Leader = "follower", false
	f.join("n4/dd", true, -1)
	f.status.Members[1].Leader, f.status.Members[1].API = true, ""
	f.tidemark(t, "cluster", "status", "--timeout", "300ms").want(t, exitUnhealthy, "leader n4/dd", "member n4/dd is not announced")
	// It is waited for, for a moment.
	f.statuses, f.asked = 0, func(n int) {
		if n == 3 {
			f.status.Members[1].API, f.answering = "n4:7411", true
		}
	}
	f.tidemark(t, "cluster", "status").want(t, 0, "leader n4:7411", "")
	r := &statusResult{Members: []memberRow{{ID: "a/1", API: "a:7411", Role: "leader", State: "follower"}, {ID: "b/2", API: "b:7411", Role: "voter", State: "leader"}}}
	if got := r.leaderByMembers(); got != "b:7411" {
		t.Errorf("the leader is %q; b says that it leads", got)
	}
}

func TestDumpEntry(t *testing.T) {
	b := entry.NewBuilder(fakeID, 1)
	if err := b.Add(&entry.Request{Principal: "p", From: "f", Checkpoint: true}); err != nil {
		t.Fatal(err)
	}
	digits := hex.EncodeToString(b.Seal(1))
	f := newFake()
	f.tidemark(t, "dump", "entry", digits).want(t, 0, "checkpoint", "")
	f.tidemark(t, "dump", "entry", digits[2:]).want(t, exitBadInput, "", "damaged")
	f.tidemark(t, "dump", "entry", "xy").want(t, exitBadInput, "", "hexadecimal")
	f.tidemark(t, "dump", "log", t.TempDir()).want(t, exitBadInput, "", "tidemark: ")
	f.tidemark(t, "dump", "log", "/does/not/exist").want(t, exitBadInput, "", "tidemark: ")
}
