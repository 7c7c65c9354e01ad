package fsm

import (
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
