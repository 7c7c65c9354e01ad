package fsm

import (
	"fmt"
	"testing"

	"github.com/tidemark-mq/tidemark/fsm/entry"
	"github.com/tidemark-mq/tidemark/offset"
)

// What an Answers holds belongs to whoever got it: what is done to it changes
// neither the state nor its digest.
func TestAnswersBelongToTheCaller(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	late := func(base uint64) entry.Request {
		return act(9, base, func(a *offset.Act) {
			a.Reset = &offset.Reset{Targets: []offset.Target{{Key: key("g"), Offset: 3}}}
		})
	}
	f.Apply(sealed(t, 1, reset(1, 0, 1)))
	answer := func(index uint64) *offset.ActResult {
		return &f.Apply(sealed(t, index, late(0))).(*Answers).Requests[0].Act
	}
	first := answer(2)
	if len(first.Names) != 1 || first.Names[0] != key("g") {
		t.Fatalf("the answer names %v, want one key", first.Names)
	}
	first.Names[0] = offset.Key{Group: "the caller's"}
	if again := answer(3); again.Names[0] != key("g") {
		t.Errorf("the state remembers %v", again.Names)
	}
}

// TestAnnouncementBeyondTheMostMembers is answered as that, and one that only
// says something else of a member that is known is not.
func TestAnnouncementBeyondTheMostMembers(t *testing.T) {
	f := New(Config{Cluster: testCluster})
	announce := func(index uint64, id, api string) offset.Code {
		t.Helper()
		r := entry.Request{Member: &offset.Member{ID: id, API: api, MaxLevel: 1}}
		return f.Apply(sealed(t, index, r)).(*Answers).Requests[0].Code
	}
	index := uint64(0)
	for ; index < offset.MaxMembers; index++ {
		if code := announce(index+1, fmt.Sprint("n", index), "a:1"); code != offset.CodeOK {
			t.Fatalf("member %d: %s", index, code)
		}
	}
	if code := announce(index+1, "another", "a:1"); code != offset.CodeLimit {
		t.Errorf("one more: %s, want limit", code)
	}
	if code := announce(index+2, "n3", "b:1"); code != offset.CodeOK {
		t.Errorf("one that is known: %s", code)
	}
}
