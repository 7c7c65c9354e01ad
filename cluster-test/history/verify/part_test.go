package verify

import (
	"errors"
	"testing"

	"github.com/tidemark-mq/tidemark/cluster-test/history/record"
	"github.com/tidemark-mq/tidemark/offset"
)

// TestPartLastsUntilItsAnswers: the last to see a queue is a listing, which does not
// name it, under way when the last request that does was answered. What it saw is
// the doing of a removal that was called later still, and belongs to the part too.
func TestPartLastsUntilItsAnswers(t *testing.T) {
	key := offset.Key{Group: "g", MessageQueue: offset.MessageQueue{Topic: "t", Broker: "b", QueueID: 1}}
	seven := offset.KeyState{Exists: true, Position: offset.Position{Offset: 7}}
	commits := []offset.TopicCommits{{Group: "g", Topic: "t", Broker: "b", Queues: []offset.QueueCommit{{QueueID: 1, Offset: 7}}}}
	remove := &offset.Remove{Scope: offset.Scope{Group: "g", Topic: "t"}}
	ops := []*record.Op{
		{Client: 1, Call: 10, Return: 15, Commits: &offset.Commits{Topics: commits}, Verdicts: []offset.Verdict{{State: seven}}},
		{Client: 1, Call: 16, Return: 30, Fetch: &offset.Fetch{Keys: []offset.Key{key}}, States: []offset.KeyState{seven}},
		{Client: 2, Call: 25, Return: 60, List: &offset.List{Group: "g"}, Page: &offset.Page{}},
		{Client: 3, Call: 31, Return: 50, Act: &offset.Act{Base: 1, Remove: remove}, Result: &offset.ActResult{Index: 9, Done: true, Changed: 1}},
	}
	if err := Linear(&record.History{Ops: ops}, &Counts{}); err != nil {
		t.Errorf("a listing that follows the removal: %v", err)
	}
	v := (*Violation)(nil)
	if err := Linear(&record.History{Ops: ops[:3]}, &Counts{}); !errors.As(err, &v) {
		t.Errorf("nothing removed what the listing does not see: %v", err)
	}
}
