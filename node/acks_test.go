package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

func request(term, prev uint64, entries ...uint64) *raft.AppendEntriesRequest {
	r := &raft.AppendEntriesRequest{Term: term, PrevLogEntry: prev}
	for _, i := range entries {
		r.Entries = append(r.Entries, &raft.Log{Index: i, Data: make([]byte, 10)})
	}
	return r
}

func TestOnlySuccessInTheTermConfirms(t *testing.T) {
	t0 := time.Now()
	before, after := t0.Add(-time.Millisecond), t0.Add(time.Millisecond)
	three := []raft.Server{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	withNonvoters := []raft.Server{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "x", Suffrage: raft.Nonvoter}, {ID: "y", Suffrage: raft.Nonvoter}}
	yes := &raft.AppendEntriesResponse{Term: 7, Success: true}
	cases := []struct {
		name    string
		servers []raft.Server
		fill    func(a *acks)
		want    bool
	}{
		{"alone", []raft.Server{{ID: "a"}}, func(*acks) {}, true},
		{"nobody answered", three, func(*acks) {}, false},
		{"one of two", three, func(a *acks) { a.answered("b", after, request(7, 0), yes) }, true},
		{"sent at the same moment", three, func(a *acks) { a.answered("b", t0, request(7, 0), yes) }, true},
		{"sent before", three, func(a *acks) { a.answered("b", before, request(7, 0), yes) }, false},
		{"sent before, answered again later", three, func(a *acks) {
			a.answered("b", before, request(7, 0), yes)
			a.answered("b", after, request(7, 0), yes)
		}, true},
		{"later answer overtaken by an older one", three, func(a *acks) {
			a.answered("b", after, request(7, 0), yes)
			a.answered("b", before, request(7, 0), yes)
		}, true},
		{"no success", three, func(a *acks) { a.answered("b", after, request(7, 0), &raft.AppendEntriesResponse{Term: 7}) }, false},
		{"newer term", three, func(a *acks) {
			a.answered("b", after, request(7, 0), &raft.AppendEntriesResponse{Term: 8, Success: true})
		}, false},
		{"another term's", three, func(a *acks) {
			a.answered("b", after, request(6, 0), &raft.AppendEntriesResponse{Term: 6, Success: true})
		}, false},
		{"nonvoters do not count", withNonvoters, func(a *acks) {
			a.answered("x", after, request(7, 0), yes)
			a.answered("y", after, request(7, 0), yes)
		}, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := newAcks()
			c.fill(a)
			if got := a.confirmed("a", c.servers, 7, t0); got != c.want {
				t.Errorf("confirmed = %v, want %v", got, c.want)
			}
		})
	}
}

func TestANonvoterDoesNotConfirmItself(t *testing.T) {
	a := newAcks()
	servers := []raft.Server{{ID: "a", Suffrage: raft.Nonvoter}, {ID: "b"}}
	if a.confirmed("a", servers, 1, time.Now()) {
		t.Error("a nonvoter confirmed alone")
	}
}

func TestMatchIsWhatAppendsShow(t *testing.T) {
	a := newAcks()
	yes := &raft.AppendEntriesResponse{Term: 3, Success: true}
	changed := a.news()
	a.answered("b", time.Now(), request(3, 5, 6, 7), yes)
	if !closed(changed) {
		t.Error("the change was not told")
	}
	a.answered("b", time.Now(), request(3, 0), yes) // a heartbeat shows nothing
	if k := a.of("b", 3); k.match != 7 {
		t.Errorf("match = %d, want 7", k.match)
	}
	a.answered("b", time.Now(), request(3, 9), yes)
	if k := a.of("b", 3); k.match != 9 {
		t.Errorf("match = %d, want 9", k.match)
	}
	if k := a.of("b", 4); k.match != 0 || k.heard.IsZero() {
		t.Errorf("in another term: match = %d, heard %v; want 0 and when", k.match, k.heard)
	}
	a.answered("b", time.Now(), request(4, 2), &raft.AppendEntriesResponse{Term: 4, Success: true})
	if k := a.of("b", 4); k.match != 2 {
		t.Errorf("in the next term: match = %d, want 2", k.match)
	}
}

func TestLargestAppendIsKept(t *testing.T) {
	a := newAcks()
	a.sending(request(1, 0, 1, 2, 3))
	a.sending(request(1, 0, 4))
	if got := a.largest.Load(); got != 30 {
		t.Errorf("largest = %d, want 30", got)
	}
}

func TestPeerAddress(t *testing.T) {
	id, addr := splitPeerAddress(peerAddress("n1/0a1b", "n1.example:7412"))
	if id != "n1/0a1b" || addr != "n1.example:7412" {
		t.Errorf("got %q and %q", id, addr)
	}
	if id, addr := splitPeerAddress("n1:7412"); id != "" || addr != "n1:7412" {
		t.Errorf("without an id: got %q and %q", id, addr)
	}
}

// What is remembered of members that have left does not grow.
func TestAcksForgetWhoWasHeardLongestAgo(t *testing.T) {
	a := newAcks()
	for i := range 3 * maxPeers {
		a.spoke(raft.ServerID(fmt.Sprint("m", i)))
	}
	if len(a.peers) != maxPeers {
		t.Errorf("%d members are remembered, want %d", len(a.peers), maxPeers)
	}
	if _, ok := a.peers[raft.ServerID(fmt.Sprint("m", 3*maxPeers-1))]; !ok {
		t.Error("the one heard last was forgotten")
	}
}

func TestInTouchWithAMajorityOfVoters(t *testing.T) {
	servers := []raft.Server{{ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "x", Suffrage: raft.Nonvoter}}
	began := time.Now()
	a := newAcks()
	a.spoke("x")
	if a.inTouch("a", servers, began) {
		t.Error("a nonvoter makes a majority")
	}
	a.spoke("b")
	if !a.inTouch("a", servers, began) {
		t.Error("two of three voters make none")
	}
	if a.inTouch("a", servers, time.Now().Add(time.Hour)) {
		t.Error("who answered before makes a majority")
	}
	if !a.inTouch("a", servers[:1], time.Now().Add(time.Hour)) {
		t.Error("the only voter is not in touch with itself")
	}
}
